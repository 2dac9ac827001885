// Strings: fields of a column copied one behind the other, outer quotes taken off, doubled ones halved.
//
// In: a FieldView. Out: bytes, running end offsets, marks, and whether any byte is beyond ASCII; `out` is where the
// first field goes, whatever `start_offset` is. Refuses to know whether text is valid: valid_utf8 is asked for that.
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
constexpr size_t window_bytes = lanes::window_blocks * lanes::block_bytes;  // at most 64: one bit a byte
constexpr size_t step_bytes = 32;  // holds most short fields, so that their sizes cost no branch
// What loads may touch behind a field's end, and the stores of copies behind theirs (the slack of kernel.hpp).
constexpr size_t margin_bytes = window_bytes + step_bytes;

// Step by step, so up to a step more than `size` is read and written.
FORMATTER_INLINE void copy_steps(uint8_t* to, const uint8_t* from, size_t size) {
    for (size_t step = 0; step == 0 || step < size; step += step_bytes)
        for (size_t at = step; at < step + step_bytes; at += lanes::block_bytes)
            lanes::store_block(to + at, lanes::load_block(from + at));
}

// May write up to a step past the end of the copy; reads past the field's end only when `roomy`.
FORMATTER_INLINE void copy_text(uint8_t* to, const uint8_t* from, size_t size, bool roomy) {
    if (size >= long_text || !roomy) {
        __builtin_memcpy(to, from, size);
        return;
    }
    copy_steps(to, from, size);
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

// A whole window, whatever of it is wanted; a bit for each quote in it.
FORMATTER_INLINE uint64_t copy_window(uint8_t* to, const uint8_t* from, lanes::Block quotes) {
    uint64_t found = 0;
    for (size_t at = 0; at < window_bytes; at += lanes::block_bytes) {
        const lanes::Block block = lanes::load_block(from + at);
        lanes::store_block(to + at, block);
        found |= lanes::equal_bits(block, quotes) << at;
    }
    return found;
}

// Bit i: whether bits 0 to i hold an odd number of ones.
FORMATTER_INLINE uint64_t parities(uint64_t bits) {
    for (unsigned step = 1; step < 64; step *= 2) bits ^= bits << step;
    return bits;
}

// The first `size` bytes of a window without those in `drop`; the bytes written.
FORMATTER_INLINE size_t copy_kept(uint8_t* to, const uint8_t* from, size_t size, uint64_t drop) {
#ifdef FORMATTER_LANES_COMPRESS
    return lanes::copy_kept64(to, from, first_rows(size) & ~drop);
#else
    size_t at = 0, written = 0;
    for (;;) {
        const size_t stop = drop != 0 ? size_t(__builtin_ctzll(drop)) : size;
        copy_steps(to + written, from + at, stop - at);
        written += stop - at;
        if (drop == 0) return written;
        at = stop + 1;
        drop &= drop - 1;
    }
#endif
}

//     found    0 1 1 0 1 1 1 1
//     first    0 1 0 0 1 0 1 0     the odd ones, each to be followed at once
//     drop     0 0 1 0 0 1 0 1     by an even one
// False if a quote stands alone; one in the last of 64 places is the caller's to see.
FORMATTER_INLINE bool pair_quotes(uint64_t found, uint64_t& drop) {
    uint64_t first = found & ~(found << 1);  // where runs begin: enough if none is longer than two
    if ((first | first << 1) != found) first = found & parities(found);
    drop = found & ~first;
    return drop == first << 1;
}

// As much text before the first quote as goes quickly, never all of it; the bytes copied.
FORMATTER_INLINE size_t copy_until_quote(uint8_t* to, const uint8_t* from, size_t size, lanes::Block quotes) {
    constexpr size_t step = 4 * lanes::block_bytes;
    size_t at = 0;
    for (; size - at > step; at += step) {
        const lanes::Block a = lanes::load_block(from + at), b = lanes::load_block(from + at + lanes::block_bytes);
        const lanes::Block c = lanes::load_block(from + at + 2 * lanes::block_bytes);
        const lanes::Block d = lanes::load_block(from + at + 3 * lanes::block_bytes);
        if (lanes::any_marked((lanes::marked_if_equal(a, quotes) | lanes::marked_if_equal(b, quotes)) |
                              (lanes::marked_if_equal(c, quotes) | lanes::marked_if_equal(d, quotes))))
            break;
        lanes::store_block(to + at, a);
        lanes::store_block(to + at + lanes::block_bytes, b);
        lanes::store_block(to + at + 2 * lanes::block_bytes, c);
        lanes::store_block(to + at + 3 * lanes::block_bytes, d);
    }
    return at;
}

// Text whose quotes must come in pairs, of which one stays; or (not `paired`) that must have none. The bytes written,
// or -1.
static ptrdiff_t copy_windows(uint8_t* to, const uint8_t* from, size_t size, bool paired, uint8_t quote,
                              const uint8_t* readable_end) {
    const lanes::Block quotes = lanes::splat_byte(quote);
    uint8_t* const begin = to;
    uint8_t rest[margin_bytes];
    while (size != 0) {
        const size_t plain = copy_until_quote(to, from, size, quotes);
        to += plain, from += plain, size -= plain;
        size_t taken = size < window_bytes ? size : window_bytes;
        const uint8_t* window = from;
        if (size_t(readable_end - from) < margin_bytes) {
            __builtin_memset(rest, 0, sizeof rest);
            __builtin_memcpy(rest, from, taken);
            window = rest;
        }
        uint64_t found = copy_window(to, window, quotes) & first_rows(taken), drop = 0;
        if (found != 0) {
            if (!paired) return -1;
            // The second of a pair may be in the next window: then the first one waits for it.
            if (parities(found) & found & uint64_t(1) << (taken - 1)) {
                if (taken == size) return -1;
                taken--;
                found &= first_rows(taken);
            }
            if (!pair_quotes(found, drop)) return -1;
        }
        to += drop == 0 ? taken : copy_kept(to, window, taken, drop);
        from += taken, size -= taken;
    }
    return to - begin;
}

// One field by its own rules: the bytes written, or -1 if it is odd.
static ptrdiff_t copy_field(uint8_t* to, const Field& field, uint8_t quote, const uint8_t* readable_end) {
    if (field.size == 0) return 0;
    if (field.begin[0] != quote) return copy_windows(to, field.begin, field.size, false, quote, readable_end);
    if (field.size < 2 || field.begin[field.size - 1] != quote) return -1;
    return copy_windows(to, field.begin + 1, field.size - 2, true, quote, readable_end);
}

// ------------------------------------------------------------------------------------------ up to 64 rows

struct TextRows {
    uint64_t empty;
    uint64_t odd;
    size_t bytes;
    bool quoted;  // some field began with a quote or was odd
    bool inner;  // some field had quotes besides the outer ones, or was odd
};

// Ends ascend: only the last rows of a segment can be too near to the end of what may be read.
FORMATTER_INLINE size_t rows_with_margin(const FieldRun& run) {
    size_t rows = run.rows;
    const size_t readable = size_t(run.readable_end - run.base);
    while (rows != 0 && readable - run.ends[(rows - 1) * run.stride] < margin_bytes) rows--;
    return rows;
}

// Without a look at quotes, but for those (`strip`) that stand at both ends of a field: they are left out.
template <bool strip, bool drop_carriage_return>
FORMATTER_INLINE TextRows copy_plain_rows(const FieldRun& run, size_t roomy_rows, uint8_t quote, uint8_t* out,
                                          int32_t start_offset, int32_t* offsets) {
    uint64_t empty = 0, bytes = 0;
    bool quoted = false;
    const uint8_t* const base = run.base;
    const uint32_t* ends = run.ends;
    const ptrdiff_t to_begin = run.begins - run.ends, stride = ptrdiff_t(run.stride);
    for (size_t row = 0; row < run.rows; row++, ends += stride) {
        const uint8_t* begin = base + uint32_t(ends[to_begin] + run.skip);
        size_t size = uint32_t(*ends - ends[to_begin] - run.skip);
        if (drop_carriage_return && size != 0) size -= begin[size - 1] == '\r';
        const bool roomy = row < roomy_rows;
        empty |= uint64_t(size == 0) << row;
        if (strip && (roomy || size != 0)) {
            const bool outer = (size >= 2) & (begin[0] == quote) & (begin[size - (size != 0)] == quote);
            quoted |= outer;
            begin += outer;
            size -= 2 * size_t(outer);
        }
        copy_text(out + bytes, begin, size, roomy);
        bytes += size;
        offsets[row] = int32_t(uint32_t(start_offset) + uint32_t(bytes));
    }
    return {empty, 0, bytes, quoted, false};
}

template <bool strip>
FORMATTER_INLINE TextRows copy_plain_rows(const FieldRun& run, size_t roomy_rows, uint8_t quote, uint8_t* out,
                                          int32_t start_offset, int32_t* offsets) {
    return run.drop_carriage_return ? copy_plain_rows<strip, true>(run, roomy_rows, quote, out, start_offset, offsets)
                                    : copy_plain_rows<strip, false>(run, roomy_rows, quote, out, start_offset, offsets);
}

FORMATTER_INLINE TextRows copy_quoted_rows(const FieldRun& run, size_t roomy_rows, uint8_t quote, uint8_t* out,
                                           int32_t start_offset, int32_t* offsets) {
    const lanes::Block quotes = lanes::splat_byte(quote);
    TextRows result = {0, 0, 0, false, false};
    for (size_t row = 0; row < run.rows; row++) {
        const Field field = field_of(run, row);
        uint8_t* const to = out + result.bytes;
        size_t copied = 0;
        bool done = false;
        if (row < roomy_rows && field.size != 0) {
            // Short fields, quoted or not, take one way: off with the outer quotes, then no quote may be left.
            const bool quoted = field.begin[0] == quote, closed = field.begin[field.size - 1] == quote;
            result.quoted |= quoted;
            copied = field.size - 2 * quoted;  // of a lone quote: wraps, too long for a window
            if (copied <= window_bytes) {
                const uint64_t found = copy_window(to, field.begin + quoted, quotes) & first_rows(copied);
                done = found == 0 && quoted == closed;
                result.inner |= !done;
                uint64_t drop;
                if (found != 0 && quoted && closed && found >> 63 == 0 && pair_quotes(found, drop)) {
                    copied = copy_kept(to, field.begin + 1, copied, drop);
                    done = true;
                }
            }
        } else if (field.size == 0) {
            result.empty |= uint64_t(1) << row;
            done = true;
        }
        if (!done) {
            const ptrdiff_t bytes = copy_field(to, field, quote, run.readable_end);
            result.odd |= uint64_t(bytes < 0) << row;
            result.quoted |= bytes < 0 || field.begin[0] == quote;
            result.inner |= bytes < 0 || field.size - size_t(bytes) > 2;
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
    enum Expected { no_quotes, outer_quotes, inner_quotes } expected = no_quotes;
    bool non_ascii = false;
    marks.empty_count = marks.odd_count = 0;
    // A step is at most the rest of a bitmap word. Fields are copied as if there were no quotes, or just the outer ones, and
    // what was copied is searched while it is near; if there are more after all the step is done again, and the next one
    // begins that way.
    while (walk.next(uint32_t(64 - done % 64), run)) {
        if (done == 0 && quoting) {
            const Field field = field_of(run, 0);
            if (field.size != 0 && field.begin[0] == quote) expected = outer_quotes;
        }
        const size_t roomy_rows = rows_with_margin(run);
        const int32_t from_offset = int32_t(uint32_t(start_offset) + uint32_t(bytes));
        TextRows rows;
        TextScan scan = {false, false};
        if (expected == no_quotes) {
            rows = copy_plain_rows<false>(run, roomy_rows, quote, out + bytes, from_offset, offsets + done);
            scan = scan_text(out + bytes, rows.bytes, quote);
            if (quoting && scan.quote) expected = outer_quotes;
        }
        if (expected == outer_quotes) {
            rows = copy_plain_rows<true>(run, roomy_rows, quote, out + bytes, from_offset, offsets + done);
            scan = scan_text(out + bytes, rows.bytes, quote);
            expected = scan.quote ? inner_quotes : rows.quoted ? outer_quotes : no_quotes;
        }
        if (expected == inner_quotes) {
            rows = copy_quoted_rows(run, roomy_rows, quote, out + bytes, from_offset, offsets + done);
            scan = scan_text(out + bytes, rows.bytes, quote);
            expected = rows.inner ? inner_quotes : rows.quoted ? outer_quotes : no_quotes;
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
