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
        if (state.closing && !separates && c != bytes.quote && !(c == '\r' && bytes.record_end == '\n'))
            state.inside = true;
        state.closing = false;
        if (c == bytes.quote && bytes.quoting) {
            const bool opens = !state.inside && (state.fresh || bytes.rule == QuoteRule::strict);
            const bool closes = state.inside;
            state.closing = closes && bytes.rule == QuoteRule::sticky;
            state.inside = opens;
            state.fresh = opens || closes;
        } else {
            state.fresh = separates;
            if (bytes.ends_in_quotes && c == bytes.record_end) state.inside = false;
        }
    }
    state.fresh &= !state.inside;
    return state;
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
            const uint64_t ends = block.ends & places[i].take(block, [&] { return blocks.returns(offset); });
            courses[i].state = places[i].state();
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
            course.state =
                stretch % 64 == 0 ? blocks.state() : state_behind(course.state, data + begin, stretch, bytes);
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
    else
        follow_courses<Quotes::lenient>(data, size, bytes, courses, count);
}

// Whether quotes that open stand behind a separator or a quote and, by the sticky rule, those that close in front of one:
// then each rule takes every quote for one, and parity says what is inside. Blocks come in order.
//
//     bytes     , " a " , b " c        (bit 0 leftmost)
//     edges     1 1 0 1 1 0 1 0        separators and quotes
//     bare      0 0 0 1 0 0 1 0        quotes that are not behind an edge: they must close
//     inside    0 1 1 0 0 0 1 1        by parity
//     wrong     0 0 0 0 0 0 1 0        bare & inside
template <bool sticky>
class AgreementBlocks {
  public:
    explicit AgreementBlocks(const CsvBytes& bytes)
        : delimiter_(make_needle(bytes.delimiter)),
          record_end_(make_needle(bytes.record_end)),
          quote_(make_needle(bytes.quote)),
          carriage_return_(make_needle(bytes.record_end == '\n' ? '\r' : bytes.record_end)) {}

    // `both`: for those who begin outside and for those who begin inside, else for those it was decided for.
    template <bool both>
    __attribute__((always_inline)) inline void take(const Block& block, uint64_t valid) {
        const uint64_t quotes = equal_mask(block, quote_) & valid;
        const uint64_t edges = (either_mask(block, delimiter_, record_end_) & valid) + quotes;  // no byte is both
        const uint64_t inside = prefix_xor(quotes) ^ inside_;
        const uint64_t bare = quotes & ~(edges * 2 + behind_edge_);
        wrong_[0] |= bare & inside;
        if (both) wrong_[1] |= bare & ~inside;
        if (sticky) {
            const uint64_t not_closing = ~(edges | equal_mask(block, carriage_return_)) & valid;
            const uint64_t closed[2] = {quotes & ~inside, quotes & inside};
            for (int state = 0; state < 1 + both; state++) {
                wrong_[state] |= (closed[state] * 2 + closed_[state]) & not_closing;
                closed_[state] = closed[state] >> 63;
            }
        }
        behind_edge_ = edges >> 63;
        inside_ = uint64_t(int64_t(inside) >> 63);
    }
    // By now one of the two is wrong, or both.
    bool decided() const { return (wrong_[0] | wrong_[1]) != 0; }
    bool hopeless() const { return wrong_[0] != 0 && wrong_[1] != 0; }
    // From here on it is about those who began inside, if they are the ones who can be right.
    void decide() {
        began_inside_ = wrong_[0] != 0;
        if (!began_inside_) return;
        inside_ = ~inside_;
        wrong_[0] = wrong_[1];
        closed_[0] = closed_[1];
        wrong_[1] = 1;
    }
    bool agrees(bool inside) const { return wrong_[inside != began_inside_] == 0; }
    bool odd() const { return (inside_ != 0) != began_inside_; }  // what is missing from the last block is no quote

  private:
    Needle delimiter_, record_end_, quote_, carriage_return_;
    uint64_t inside_ = 0, behind_edge_ = 1, closed_[2] = {0, 0}, wrong_[2] = {0, 0};
    bool began_inside_ = false;
};

// How far the bytes were looked at. It is a value, as what was found is: what is written to `to` might change what only has an
// address, and each block would read all of it again.
template <bool sticky>
struct AgreementPass {
    AgreementBlocks<sticky> blocks;
    size_t offset;
};

constexpr size_t agreement_stretch = 256;

// Whole stretches, until it is decided who can be right, or all of them for those who can.
template <bool sticky, bool copies, bool both>
static AgreementPass<sticky> pass_stretches(AgreementPass<sticky> pass, uint8_t* to, const uint8_t* from, size_t size,
                                            const uint8_t* next, size_t next_size) {
    size_t offset = pass.offset;
    for (; size - offset >= agreement_stretch && !(both && pass.blocks.decided()); offset += agreement_stretch) {
        if (offset < next_size)
            for (size_t at = 0; at < agreement_stretch; at += 64) __builtin_prefetch(next + offset + at);
        for (size_t at = 0; at < agreement_stretch; at += 64) {
            const Block block = load_block(from + offset + at);
            if (copies) store_block(to + offset + at, block);
            pass.blocks.template take<both>(block, ~uint64_t(0));
        }
    }
    pass.offset = offset;
    return pass;
}

template <bool sticky, bool copies>
static void find_agreement(uint8_t* to, const uint8_t* from, size_t size, const CsvBytes& bytes, const uint8_t* next,
                           size_t next_size, QuoteAgreement& out) {
    AgreementPass<sticky> pass{AgreementBlocks<sticky>(bytes), 0};
    pass = pass_stretches<sticky, copies, true>(pass, to, from, size, next, next_size);
    if (pass.blocks.decided() && !pass.blocks.hopeless()) {
        pass.blocks.decide();
        pass = pass_stretches<sticky, copies, false>(pass, to, from, size, next, next_size);
    }
    const size_t rest = pass.offset;
    if (copies && rest < size) std::memcpy(to + rest, from + rest, size - rest);
    for (size_t offset = rest; offset < size && !pass.blocks.hopeless(); offset += 64) {
        uint64_t valid = ~uint64_t(0);
        const Block block =
            size - offset >= 64 ? load_block(from + offset) : load_tail(from + offset, size - offset, valid);
        pass.blocks.template take<true>(block, valid);
    }
    const uint8_t head = size ? from[0] : bytes.record_end;
    out.holds[0] = pass.blocks.agrees(false);
    out.holds[1] = pass.blocks.agrees(true);
    out.opens = head == bytes.quote;
    out.follows =
        out.opens || head == bytes.delimiter || head == bytes.record_end || (head == '\r' && bytes.record_end == '\n');
    out.odd = pass.blocks.odd();
}

// By the lenient rule or the sticky one.
static void agree_on_quotes(uint8_t* to, const uint8_t* from, size_t size, const CsvBytes& bytes, const uint8_t* next,
                            size_t next_size, QuoteAgreement& out) {
    const bool sticky = bytes.rule == QuoteRule::sticky;
    if (to)
        sticky ? find_agreement<true, true>(to, from, size, bytes, next, next_size, out)
               : find_agreement<false, true>(to, from, size, bytes, next, next_size, out);
    else
        sticky ? find_agreement<true, false>(to, from, size, bytes, next, next_size, out)
               : find_agreement<false, false>(to, from, size, bytes, next, next_size, out);
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
