// Records passed over for the want of a needle: their bytes are looked at once, for needles, record ends and quotes.
//
//     bytes     7 , O s l o \n 8 , R o m e \n       the needle: Rome, probed at R, m and e
//     ends      0 0 0 0 0 0 1  0 0 0 0 0 0 1        (bit 0 leftmost) record ends outside quotes
//     R at +0   0 0 0 0 0 0 0  0 0 1 0 0 0 0        each probe is looked for where it would stand if the needle
//     m at +2   0 0 0 0 0 0 0  0 0 1 0 0 0 0        began here, and what all of them leave is compared
//     e at +3   0 0 0 0 0 0 0  0 0 1 0 0 0 0
//     passed    7 bytes, 1 record; found: the 7 bytes behind them
//
// Several blocks at once are asked whether they hold anything but record ends; few do. Those are gone through again.
//
// In: bytes that begin a record. Out: how far no record holds a needle, how many those are, the one that does. Refuses to
// know what is in a record, and why anybody looks for it.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/separator_blocks.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

static inline bool is_digit_from(uint8_t least, uint8_t c) { return c >= least && c <= '9'; }

static inline bool is_needle_at(const NeedleBytes& needle, const uint8_t* data, size_t size, size_t begin) {
    if (size - begin < needle.size || std::memcmp(data + begin, needle.bytes, needle.size) != 0) return false;
    const size_t end = begin + needle.size;
    if (!needle.number) return true;
    return !(begin > 0 && is_digit_from('1', data[begin - 1])) && !(end < size && is_digit_from('0', data[end]));
}

template <unsigned needle_count, bool quoting>
class RecordPasser {
  public:
    RecordPasser(const uint8_t* data, size_t size, const NeedleSet& set, const CsvBytes& bytes)
        : data_(data),
          size_(size),
          set_(set),
          end_byte_(bytes.record_end),
          looks_for_blanks_(set.blank != BlankLines::records),
          record_end_(make_needle(bytes.record_end)),
          quote_(make_needle(bytes.quote)),
          space_(make_needle(' ')),
          backslash_(make_needle('\\')),
          small_e_(make_needle('e')),
          large_e_(make_needle('E')),
          nine_(make_needle('9')),
          minus_(make_needle('-')) {
        for (unsigned i = 0; i < needle_count; i++) {
            const NeedleBytes& needle = needle_at(i);
            for (unsigned p = 0; p < probe_count; p++) probes_[i][p] = make_needle(needle.bytes[needle.probes[p]]);
        }
    }

    void pass(PassedRecords& passed) {
        if (size_ && looks_for_blanks_) take_blank(0);
        while (offset_ < size_) {
            if (!inside_) pass_quickly();
            if (quoting) pass_paired();
            if (take_blocks()) break;
        }
        // The last line is blank, but not passed: it holds a needle, or its end was not met.
        if (behind_blank_ > behind_end_) records_++;
        passed = {behind_end_, records_, found_size_, false_hits_};
    }

  private:
    static constexpr unsigned probe_count = NeedleBytes::probe_count;
    static constexpr size_t at_once = 4;  // blocks
    static constexpr size_t stretch = 64 * at_once;
    static constexpr unsigned unquoted_most = 8;  // stretches after which quotes are rare

    // Fewer needles: the first one is looked for again.
    const NeedleBytes& needle_at(unsigned i) const { return set_.needles[i < set_.count ? i : 0]; }

    // Where needles may begin in the block at `at`, whose bytes `next` has from the second one on. An exponent begins with what
    // stands before it: a digit or a point; a slash does no harm.
    template <typename Load>
    inline Matches needles_from(Load load, size_t at, const Block& block, const Block& next) const {
        Matches found = set_.escapes ? equal(block, backslash_) : Matches{};
        if (set_.exponents)
            found = found | (without(at_most(block, nine_), at_most(block, minus_)) &
                             (equal(next, small_e_) | equal(next, large_e_)));
        for (unsigned i = 0; i < needle_count; i++) {
            const uint32_t* const probes = needle_at(i).probes;
            Matches all = equal(load(at + probes[0]), probes_[i][0]);
            for (unsigned p = 1; p < probe_count; p++) all = all & equal(load(at + probes[p]), probes_[i][p]);
            found = found | all;
        }
        return found;
    }

    // Stretches in which nothing happens but records that end.
    inline void pass_quickly() {
        const auto whole = [this](size_t at) { return load_block(data_ + at); };
        uint64_t ends = 0;
        for (; size_ - offset_ >= stretch + 64; offset_ += stretch) {
            Matches odd{};
            uint64_t count = 0;
            for (size_t at = offset_; at < offset_ + stretch; at += 64) {
                const Block block = whole(at), next = whole(at + 1);
                const Matches here = equal(block, record_end_);
                count += popcount(mask_of(here));
                odd = odd | needles_from(whole, at, block, next);
                if (looks_for_blanks_) odd = odd | (here & may_be_blank(next));
                if (quoting) odd = odd | equal(block, quote_);
            }
            if (__builtin_expect(any(odd), 0)) break;
            ends += count;
        }
        records_ += ends;
        if (ends == 0) return;
        size_t last = offset_;
        while (data_[last - 1] != end_byte_) last--;
        behind_end_ = last;
    }

    // The same where quotes stand: until there have been none for a while.
    inline void pass_paired() {
        const auto whole = [this](size_t at) { return load_block(data_ + at); };
        unsigned without_quotes = inside_ ? 0 : unquoted_most;  // the first stretch must have some
        for (; size_ - offset_ >= stretch + 64; offset_ += stretch) {
            Matches odd{};
            uint64_t inside = inside_, count = 0, any_quotes = inside_;
            size_t behind_end = behind_end_;
            for (size_t at = offset_; at < offset_ + stretch; at += 64) {
                const Block block = whole(at), next = whole(at + 1);
                const Matches here = equal(block, record_end_);
                const uint64_t quotes = equal_mask(block, quote_);
                const uint64_t quoted = prefix_xor(quotes) ^ inside;
                const uint64_t ends = mask_of(here) & ~quoted;
                any_quotes |= quotes;
                inside = uint64_t(int64_t(quoted) >> 63);
                count += popcount(ends);
                behind_end = ends ? at + 64 - unsigned(__builtin_clzll(ends)) : behind_end;
                odd = odd | needles_from(whole, at, block, next);
                if (looks_for_blanks_) odd = odd | (here & may_be_blank(next));
            }
            if (__builtin_expect(any(odd), 0)) break;
            without_quotes = any_quotes ? 0 : without_quotes + 1;
            if (without_quotes > unquoted_most) break;
            inside_ = inside;
            records_ += count;
            behind_end_ = behind_end;
        }
    }

    // Whether a line that begins with such bytes may be blank.
    inline Matches may_be_blank(const Block& next) const {
        return end_byte_ <= ' ' ? at_most(next, space_) : equal(next, record_end_);
    }

    // A stretch, block by block. True if a record with a needle was met.
    inline bool take_blocks() {
        const auto partly = [this](size_t at) {
            uint64_t present;
            if (size_ - lesser(at, size_) >= 64) return load_block(data_ + at);
            return load_tail(data_ + lesser(at, size_), size_ - lesser(at, size_), present);
        };
        const size_t stop = size_ - offset_ > stretch ? offset_ + stretch : size_;
        for (; offset_ < stop; offset_ += 64) {
            const Block block = partly(offset_), next = partly(offset_ + 1);
            uint64_t ends = ends_of(block, offset_);
            const uint64_t all_ends = ends;
            uint64_t found = mask_of(needles_from(partly, offset_, block, next));
            if (size_ - offset_ < 64) found &= ~(~uint64_t(0) << (size_ - offset_));
            const unsigned hit = found ? first_hit(found) : 64;
            if (hit < 64) ends &= (uint64_t(1) << hit) - 1;
            records_ += popcount(ends);
            if (ends != 0) behind_end_ = offset_ + 64 - unsigned(__builtin_clzll(ends));
            if (looks_for_blanks_) {
                uint64_t blank = ends & mask_of(may_be_blank(next));
                for (; blank != 0; blank &= blank - 1) take_blank(offset_ + trailing_zeros(blank) + 1);
            }
            if (hit < 64) return end_found(all_ends & -(uint64_t(1) << hit)), true;
        }
        return false;
    }

    static inline size_t lesser(size_t a, size_t b) { return a < b ? a : b; }

    // Outside quotes. Blocks come in order.
    inline uint64_t ends_of(const Block& block, size_t at) {
        const uint64_t present = size_ - at >= 64 ? ~uint64_t(0) : ~(~uint64_t(0) << (size_ - at));
        const uint64_t ends = equal_mask(block, record_end_) & present;
        if (!quoting) return ends;
        const uint64_t quotes = equal_mask(block, quote_) & present;
        const uint64_t quoted = prefix_xor(quotes) ^ inside_;
        inside_ ^= -uint64_t(popcount(quotes) & 1);
        return ends & ~quoted;
    }

    // The record that holds the needle ends at the first end behind it, in its block or later.
    void end_found(uint64_t ends) {
        while (ends == 0 && (offset_ += 64) < size_) {
            uint64_t present;
            const size_t left = size_ - offset_;
            ends =
                ends_of(left >= 64 ? load_block(data_ + offset_) : load_tail(data_ + offset_, left, present), offset_);
        }
        if (ends != 0) found_size_ = offset_ + trailing_zeros(ends) + 1 - behind_end_;
    }

    // Of a line that begins there. If it is blank it is no record.
    void take_blank(size_t at) {
        if (set_.blank == BlankLines::spaces)
            while (at < size_ && (data_[at] == ' ' || data_[at] == '\t' || data_[at] == '\r')) at++;
        else if (end_byte_ == '\n' && at < size_ && data_[at] == '\r')
            at++;
        if (at >= size_ || data_[at] != end_byte_) return;
        records_--;
        behind_blank_ = at + 1;
    }

    // The first of the block's bytes found at which a needle does begin, or 64.
    __attribute__((noinline)) unsigned first_hit(uint64_t found) {
        for (; found != 0; found &= found - 1) {
            const unsigned bit = trailing_zeros(found);
            const size_t at = offset_ + bit;
            const bool exponent = is_digit_from('.', data_[at]) && at + 1 < size_ && (data_[at + 1] | 0x20) == 'e';
            if ((set_.escapes && data_[at] == '\\') || (set_.exponents && exponent)) return bit;
            for (uint32_t i = 0; i < set_.count; i++)
                if (is_needle_at(set_.needles[i], data_, size_, at)) return bit;
            false_hits_++;
        }
        return 64;
    }

    static constexpr unsigned room = needle_count ? needle_count : 1;
    const uint8_t* data_;
    size_t size_;
    const NeedleSet& set_;
    uint8_t end_byte_;
    bool looks_for_blanks_;
    Needle probes_[room][probe_count];
    Needle record_end_, quote_, space_, backslash_, small_e_, large_e_, nine_, minus_;

    size_t offset_ = 0;
    uint64_t inside_ = 0;  // all ones within quotes
    uint64_t records_ = 0, false_hits_ = 0;
    size_t behind_end_ = 0, behind_blank_ = 0;  // bytes through the last record end, and through that of a blank line
    size_t found_size_ = 0;
};

template <unsigned needle_count>
static void pass_records_by(const uint8_t* data, size_t size, const NeedleSet& set, const CsvBytes& bytes,
                            PassedRecords& passed) {
    if (bytes.quoting) return RecordPasser<needle_count, true>(data, size, set, bytes).pass(passed);
    RecordPasser<needle_count, false>(data, size, set, bytes).pass(passed);
}

static void pass_records(const uint8_t* data, size_t size, const NeedleSet& set, const CsvBytes& bytes,
                         PassedRecords& passed) {
    if (set.count == 0) return pass_records_by<0>(data, size, set, bytes, passed);
    if (set.count <= 1) return pass_records_by<1>(data, size, set, bytes, passed);
    if (set.count <= 2) return pass_records_by<2>(data, size, set, bytes, passed);
    if (set.count <= 4) return pass_records_by<4>(data, size, set, bytes, passed);
    pass_records_by<NeedleSet::most>(data, size, set, bytes, passed);
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
