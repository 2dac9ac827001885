// From row views to words: the fields of a column, cut from their buffers and laid side by side for the value loops.
//
// In: a FieldView. Out: runs of fields behind one base, and for numbers their last bytes in 64-bit words with lengths.
// Refuses to know what the bytes mean.
#pragma once

#include "kernels/lanes.hpp"
#include "kernels/row_view.hpp"

namespace formatter {
namespace FORMATTER_ISA {

// ------------------------------------------------------------------------------------------ walking a view

struct FieldRun {  // consecutive rows of one segment
    const uint8_t* base;
    const uint8_t* readable_begin;
    const uint8_t* readable_end;
    const uint32_t* begins;
    const uint32_t* ends;
    size_t stride;
    uint32_t skip;
    uint32_t rows;
    bool drop_carriage_return;
};

struct Field {
    const uint8_t* begin;
    size_t size;
};

// The bytes of one row. Inside the segment by the contract of row_view.hpp, so the '\r' may be looked at.
FORMATTER_INLINE Field field_of(const FieldRun& run, size_t row) {
    const uint32_t begin = run.begins[row * run.stride] + run.skip;
    const uint32_t end = run.ends[row * run.stride];
    size_t size = uint32_t(end - begin);
    if (run.drop_carriage_return && size != 0) size -= run.base[end - 1] == '\r';
    return {run.base + begin, size};
}

struct RunWalk {
    const FieldView& view;
    size_t segment = 0;
    uint32_t row = 0;  // inside the segment

    explicit RunWalk(const FieldView& of) : view(of) {}

    // The next rows, at most `limit`; false when the view is at its end.
    bool next(uint32_t limit, FieldRun& run) {
        while (segment < view.segment_count && row == view.segments[segment].rows) segment++, row = 0;
        if (segment == view.segment_count) return false;
        const Segment& from = view.segments[segment];
        const uint32_t* const stops = view.stops + from.first_stop + size_t(row) * view.stride;
        run.base = from.base;
        run.readable_begin = from.readable_begin;
        run.readable_end = from.readable_end;
        run.begins = stops + view.begin_stop;
        run.ends = stops + view.end_stop;
        run.stride = view.stride;
        run.skip = view.begin_skip;
        run.drop_carriage_return = view.drop_carriage_return;
        run.rows = from.rows - row < limit ? from.rows - row : limit;
        row += run.rows;
        return true;
    }
};

// ------------------------------------------------------------------------------------------ words of a chunk

constexpr uint32_t chunk_rows = 256;  // a multiple of 64; the words of a chunk and its results stay in the first cache

FORMATTER_INLINE uint64_t load_word(const uint8_t* from) {
    uint64_t word;
    __builtin_memcpy(&word, from, 8);
    return word;
}

// The eight bytes before `end`, of which only those from `readable_begin` on are read; the others are zero.
FORMATTER_INLINE uint64_t load_word_before(const uint8_t* end, const uint8_t* readable_begin) {
    if (end - readable_begin >= 8) return load_word(end - 8);
    uint64_t word = 0;
    for (const uint8_t* at = readable_begin; at < end; at++) word = word >> 8 | uint64_t(*at) << 56;
    return word;
}

//     field    "-12.5"  ends at byte 7 of `last`; longer ones go on in `first`
//     last     ?  ?  ?  -  1  2  .  5      size 5
// The bytes marked ? are whatever stood before the field: `sizes` alone says what belongs to it.
struct WordChunk {
    struct LongField {
        const uint8_t* begin;
        uint32_t size;
        uint32_t row;  // of the chunk
    };
    alignas(64) uint64_t last[chunk_rows];
    alignas(64) uint64_t first[chunk_rows];  // only if `longest` > 8
    alignas(64) uint8_t sizes[chunk_rows];  // 0 for an empty field and for long ones
    LongField long_fields[chunk_rows];  // fields of more than 16 bytes, listed only if `longest` > 8
    uint32_t long_count;
    uint32_t longest;
    uint32_t rows;
};

template <bool beyond_eight, bool drop_carriage_return, bool near_begin>
FORMATTER_INLINE uint32_t cut_field(const uint8_t* base, const uint8_t* readable_begin, uint32_t begin, uint32_t stop,
                                    WordChunk& chunk, uint32_t at) {
    const uint8_t* end = base + stop;
    uint32_t size = stop - begin;
    if (drop_carriage_return && size != 0 && end[-1] == '\r') size--, end--;
    chunk.last[at] = near_begin ? load_word_before(end, readable_begin) : load_word(end - 8);
    if (beyond_eight) {
        if (!near_begin)
            chunk.first[at] = load_word(end - 16);
        else
            chunk.first[at] = size > 8 ? load_word_before(end - 8, readable_begin) : 0;
        if (__builtin_expect(size > 16, false)) {
            chunk.long_fields[chunk.long_count++] = {end - size, size, at};
            chunk.sizes[at] = 0;
            return size;
        }
    }
    chunk.sizes[at] = uint8_t(size);
    return size;
}

// A function of its own, so that the loop's few values stay in registers.
template <bool beyond_eight, bool drop_carriage_return>
__attribute__((noinline)) static uint32_t cut_run(const FieldRun& run, WordChunk& chunk, uint32_t at) {
    const uint8_t* const base = run.base;
    const uint32_t* ends = run.ends;
    const ptrdiff_t to_begin = run.begins - run.ends, stride = ptrdiff_t(run.stride);
    const uint32_t skip = run.skip, past = at + run.rows;
    uint32_t longest = 0;
    // Loads reach up to 16 bytes before a field's end, and one more for a '\r'. Ends ascend, so only the first rows of
    // a segment can be too near to the begin of what may be read.
    for (; at < past && base + *ends - run.readable_begin < 17; at++, ends += stride) {
        const uint32_t size = cut_field<beyond_eight, drop_carriage_return, true>(
            base, run.readable_begin, ends[to_begin] + skip, *ends, chunk, at);
        longest = size > longest ? size : longest;
    }
    for (; at < past; at++, ends += stride) {
        const uint32_t size = cut_field<beyond_eight, drop_carriage_return, false>(base, nullptr, ends[to_begin] + skip,
                                                                                   *ends, chunk, at);
        longest = size > longest ? size : longest;
    }
    return longest;
}

template <bool beyond_eight>
FORMATTER_INLINE void cut_chunk(RunWalk& walk, WordChunk& chunk) {
    FieldRun run;
    chunk.rows = chunk.longest = chunk.long_count = 0;
    while (chunk.rows < chunk_rows && walk.next(chunk_rows - chunk.rows, run)) {
        const uint32_t longest = run.drop_carriage_return ? cut_run<beyond_eight, true>(run, chunk, chunk.rows)
                                                          : cut_run<beyond_eight, false>(run, chunk, chunk.rows);
        chunk.longest = longest > chunk.longest ? longest : chunk.longest;
        chunk.rows += run.rows;
    }
    // The loops take 64 rows at a time: rows past the end are made empty ones.
    for (uint32_t i = chunk.rows; i % 64 != 0; i++) {
        chunk.last[i] = 0;
        if (beyond_eight) chunk.first[i] = 0;
        chunk.sizes[i] = 0;
    }
}

// Fills the next chunk; false at the end of the view. Guesses from the chunk before whether eight bytes will do.
FORMATTER_INLINE bool next_chunk(RunWalk& walk, WordChunk& chunk, bool& beyond_eight) {
    if (!beyond_eight) {
        const size_t segment = walk.segment;
        const uint32_t row = walk.row;
        cut_chunk<false>(walk, chunk);
        if (chunk.longest <= 8) return chunk.rows != 0;
        walk.segment = segment;
        walk.row = row;
    }
    cut_chunk<true>(walk, chunk);
    beyond_eight = chunk.longest > 8;
    return chunk.rows != 0;
}

FORMATTER_INLINE uint64_t first_rows(size_t count) { return count >= 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1; }

}  // namespace FORMATTER_ISA
}  // namespace formatter
