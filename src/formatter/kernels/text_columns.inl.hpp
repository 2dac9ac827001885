// Strings: fields of a column copied one behind the other, outer quotes taken off, doubled ones halved.
//
// In: a FieldView. Out: bytes, running end offsets, marks, and whether any byte is beyond ASCII; `out` is where the first
// field goes, whatever `start_offset` is. Refuses to know whether text is valid: valid_utf8 is asked once per column.
#pragma once

#include "kernels/field_lanes.inl.hpp"
#include "kernels/kernel.hpp"
#include "kernels/utf8.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

static void measure_strings(const FieldView& view, StringSums& sums) {
    RunWalk walk(view);
    FieldRun run;
    sums.bytes = 0;
    while (walk.next(~uint32_t(0), run)) {
        // Wrapping 32-bit offsets: every size is taken modulo 2^32, a '\r' is counted though it may be dropped.
        uint64_t bytes = 0;
        for (size_t row = 0; row < run.rows; row++)
            bytes += uint32_t(run.ends[row * run.stride] - run.begins[row * run.stride] - run.skip);
        sums.bytes += bytes;
    }
}

// ------------------------------------------------------------------------------------------ copying

constexpr size_t long_text = 256;  // from here on the library's copy is as fast as ours, and much faster when very long

// May write up to a block past the end of the copy; reads past the field's end only when `roomy`.
FORMATTER_INLINE void copy_text(uint8_t* to, const uint8_t* from, size_t size, bool roomy) {
    if (size >= long_text || !roomy) {
        __builtin_memcpy(to, from, size);
        return;
    }
    size_t at = 0;
    do {
        lanes::store_block(to + at, lanes::load_block(from + at));
        at += lanes::block_bytes;
    } while (at < size);
}

struct TextScan {
    bool quote;
    bool non_ascii;
};

// What is in text already copied; `text` may be read up to a block past its end.
FORMATTER_INLINE TextScan scan_text(const uint8_t* text, size_t size, uint8_t quote) {
    const lanes::Block quotes = lanes::splat_byte(quote);
    lanes::Block seen_quote = lanes::splat_byte(0), seen = lanes::splat_byte(0);
    size_t at = 0;
    for (; at + lanes::block_bytes <= size; at += lanes::block_bytes) {
        const lanes::Block block = lanes::load_block(text + at);
        seen = seen | block;
        seen_quote = seen_quote | lanes::marked_if_equal(block, quotes);
    }
    TextScan scan = {lanes::any_marked(seen_quote), lanes::any_high_bit(seen)};
    for (; at < size; at++) {
        scan.quote |= text[at] == quote;
        scan.non_ascii |= text[at] >= 0x80;
    }
    return scan;
}

// The bytes between outer quotes, doubled quotes halved: the bytes written, or -1 if a quote stands alone.
static ptrdiff_t copy_unquoted(uint8_t* to, const uint8_t* from, size_t size, uint8_t quote) {
    const lanes::Block quotes = lanes::splat_byte(quote);
    uint8_t* const begin = to;
    const uint8_t* const end = from + size;
    while (from < end) {
        size_t plain;  // bytes before the next quote
        const size_t left = size_t(end - from);
        if (left >= lanes::block_bytes) {
            const lanes::Block block = lanes::load_block(from);
            lanes::store_block(to, block);
            const uint64_t found = lanes::equal_bits(block, quotes);
            plain = found != 0 ? size_t(__builtin_ctzll(found)) : lanes::block_bytes;
            if (plain == lanes::block_bytes) {
                from += plain, to += plain;
                continue;
            }
        } else {
            for (plain = 0; plain < left && from[plain] != quote; plain++) to[plain] = from[plain];
            if (plain == left) return to + plain - begin;
        }
        if (plain + 1 >= left || from[plain + 1] != quote) return -1;
        to[plain] = quote;
        from += plain + 2, to += plain + 1;
    }
    return to - begin;
}

// One field by its own rules: the bytes written, or -1 if it is odd.
static ptrdiff_t copy_field(uint8_t* to, const Field& field, uint8_t quote) {
    if (field.size == 0) return 0;
    if (field.begin[0] == quote) {
        if (field.size < 2 || field.begin[field.size - 1] != quote) return -1;
        return copy_unquoted(to, field.begin + 1, field.size - 2, quote);
    }
    __builtin_memcpy(to, field.begin, field.size);
    return scan_text(to, field.size, quote).quote ? -1 : ptrdiff_t(field.size);
}

// ------------------------------------------------------------------------------------------ up to 64 rows

struct TextRows {
    uint64_t empty;
    uint64_t odd;
    size_t bytes;
    bool quoted;  // some field began with a quote or was odd
};

// As they stand, without a look at quotes.
FORMATTER_INLINE TextRows copy_plain_rows(const FieldRun& run, size_t first, size_t rows, bool roomy, uint8_t* out,
                                          int32_t start_offset, int32_t* offsets) {
    TextRows result = {0, 0, 0, false};
    for (size_t row = 0; row < rows; row++) {
        const Field field = field_of(run, first + row);
        copy_text(out + result.bytes, field.begin, field.size, roomy);
        result.bytes += field.size;
        result.empty |= uint64_t(field.size == 0) << row;
        offsets[row] = int32_t(uint32_t(start_offset) + uint32_t(result.bytes));
    }
    return result;
}

FORMATTER_INLINE TextRows copy_quoted_rows(const FieldRun& run, size_t first, size_t rows, bool roomy, uint8_t quote,
                                           uint8_t* out, int32_t start_offset, int32_t* offsets) {
    const lanes::Block quotes = lanes::splat_byte(quote);
    TextRows result = {0, 0, 0, false};
    for (size_t row = 0; row < rows; row++) {
        const Field field = field_of(run, first + row);
        uint8_t* const to = out + result.bytes;
        result.empty |= uint64_t(field.size == 0) << row;
        size_t copied = 0;
        bool done = false;
        if (roomy && field.size <= lanes::block_bytes && field.size != 0) {
            // Short fields, quoted or not, take one way: off with the outer quotes, then no quote may be left.
            const bool quoted = field.begin[0] == quote;
            result.quoted |= quoted;
            const bool closed = field.begin[field.size - 1] == quote;
            const lanes::Block block = lanes::load_block(field.begin + quoted);
            lanes::store_block(to, block);
            copied = field.size - 2 * quoted;
            const uint64_t inside = lanes::equal_bits(block, quotes) & first_rows(copied);
            done = inside == 0 && quoted == closed && field.size >= 2u * quoted;
        }
        if (!done) {
            const ptrdiff_t bytes = copy_field(to, field, quote);
            result.odd |= uint64_t(bytes < 0) << row;
            result.quoted |= bytes < 0 || (field.size != 0 && field.begin[0] == quote);
            copied = bytes < 0 ? 0 : size_t(bytes);
        }
        result.bytes += copied;
        offsets[row] = int32_t(uint32_t(start_offset) + uint32_t(result.bytes));
    }
    return result;
}

// ------------------------------------------------------------------------------------------ the loop over a column

static void gather_strings(const FieldView& view, bool quoting, uint8_t quote, int32_t start_offset, int32_t* offsets,
                           uint8_t* out, StringSums& sums, ValueMarks& marks) {
    RunWalk walk(view);
    FieldRun run;
    size_t done = 0, bytes = 0;
    uint64_t empty = 0, odd = 0;
    bool expect_quotes = false, non_ascii = false;
    marks.empty_count = marks.odd_count = 0;
    // A step is at most the rest of a bitmap word. Fields are copied as if there were no quotes, and what was copied is
    // searched while it is near; if there are some after all the step is done again, and the next one starts the other way.
    while (walk.next(uint32_t(64 - done % 64), run)) {
        const uint8_t* const last_end = run.base + run.ends[(run.rows - 1) * run.stride];
        const bool roomy = size_t(run.readable_end - last_end) > 2 * lanes::block_bytes;
        const int32_t from_offset = int32_t(uint32_t(start_offset) + uint32_t(bytes));
        TextRows rows;
        TextScan scan = {false, false};
        if (!expect_quotes) {
            rows = copy_plain_rows(run, 0, run.rows, roomy, out + bytes, from_offset, offsets + done);
            scan = scan_text(out + bytes, rows.bytes, quote);
            expect_quotes = quoting && scan.quote;
        }
        if (expect_quotes) {
            rows = copy_quoted_rows(run, 0, run.rows, roomy, quote, out + bytes, from_offset, offsets + done);
            scan = scan_text(out + bytes, rows.bytes, quote);
            expect_quotes = rows.quoted;
        }
        non_ascii |= scan.non_ascii;
        bytes += rows.bytes;
        empty |= rows.empty << done % 64;
        odd |= rows.odd << done % 64;
        marks.empty_count += uint32_t(__builtin_popcountll(rows.empty));
        marks.odd_count += uint32_t(__builtin_popcountll(rows.odd));
        done += run.rows;
        if (done % 64 == 0) {
            marks.empty[done / 64 - 1] = empty;
            marks.odd[done / 64 - 1] = odd;
            empty = odd = 0;
        }
    }
    if (done % 64 != 0) {
        marks.empty[done / 64] = empty;
        marks.odd[done / 64] = odd;
    }
    sums.any_non_ascii = non_ascii;
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
