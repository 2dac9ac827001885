// Compiled once for each CPU with that kernel's flags, -DFORMATTER_ISA=name and -DISA_HEADER='"kernels/isa/name.hpp"'.
#include ISA_HEADER

#include "csv_index_part.hpp"
#include "kernels/csv_index.inl.hpp"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

using namespace formatter;

template <FORMATTER_ISA::IndexWay way>
static void index_one_way(const uint8_t* data, size_t size, const CsvBytes& bytes, const StopChoice& choice,
                          CsvIndex& index) {
    using FORMATTER_ISA::index_records;
    using FORMATTER_ISA::Quotes;
    switch (FORMATTER_ISA::quotes_of(bytes)) {
        case Quotes::none: return index_records<Quotes::none>(way, data, size, bytes, choice, index);
        case Quotes::parity: return index_records<Quotes::parity>(way, data, size, bytes, choice, index);
        case Quotes::lenient: return index_records<Quotes::lenient>(way, data, size, bytes, choice, index);
        case Quotes::spaced: return index_records<Quotes::spaced>(way, data, size, bytes, choice, index);
        case Quotes::sticky: return index_records<Quotes::sticky>(way, data, size, bytes, choice, index);
        case Quotes::any: return index_records<Quotes::any>(way, data, size, bytes, choice, index);
        case Quotes::wide: return index_records<Quotes::wide>(way, data, size, bytes, choice, index);
    }
}

const CsvIndexPart JOIN(csv_index_part_, FORMATTER_ISA) = {
    TEXT(FORMATTER_ISA),
    FORMATTER_ISA::supported,
    FORMATTER_ISA::index_csv,
    index_one_way<FORMATTER_ISA::IndexWay::then_pick>,
    index_one_way<FORMATTER_ISA::IndexWay::by_rank>,
    index_one_way<FORMATTER_ISA::IndexWay::skipping>,
    FORMATTER_ISA::most_scratch_fields,
    FORMATTER_ISA::most_rank_stops,
    FORMATTER_ISA::summarize_quotes,
    FORMATTER_ISA::count_byte,
    FORMATTER_ISA::follow_quotes,
    FORMATTER_ISA::agree_on_quotes,
};
