// Compiled once for each CPU with that kernel's flags, -DFORMATTER_ISA=name and -DISA_HEADER='"kernels/isa/name.hpp"'.
#include ISA_HEADER

#include "csv_index_part.hpp"
#include "kernels/csv_index.inl.hpp"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

const CsvIndexPart JOIN(csv_index_part_, FORMATTER_ISA) = {
    TEXT(FORMATTER_ISA),
    formatter::FORMATTER_ISA::supported,
    formatter::FORMATTER_ISA::index_csv,
    formatter::FORMATTER_ISA::summarize_quotes,
    formatter::FORMATTER_ISA::count_byte,
};
