// Where the fields of CSV records lie.
//
// In: bytes that begin a record outside quotes, and which separators of a record are wanted. Out: their positions.
// Knows nothing of types, escapes or what a quote means inside a field.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/separator_blocks.inl.hpp"
#include "kernels/quote_summary.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

static void index_csv(const uint8_t* data, size_t size, const CsvBytes& bytes, const StopPlan& plan, CsvIndex& index) {
    index.rows = 0;
    index.consumed = 0;
    index.end = index.capacity_rows == 0 ? IndexEnd::capacity : IndexEnd::input;
    index.saw_quote = false;
    index.saw_carriage_return = false;
    if (index.capacity_rows == 0) return;

    SeparatorBlocks blocks(data, size, bytes);
    uint32_t* out = index.stops;
    uint32_t ordinal = 0, next = 0;
    for (SeparatorMasks masks; blocks.next(masks);) {
        for (uint64_t left = masks.separators; left != 0; left &= left - 1) {
            uint32_t position = uint32_t(masks.offset) + trailing_zeros(left);
            if (next < plan.stop_count && ordinal == plan.stops[next]) out[next++] = position;
            ordinal++;
            if ((masks.ends & left & -left) == 0) continue;
            if (ordinal != plan.fields) {
                index.end = IndexEnd::irregular;
                index.saw_quote = blocks.first_quote() < index.consumed;
                return;
            }
            index.saw_carriage_return |= position > 0 && data[position - 1] == '\r';
            index.consumed = position + size_t(1);
            index.rows++;
            out += plan.stop_count;
            ordinal = next = 0;
            if (index.rows < index.capacity_rows) continue;
            index.end = IndexEnd::capacity;
            index.saw_quote = blocks.first_quote() < index.consumed;
            return;
        }
    }
    index.saw_quote = blocks.first_quote() < index.consumed;
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
