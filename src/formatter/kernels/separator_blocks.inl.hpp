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
// got wrong where a quote stands that the rule does not take for one.
// `any` is one that is known only when it runs.
enum class Quotes { none, parity, lenient, sticky, any };

inline Quotes quotes_of(const CsvBytes& bytes) {
    if (!bytes.quoting) return Quotes::none;
    if (bytes.ends_in_quotes) return Quotes::any;
    if (bytes.rule == QuoteRule::sticky) return Quotes::sticky;
    return bytes.rule == QuoteRule::strict ? Quotes::parity : Quotes::lenient;
}

// Blocks are asked for in order, each once.
template <Quotes quotes>
class SeparatorBlocks {
  public:
    SeparatorBlocks(const uint8_t* data, size_t size, const CsvBytes& bytes, QuoteState start = {false, true, false})
        : data_(data),
          size_(size),
          quoted_(start.inside || start.closing),
          before_(start.fresh ? ~uint64_t(0) : 0),
          closing_(start.closing),
          inside_(start.inside ? ~uint64_t(0) : 0),
          picky_(bytes.rule == QuoteRule::strict ? 0 : ~uint64_t(0)),
          sticky_(bytes.rule == QuoteRule::sticky ? ~uint64_t(0) : 0),
          ends_in_quotes_(bytes.ends_in_quotes ? ~uint64_t(0) : 0),
          delimiter_(make_needle(bytes.delimiter)),
          record_end_(make_needle(bytes.record_end)),
          quote_(make_needle(bytes.quote)),
          carriage_return_(make_needle(bytes.record_end == '\n' ? '\r' : bytes.record_end)) {}

    __attribute__((always_inline)) inline SeparatorMasks at(size_t offset) {
        if (__builtin_expect(size_ - offset >= 64, 1)) return masks(load_block(data_ + offset), ~uint64_t(0));
        uint64_t valid;
        const Block block = load_tail(data_ + offset, size_ - offset, valid);
        SeparatorMasks tail = masks(block, valid);
        return {tail.separators & valid, tail.ends & valid};
    }

    // Behind the last block, if that was a whole one.
    QuoteState state() const { return {inside_ != 0, inside_ == 0 && before_ >> 63 != 0, closing_ != 0}; }

  private:
    static constexpr bool may_stick = quotes == Quotes::sticky || quotes == Quotes::any;

    __attribute__((always_inline)) inline SeparatorMasks masks(const Block& block, uint64_t valid) {
        uint64_t ends = equal_mask(block, record_end_);
        uint64_t separators = equal_mask(block, delimiter_) | ends;
        if (quotes == Quotes::none) return {separators, ends};
        uint64_t toggles = equal_mask(block, quote_);
        // Until the first quote that is one branch, never missed. From then on quotes come and go, and to ask for each
        // block whether it has some would cost more than to do without the answer.
        if (!quoted_) {
            if (toggles == 0) {
                if (quotes != Quotes::parity) before_ = separators;
                return {separators, ends};
            }
            quoted_ = true;
        }
        if (quotes == Quotes::parity) {
            uint64_t outside = ~(prefix_xor(toggles) ^ inside_);
            inside_ ^= -uint64_t(popcount(toggles) & 1);  // not the product's last bit: the next block waits for this
            return {separators & outside, ends & outside};
        }
        toggles &= valid;
        ends &= valid;
        separators &= valid;
        uint64_t inside = prefix_xor(toggles) ^ inside_;
        uint64_t closers = 0;
        if (may_stick) closers = separators | toggles | equal_mask(block, carriage_return_) | ~valid;
        if (__builtin_expect(wrong(toggles, inside, separators, ends, closers) != 0, 0))
            inside = put_right(toggles, separators, ends, closers);
        before_ = separators | toggles;
        if (may_stick) closing_ = (toggles & ~inside & ~ends & sticky_) >> 63;
        inside_ ^= -uint64_t(popcount(toggles) & 1);
        return {separators & ~inside, ends & ~inside};
    }

    //     bytes     , " a " , b " c        (bit 0 leftmost, outside)
    //     toggles   0 1 0 1 0 0 1 0
    //     inside    0 1 1 0 0 0 1 1
    //     before    ? 1 1 0 1 1 0 1        a separator or a toggle stands before
    //     wrong     0 0 0 0 0 0 1 0        a toggle that opens where nothing lets it
    inline uint64_t wrong(uint64_t toggles, uint64_t inside, uint64_t separators, uint64_t ends,
                          uint64_t closers) const {
        uint64_t found = toggles & inside & ~((separators | toggles) << 1 | before_ >> 63);
        if (quotes == Quotes::any) found = (found & picky_) | (ends & inside & ends_in_quotes_);
        if (may_stick) found |= ((toggles & ~inside & ~ends & sticky_) << 1 | closing_) & ~closers;
        return found;
    }

    // What stands before the first wrong bit is right: that one is made right, and so on.
    __attribute__((noinline)) uint64_t put_right(uint64_t& toggles, uint64_t separators, uint64_t ends,
                                                 uint64_t closers) {
        for (;;) {
            const uint64_t inside = prefix_xor(toggles) ^ inside_;
            const uint64_t found = wrong(toggles, inside, separators, ends, closers);
            if (found == 0) return inside;
            const uint64_t first = found & -found;
            const bool not_closed = may_stick && !(toggles & first) && !(ends & inside & first);
            if (not_closed && first == 1) {  // the quote is the last byte of the block before
                inside_ = ~inside_;
                closing_ = 0;
                before_ = 0;
            } else {
                toggles ^= not_closed ? first >> 1 : first;
            }
        }
    }

    const uint8_t* data_;
    size_t size_;
    bool quoted_;
    uint64_t before_;  // separators and quotes of the block before
    uint64_t closing_;  // 1 if a quote that closed is the last byte of that
    uint64_t inside_;  // all ones if the next block begins inside quotes
    uint64_t picky_, sticky_, ends_in_quotes_;  // all ones if so
    Needle delimiter_, record_end_, quote_, carriage_return_;
};

}  // namespace FORMATTER_ISA
}  // namespace formatter
