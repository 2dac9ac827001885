// The index by skipping: for long records of which few separators are wanted. Refuses to know values.
//
// In: separator masks. Out: the wanted stops. A block is passed by counting its separators, until the next wanted one
// is among them; then it is the set bit of that rank. `want` is the rank of the next wanted separator, counted from the
// block's first, and goes on counting through record ends:
//
//     separators  0 1 0 0 1 0 1 1 0 1        fields 3, wanted ordinals 1 and 2; the block begins a record
//     ends        0 0 0 0 0 0 1 0 0 0
//     rank          0     1   2 3   4        want 1 -> stop 4; want 2 -> stop 6, an end as it must be; want 4 -> stop 9
//
// Every record's arity is verified: the last wanted separator must be the first record end not yet accounted for.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/separator_blocks.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

// True if the record at index.consumed has more separators than fields, or an end too early.
template <Quotes quotes>
static bool index_by_skipping(SeparatorBlocks<quotes> blocks, const uint8_t* data, size_t size,
                              const StopChoice& choice, CsvIndex& index) {
    const uint32_t last = choice.stop_count - 1;
    uint32_t* out = index.stops;
    uint32_t* const out_end = out + size_t(index.capacity_rows) * choice.stop_count;
    uint32_t next = 0;
    uint32_t want = choice.stops[0];
    if (out == out_end) return false;

    for (size_t offset = 0; offset < size; offset += 64) {
        SeparatorMasks masks = blocks.at(offset);
        const uint32_t count = popcount(masks.separators);
        while (want < count) {
            const unsigned bit = select_bit(masks.separators, want);
            const uint32_t stop = uint32_t(offset) + bit;
            *out++ = stop;
            if (next < last) {
                want += choice.stops[next + 1] - choice.stops[next];
                next++;
                continue;
            }
            if (masks.ends == 0 || trailing_zeros(masks.ends) != bit) return true;
            masks.ends &= masks.ends - 1;
            index.saw_carriage_return |= stop > 0 && data[stop - 1] == '\r';
            index.rows++;
            index.consumed = size_t(stop) + 1;
            if (out == out_end) return false;
            want += choice.stops[0] + 1;
            next = 0;
        }
        want -= count;
        if (masks.ends != 0) return true;
    }
    return false;
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
