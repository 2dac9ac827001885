// Bytes to separators: which bytes of each 64-byte block are separators in effect, that is outside quotes, by any rule
// of what a quote is. Refuses to know records.
//
//     bytes       a , " x , y " , b \n c        (bit 0 leftmost)
//     quotes      0 0 1 0 0 0 1 0 0 0  0
//     inside      0 0 1 1 1 1 0 0 0 0  0        prefix xor of quotes, and of the state the block begins in
//     delimiters  0 1 0 0 1 0 0 1 0 0  0
//     separators  0 1 0 0 0 0 0 1 0 1  0        (delimiters | record ends) & ~inside
//
// In: any bytes. Out: masks. Never reads past the last byte: what is left after whole blocks is copied first.
#pragma once

#include "kernels/kernel.hpp"

namespace formatter {
namespace FORMATTER_ISA {

// The last bytes of an input as a block, and the mask of those that are there: the needle may be the padding's byte.
static inline Block load_tail(const uint8_t* bytes, size_t count, uint64_t& valid) {
    uint8_t padded[64] = {};
    std::memcpy(padded, bytes, count);
    valid = ~(~uint64_t(0) << count);
    return load_block(padded);
}

struct SeparatorMasks {
    uint64_t separators;
    uint64_t ends;
};

// Which rule a loop is compiled for. `parity` is the strict one; the others begin with parity, too, and put right what it
// got wrong where a quote stands that the rule does not take for one. By `spaced`, the lenient one, quotes open behind blanks, too.
// `any` is one that is known only when it runs; `wide` is parity or none, with what wide_separators.inl.hpp knows.
enum class Quotes { none, parity, lenient, spaced, sticky, any, wide };

inline Quotes quotes_of(const CsvBytes& bytes) {
    if (bytes.escaping || bytes.delimiter_rest.count || bytes.record_end_rest.count) return Quotes::wide;
    if (!bytes.quoting) return Quotes::none;
    if (bytes.ends_in_quotes) return Quotes::any;
    if (bytes.rule == QuoteRule::sticky) return Quotes::sticky;
    if (bytes.rule == QuoteRule::strict) return Quotes::parity;
    return bytes.opens_behind_blanks ? Quotes::spaced : Quotes::lenient;
}

// What stands where in a block, whatever it means there.
struct BlockMasks {
    uint64_t toggles;  // quotes
    uint64_t separators, ends;
    uint64_t missing;  // behind the last byte
};

static inline bool is_blank(uint8_t byte) { return byte == ' ' || byte == '\t'; }

// Behind which bytes a quote opens because only blanks lie between them and a separator.
struct BehindBlanks {
    uint64_t bytes = 0;
    uint64_t first = 0;  // 1: behind the block before, too
};

static inline Block block_at(const uint8_t* data, size_t size, size_t offset) {
    uint64_t valid;
    return size - offset >= 64 ? load_block(data + offset) : load_tail(data + offset, size - offset, valid);
}

//     bytes      , _ _ " a " _ " , _      (bit 0 leftmost, _ a blank)
//     blanks     0 1 1 0 0 0 1 0 0 1
//     starts     0 1 0 0 0 0 0 0 0 1      those behind a separator
//     found      0 1 1 0 0 0 0 0 0 1      what the sum of the two carries away
//
// What lies before the block is looked through if it begins with a blank or a quote: up to a byte that is none, or to the begin of
// all, where a field may begin. Values in, a value out: nobody's loop has to keep anything in memory for it.
__attribute__((noinline)) static BehindBlanks find_behind_blanks(const uint8_t* data, size_t size, size_t offset,
                                                                 const CsvBytes& bytes, uint64_t separators,
                                                                 uint64_t toggles, bool begins_field) {
    const auto separates = [&](uint8_t byte) { return byte == bytes.delimiter || byte == bytes.record_end; };
    const Block block = block_at(data, size, offset);
    const uint64_t blanks = either_mask(block, make_needle(' '), make_needle('\t')) & ~separators;
    BehindBlanks behind;
    if ((blanks | toggles) & 1) {
        size_t at = offset;
        while (at > 0 && is_blank(data[at - 1]) && !separates(data[at - 1])) at--;
        behind.first = at > 0 ? separates(data[at - 1]) : begins_field;
    }
    const uint64_t starts = (separators * 2 | behind.first) & blanks;
    behind.bytes = blanks & ~(starts + blanks);
    return behind;
}

// The rules of place, block after block. It is a value: what puts wrong toggles right gets a copy and gives one back, so
// that the loop's own stays in registers.
template <Quotes quotes>
class QuotePlaces {
  public:
    QuotePlaces() = default;
    QuotePlaces(const CsvBytes& bytes, QuoteState start)
        : before_(start.fresh),
          closing_(start.closing && bytes.rule == QuoteRule::sticky),
          begins_field_(start.fresh && !start.closing),
          outside_(start.inside ? 0 : ~uint64_t(0)),
          picky_(bytes.rule == QuoteRule::strict ? 0 : ~uint64_t(0)),
          sticky_(bytes.rule == QuoteRule::sticky ? ~uint64_t(0) : 0),
          ends_in_quotes_(bytes.ends_in_quotes ? ~uint64_t(0) : 0),
          opens_behind_blanks_(bytes.opens_behind_blanks) {}

    // Which bytes are outside quotes. What is seldom needed of the bytes around is asked for: `returns()`, which are carriage
    // returns that a record end may follow, and `behind_blanks`.
    template <typename Returns, typename Behind>
    __attribute__((always_inline)) inline uint64_t take(BlockMasks block, Returns returns, Behind behind_blanks) {
        uint64_t outside = prefix_xor(block.toggles) ^ outside_;
        if (__builtin_expect(wrong(block, outside, 0, {}) != 0, 0)) {
            const Righted righted =
                put_right(*this, block, may_stick ? returns() : 0,
                          may_be_spaced && opens_behind_blanks_ ? behind_blanks(begins_field_) : BehindBlanks());
            *this = righted.places;
            block.toggles = righted.toggles;
            outside = righted.outside;
        }
        before_ = edges(block) >> 63;
        if (may_stick) closing_ = closed(block, outside) >> 63;
        outside_ ^= -uint64_t(popcount(block.toggles) & 1);
        return outside;
    }
    // The same of a block without a quote, where none has been before.
    inline void pass(uint64_t separators) { before_ = separators >> 63; }

    QuoteState state() const { return {outside_ == 0, outside_ != 0 && before_ != 0, closing_ != 0}; }

    static constexpr bool may_stick = quotes == Quotes::sticky || quotes == Quotes::any;
    static constexpr bool may_be_spaced = quotes == Quotes::spaced || quotes == Quotes::any;

  private:
    struct Righted {
        QuotePlaces places;
        uint64_t toggles, outside;
    };

    //     bytes     , " a " , b " c        (bit 0 leftmost, outside)
    //     toggles   0 1 0 1 0 0 1 0
    //     inside    0 1 1 0 0 0 1 1
    //     before    ? 1 1 0 1 1 0 1        a separator or a toggle stands before
    //     wrong     0 0 0 0 0 0 1 0        a toggle that opens where nothing lets it
    __attribute__((always_inline)) inline uint64_t wrong(const BlockMasks& block, uint64_t outside, uint64_t returns,
                                                         BehindBlanks blanks) const {
        const uint64_t lets = edges(block);
        uint64_t found = block.toggles & ~((lets * 2 + before_) | (blanks.bytes * 2 | blanks.first)) & ~outside;
        if (quotes == Quotes::any) found = (found & picky_) | (block.ends & ~outside & ends_in_quotes_);
        if (may_stick) found |= (closed(block, outside) * 2 + closing_) & ~(lets | returns | block.missing);
        return found;
    }

    // Separators and toggles. But for record ends that were made toggles no byte is both: the sum is their union, and takes
    // one instruction with a shift.
    __attribute__((always_inline)) static inline uint64_t edges(const BlockMasks& block) {
        return quotes == Quotes::any ? block.separators | block.toggles : block.separators + block.toggles;
    }

    // The quotes that close something, by the sticky rule. A record end may have been made a toggle, and is none of them.
    __attribute__((always_inline)) inline uint64_t closed(const BlockMasks& block, uint64_t outside) const {
        const uint64_t toggles = block.toggles & outside;
        return quotes == Quotes::sticky ? toggles : toggles & ~block.ends & sticky_;
    }

    // What stands before the first wrong bit is right: that one is made right, and so on.
    __attribute__((noinline)) static Righted put_right(QuotePlaces places, BlockMasks block, uint64_t returns,
                                                       BehindBlanks blanks) {
        for (;;) {
            const uint64_t outside = prefix_xor(block.toggles) ^ places.outside_;
            const uint64_t found = places.wrong(block, outside, returns, blanks);
            if (found == 0) return {places, block.toggles, outside};
            const uint64_t first = found & -found;
            const bool not_closed = may_stick && !(block.toggles & first) && !(block.ends & ~outside & first);
            if (not_closed && first == 1) {  // the quote is the last byte of the block before
                places.outside_ = ~places.outside_;
                places.closing_ = 0;
                places.before_ = 0;
            } else {
                block.toggles ^= not_closed ? first >> 1 : first;
            }
        }
    }

    uint64_t before_ = 0;  // 1 if the last byte of the block before is a separator or a quote
    uint64_t closing_ = 0;  // 1 if a quote that closed is the last byte of that
    bool begins_field_ = false;  // what was first of all
    uint64_t outside_ = 0;  // all ones if the next block begins outside quotes
    uint64_t picky_ = 0, sticky_ = 0, ends_in_quotes_ = 0;  // all ones if so
    bool opens_behind_blanks_ = false;
};

// Blocks are asked for in order, each once.
template <Quotes quotes>
class SeparatorBlocks {
  public:
    SeparatorBlocks(const uint8_t* data, size_t size, const CsvBytes& bytes, QuoteState start = {false, true, false})
        : data_(data),
          size_(size),
          quoted_(start.inside || start.closing),
          places_(bytes, start),
          bytes_(&bytes),
          delimiter_(make_needle(bytes.delimiter)),
          record_end_(make_needle(bytes.record_end)),
          quote_(make_needle(bytes.quote)),
          carriage_return_(make_needle(bytes.record_end == '\n' ? '\r' : bytes.record_end)) {}

    __attribute__((always_inline)) inline SeparatorMasks at(size_t offset) {
        if (__builtin_expect(size_ - offset >= 64, 1)) return masks(offset, load_block(data_ + offset), ~uint64_t(0));
        uint64_t valid;
        const Block block = load_tail(data_ + offset, size_ - offset, valid);
        SeparatorMasks tail = masks(offset, block, valid);
        return {tail.separators & valid, tail.ends & valid};
    }

    // Of the whole block there, whatever it begins in.
    __attribute__((always_inline)) inline BlockMasks as_it_stands(size_t offset) const {
        const Block block = load_block(data_ + offset);
        const uint64_t ends = equal_mask(block, record_end_);
        return {equal_mask(block, quote_), equal_mask(block, delimiter_) | ends, ends, 0};
    }
    // What may have to be known of the bytes around, and seldom is.
    auto returns_at(size_t offset) const {
        return [this, offset] { return equal_mask(block_at(data_, size_, offset), carriage_return_); };
    }
    auto behind_blanks_at(size_t offset, const BlockMasks& masks) const {
        return [this, offset, &masks](bool begins_field) {
            return find_behind_blanks(data_, size_, offset, *bytes_, masks.separators, masks.toggles, begins_field);
        };
    }

    // Behind the last block, if that was a whole one.
    QuoteState state() const { return places_.state(); }

  private:
    __attribute__((always_inline)) inline SeparatorMasks masks(size_t offset, const Block& block, uint64_t valid) {
        const uint64_t ends = equal_mask(block, record_end_);
        const uint64_t separators = equal_mask(block, delimiter_) | ends;
        if (quotes == Quotes::none) return {separators, ends};
        const uint64_t toggles = equal_mask(block, quote_);
        // Until the first quote that is one branch, never missed. From then on quotes come and go, and to ask for each
        // block whether it has some would cost more than to do without the answer.
        if (!quoted_) {
            if (toggles == 0) {
                if (quotes != Quotes::parity) places_.pass(separators);
                return {separators, ends};
            }
            quoted_ = true;
        }
        if (quotes == Quotes::parity) {
            uint64_t outside = ~(prefix_xor(toggles) ^ inside_);
            inside_ ^= -uint64_t(popcount(toggles) & 1);  // not the product's last bit: the next block waits for this
            return {separators & outside, ends & outside};
        }
        const BlockMasks found = {toggles & valid, separators & valid, ends & valid, ~valid};
        const uint64_t outside = places_.take(found, returns_at(offset), behind_blanks_at(offset, found));
        return {found.separators & outside, found.ends & outside};
    }

    const uint8_t* data_;
    size_t size_;
    bool quoted_;
    uint64_t inside_ = 0;  // by parity: all ones if the next block begins inside quotes
    QuotePlaces<quotes> places_;  // by other rules
    const CsvBytes* bytes_;
    Needle delimiter_, record_end_, quote_, carriage_return_;
};

}  // namespace FORMATTER_ISA
}  // namespace formatter
