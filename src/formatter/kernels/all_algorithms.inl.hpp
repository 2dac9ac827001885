// Included once by each kernel_<isa>.cpp after its isa header: the algorithms in data-flow order, then the table.
// Everything lives in namespace formatter::FORMATTER_ISA, is static, and instantiates nothing from the standard
// library, so that no wide instruction can leak into code shared between CPUs. In: the operations of one CPU. Out: its
// kernel. Refuses to know which CPU that is.
#pragma once

#include "kernels/kernel.hpp"

#include "kernels/csv_index.inl.hpp"
#include "kernels/byte_set.inl.hpp"
#include "kernels/needles.inl.hpp"
#include "kernels/json_index.inl.hpp"
#include "kernels/json_items.inl.hpp"
#include "kernels/json_levels.inl.hpp"
#include "kernels/json_strings.inl.hpp"
#include "kernels/text_columns.inl.hpp"
#include "kernels/number_columns.inl.hpp"
#include "kernels/decimal_columns.inl.hpp"
#include "kernels/time_columns.inl.hpp"

#define FORMATTER_JOIN_(a, b) a##b
#define FORMATTER_JOIN(a, b) FORMATTER_JOIN_(a, b)
#define FORMATTER_TEXT_(a) #a
#define FORMATTER_TEXT(a) FORMATTER_TEXT_(a)

namespace formatter {

extern const Kernel FORMATTER_JOIN(kernel_, FORMATTER_ISA);
const Kernel FORMATTER_JOIN(kernel_, FORMATTER_ISA) = {
    .name = FORMATTER_TEXT(FORMATTER_ISA),
    .supported = FORMATTER_ISA::supported,
    .index_csv = FORMATTER_ISA::index_csv,
    .find_bytes = FORMATTER_ISA::find_bytes,
    .mark_bytes = FORMATTER_ISA::mark_bytes,
    .pass_records = FORMATTER_ISA::pass_records,
    .summarize_quotes = FORMATTER_ISA::summarize_quotes,
    .count_byte = FORMATTER_ISA::count_byte,
    .first_record_end = FORMATTER_ISA::first_record_end,
    .follow_quotes = FORMATTER_ISA::follow_quotes,
    .agree_on_quotes = FORMATTER_ISA::agree_on_quotes,
    .copy_counting = FORMATTER_ISA::copy_counting,
    .decode_int64 = FORMATTER_ISA::decode_int64,
    .decode_uint64 = FORMATTER_ISA::decode_uint64,
    .decode_float64 = FORMATTER_ISA::decode_float64,
    .decode_decimal128 = FORMATTER_ISA::decode_decimal128,
    .decode_timestamp = FORMATTER_ISA::decode_timestamp,
    .decode_date32 = FORMATTER_ISA::decode_date32,
    .decode_bool = FORMATTER_ISA::decode_bool,
    .measure_strings = FORMATTER_ISA::measure_strings,
    .gather_strings = FORMATTER_ISA::gather_strings,
    .valid_utf8 = FORMATTER_ISA::valid_utf8,
    .index_json = FORMATTER_ISA::index_json,
    .find_items = FORMATTER_ISA::find_items,
    .level_json = FORMATTER_ISA::level_json,
    .copy_json_string = FORMATTER_ISA::copy_json_string,
    .gather_json_strings = FORMATTER_ISA::gather_json_strings,
};

}  // namespace formatter
