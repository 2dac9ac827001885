// What a buffer says before anyone knows whether it begins inside quotes: quote parity, and the record ends either way.
//
// In: any bytes. Out: counts and first and last positions. Knows nothing of fields.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/separator_blocks.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

// Record ends by block, apart by whether they are inside quotes for those who begin outside. Blocks come in order.
class QuoteBlocks {
  public:
    struct Masks {
        uint64_t quotes, ends_outside, ends_inside;
    };

    QuoteBlocks(const uint8_t* data, size_t size, const CsvBytes& bytes)
        : data_(data),
          size_(size),
          quoting_(bytes.quoting ? ~uint64_t(0) : 0),
          record_end_(make_needle(bytes.record_end)),
          quote_(make_needle(bytes.quote)) {}

    inline Masks at(size_t offset) {
        if (__builtin_expect(size_ - offset >= 64, 1)) return masks(load_block(data_ + offset), ~uint64_t(0));
        uint64_t valid;
        const Block block = load_tail(data_ + offset, size_ - offset, valid);
        return masks(block, valid);
    }

  private:
    inline Masks masks(const Block& block, uint64_t valid) {
        const uint64_t ends = equal_mask(block, record_end_) & valid;
        const uint64_t quotes = equal_mask(block, quote_) & valid & quoting_;
        const uint64_t quoted = prefix_xor(quotes) ^ inside_;
        inside_ ^= -uint64_t(popcount(quotes) & 1);
        return {quotes, ends & ~quoted, ends & quoted};
    }

    const uint8_t* data_;
    size_t size_;
    uint64_t quoting_;
    uint64_t inside_ = 0;
    Needle record_end_, quote_;
};

// Without quoting there is but one state, and both entries say the same.
static void summarize_quotes(const uint8_t* data, size_t size, const CsvBytes& bytes, QuoteSummary& summary) {
    uint64_t quotes = 0, counts[2] = {0, 0}, last_masks[2] = {0, 0};
    size_t last_offsets[2] = {0, 0};
    QuoteBlocks blocks(data, size, bytes);
    for (size_t offset = 0; offset < size; offset += 64) {
        const QuoteBlocks::Masks masks = blocks.at(offset);
        quotes += popcount(masks.quotes);
        const uint64_t ends[2] = {masks.ends_outside, masks.ends_inside};
        for (int state = 0; state < 2; state++) {
            const uint64_t some = -uint64_t(ends[state] != 0);  // by masks: as a branch it would be missed often
            counts[state] += popcount(ends[state]);
            last_masks[state] = ends[state] | (last_masks[state] & ~some);
            last_offsets[state] = (offset & some) | (last_offsets[state] & ~some);
        }
    }
    const uint64_t none = QuoteSummary::none;
    summary = {quotes, {counts[0], counts[1]}, {none, none}, {none, none}};
    for (int state = 0; state < 2; state++)
        if (counts[state] != 0)
            summary.last_end[state] = last_offsets[state] + 63 - unsigned(__builtin_clzll(last_masks[state]));

    // The first ones are found by going again, up to them: in the loop above they would cost every block something.
    unsigned missing = unsigned(counts[0] != 0) + unsigned(counts[1] != 0);
    QuoteBlocks again(data, size, bytes);
    for (size_t offset = 0; missing > 0; offset += 64) {
        const QuoteBlocks::Masks masks = again.at(offset);
        const uint64_t ends[2] = {masks.ends_outside, masks.ends_inside};
        for (int state = 0; state < 2; state++) {
            if (summary.first_end[state] != none || ends[state] == 0) continue;
            summary.first_end[state] = offset + trailing_zeros(ends[state]);
            missing--;
        }
    }
    if (bytes.quoting) return;
    summary.record_ends[1] = summary.record_ends[0];
    summary.first_end[1] = summary.first_end[0];
    summary.last_end[1] = summary.last_end[0];
}

static uint64_t count_byte(const uint8_t* data, size_t size, uint8_t byte) {
    const Needle wanted = make_needle(byte);
    uint64_t count = 0;
    size_t offset = 0;
    for (; size - offset >= 64; offset += 64) count += popcount(equal_mask(load_block(data + offset), wanted));
    if (offset == size) return count;
    uint64_t valid;
    Block block = load_tail(data + offset, size - offset, valid);
    return count + popcount(equal_mask(block, wanted) & valid);
}

// Near by, in data that is what it seems: so it stops there.
static uint64_t first_record_end(const uint8_t* data, size_t size, const CsvBytes& bytes, bool inside) {
    QuoteBlocks blocks(data, size, bytes);
    for (size_t offset = 0; offset < size; offset += 64) {
        const QuoteBlocks::Masks masks = blocks.at(offset);
        const uint64_t ends = inside ? masks.ends_inside : masks.ends_outside;
        if (ends != 0) return offset + trailing_zeros(ends);
    }
    return QuoteSummary::none;
}

// The state behind the last byte: blocks tell it behind whole ones.
static QuoteState state_behind(QuoteState state, const uint8_t* data, size_t size, const CsvBytes& bytes) {
    for (size_t i = 0; i < size; i++) {
        const uint8_t c = data[i];
        const bool separates = c == bytes.delimiter || c == bytes.record_end;
        const bool sticky = bytes.rule == QuoteRule::sticky, behind_quote = state.closing;
        if (sticky && state.closing && !separates && c != bytes.quote && !(c == '\r' && bytes.record_end == '\n'))
            state.inside = true;
        state.closing = false;
        if (c == bytes.quote && bytes.quoting) {
            const bool opens = !state.inside && (state.fresh || bytes.rule == QuoteRule::strict);
            const bool closes = state.inside;
            state.closing = closes && (sticky || bytes.opens_behind_blanks);
            state.inside = opens;
            state.fresh = opens || closes;
        } else {
            state.fresh = separates || (bytes.opens_behind_blanks && is_blank(c) && state.fresh && !behind_quote);
            if (bytes.ends_in_quotes && c == bytes.record_end) state.inside = false;
        }
    }
    state.fresh &= !state.inside;
    return state;
}

// The state behind whole blocks, where blanks that stand last may have to be looked through to know what a quote would be.
static QuoteState state_behind_blanks(QuoteState before, QuoteState state, const uint8_t* data, size_t size,
                                      const CsvBytes& bytes) {
    if (!bytes.opens_behind_blanks || state.inside) return state;
    const auto separates = [&](uint8_t c) { return c == bytes.delimiter || c == bytes.record_end; };
    size_t at = size;
    while (at > 0 && is_blank(data[at - 1]) && !separates(data[at - 1])) at--;
    if (at == size) return {false, state.fresh, state.fresh && data[at - 1] == bytes.quote};
    return {false, at > 0 ? separates(data[at - 1]) : before.fresh && !before.closing, false};
}

// All courses a block at a time, of which the masks are those of each, until they are one.
template <Quotes quotes>
static size_t follow_until_one(const uint8_t* data, size_t size, const CsvBytes& bytes, QuoteCourse* courses,
                               size_t count, size_t* leaders) {
    constexpr size_t most_courses = 4;
    const SeparatorBlocks<quotes> blocks(data, size, bytes);
    QuotePlaces<quotes> places[most_courses];
    for (size_t i = 0; i < count; i++) places[i] = QuotePlaces<quotes>(bytes, courses[i].state);
    size_t offset = 0;
    for (; *leaders > 1 && size - offset >= 64; offset += 64) {
        const BlockMasks block = blocks.as_it_stands(offset);
        for (size_t i = 0; i < *leaders; i++) {
            const uint64_t ends =
                block.ends & places[i].take(block, blocks.returns_at(offset), blocks.behind_blanks_at(offset, block));
            courses[i].state = state_behind_blanks(courses[i].state, places[i].state(), data + offset, 64, bytes);
            if (ends == 0) continue;
            const uint64_t first = offset + trailing_zeros(ends);
            const uint64_t last = offset + 63 - unsigned(__builtin_clzll(ends));
            for (size_t k = i; k < (i + 1 == *leaders ? count : i + 1); k++) {
                if (courses[k].first_end == QuoteSummary::none) courses[k].first_end = first;
                courses[k].last_end = last;
            }
        }
        while (*leaders > 1 && courses[*leaders - 1].state == courses[*leaders - 2].state) --*leaders;
    }
    for (size_t k = *leaders; k < count; k++) courses[k].state = courses[*leaders - 1].state;
    return offset;
}

template <Quotes quotes>
static void follow_courses(const uint8_t* data, size_t size, const CsvBytes& bytes, QuoteCourse* courses,
                           size_t count) {
    for (size_t i = 0; i < count; i++) courses[i].first_end = courses[i].last_end = QuoteSummary::none;
    size_t leaders = count;  // courses of their own; those behind have become the last of these
    size_t begin = follow_until_one<quotes>(data, size, bytes, courses, count, &leaders);
    while (begin < size) {
        const size_t whole = (size - begin) / 64 * 64;
        const size_t stretch = whole ? whole : size - begin;
        for (size_t i = 0; i < leaders; i++) {
            QuoteCourse& course = courses[i];
            SeparatorBlocks<quotes> blocks(data + begin, stretch, bytes, course.state);
            uint64_t first = QuoteSummary::none, last = QuoteSummary::none;
            uint64_t last_ends = 0;
            for (size_t offset = 0; offset < stretch; offset += 64) {
                const uint64_t ends = blocks.at(offset).ends;
                if (ends == 0) continue;
                if (first == QuoteSummary::none) first = begin + offset + trailing_zeros(ends);
                last_ends = ends;
                last = begin + offset;
            }
            if (last_ends) last += 63 - unsigned(__builtin_clzll(last_ends));
            course.state = stretch % 64 == 0
                               ? state_behind_blanks(course.state, blocks.state(), data + begin, stretch, bytes)
                               : state_behind(course.state, data + begin, stretch, bytes);
            for (size_t k = i; k < (i + 1 == leaders ? count : i + 1); k++) {
                courses[k].state = course.state;
                if (first == QuoteSummary::none) continue;
                if (courses[k].first_end == QuoteSummary::none) courses[k].first_end = first;
                courses[k].last_end = last;
            }
        }
        while (leaders > 1 && courses[leaders - 1].state == courses[leaders - 2].state) leaders--;
        begin += stretch;
    }
}

static void follow_quotes(const uint8_t* data, size_t size, const CsvBytes& bytes, QuoteCourse* courses, size_t count) {
    if (bytes.ends_in_quotes)
        follow_courses<Quotes::any>(data, size, bytes, courses, count);
    else if (bytes.rule == QuoteRule::sticky)
        follow_courses<Quotes::sticky>(data, size, bytes, courses, count);
    else if (bytes.opens_behind_blanks)
        follow_courses<Quotes::spaced>(data, size, bytes, courses, count);
    else
        follow_courses<Quotes::lenient>(data, size, bytes, courses, count);
}

// memcpy that counts, and asks for the bytes at `next` meanwhile: buffers come from anywhere in memory, and neither
// copying nor counting has enough to do to hide the way there.
static uint64_t copy_counting(uint8_t* to, const uint8_t* from, size_t size, uint8_t byte, const uint8_t* next,
                              size_t next_size) {
    const Needle wanted = make_needle(byte);
    uint64_t count = 0;
    size_t offset = 0;
    for (; size - offset >= 64; offset += 64) {
        if (offset < next_size) __builtin_prefetch(next + offset);
        count += popcount(equal_mask(load_block(from + offset), wanted));
        std::memcpy(to + offset, from + offset, 64);
    }
    if (offset == size) return count;
    uint64_t valid;
    const Block block = load_tail(from + offset, size - offset, valid);
    std::memcpy(to + offset, from + offset, size - offset);
    return count + popcount(equal_mask(block, wanted) & valid);
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
