// Records passed over for the want of a needle: their bytes are looked at once, for needles, record ends and quotes.
//
//     bytes     7 , O s l o \n 8 , R o m e \n       the needle: Rome, probed at R and m
//     ends      0 0 0 0 0 0 1  0 0 0 0 0 0 1        (bit 0 leftmost) record ends outside quotes
//     R at +0   0 0 0 0 0 0 0  0 0 1 0 0 0 0        the first probe is looked for in the block, the others where they would
//     m at +2   0 0 0 0 0 0 0  0 0 1 0 0 0 0        stand then, and what all of them leave is compared
//     passed    7 bytes, 1 record; found: the 7 bytes behind them
//
// Several blocks at once are asked whether they hold anything but record ends; few do. Those are gone through again, one by one.
// A needle has no record end in it, so whichever of its bytes is met, the record around that one is the record that holds it.
//
// In: bytes that begin a record. Out: how far no record holds a needle, how many those are, the one that does; then the same
// again. Refuses to know what is in a record, and why anybody looks for it.
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

// `odd_spellings`: escapes or exponents are needles, too.
template <unsigned needle_count, unsigned probe_count, bool quoting, bool odd_spellings>
class RecordPasser {
  public:
    RecordPasser(const uint8_t* data, size_t size, const NeedleSet& set, const CsvBytes& bytes, PassedRecords* out,
                 size_t room)
        : data_(data),
          size_(size),
          set_(set),
          end_byte_(bytes.record_end),
          blank_lines_(set.blank == BlankLines::records ? 0 : ~uint64_t(0)),
          record_end_(make_needle(bytes.record_end)),
          quote_(make_needle(bytes.quote)),
          blank_byte_(make_needle(bytes.record_end <= ' ' ? ' ' : bytes.record_end)),
          backslash_(make_needle('\\')),
          small_e_(make_needle('e')),
          large_e_(make_needle('E')),
          nine_(make_needle('9')),
          minus_(make_needle('-')),
          out_(out),
          room_(room) {
        for (unsigned i = 0; i < needle_count; i++) {
            const NeedleBytes& needle = needle_at(i);
            for (unsigned p = 0; p < probe_count; p++) {
                probes_[i][p] = make_needle(needle.bytes[needle.probes[p]]);
                ahead_[i][p] = ptrdiff_t(needle.probes[p]) - ptrdiff_t(needle.probes[0]);
            }
        }
    }

    // How many entries were made: as many as there is room for, or the last one has found nothing.
    size_t pass(uint64_t* false_hits) {
        // Up to where loads are aligned, and so far that probes that stand in front are read from these bytes.
        const size_t unaligned = 64 - (reinterpret_cast<uintptr_t>(data_) & 63);
        bool more = take_blocks(unaligned) && take_blocks(64);
        while (more && offset_ < size_) {
            if (!inside_) pass_quickly();
            if (quoting) pass_paired();
            more = take_blocks(stretch);
        }
        if (more) {
            // The last line is blank, but not passed: it holds a needle, or its end was not met.
            if (behind_blank_ > line_) records_++;
            out_[count_++] = {line_ - entry_, records_, 0};
        }
        *false_hits = false_hits_;
        return count_;
    }

  private:
    static constexpr size_t at_once = 4;  // blocks
    static constexpr size_t stretch = 64 * at_once;
    static constexpr size_t prefetched_ahead = 4096;
    static constexpr unsigned unquoted_most = 8;  // stretches after which quotes are rare

    // Fewer needles: the first one is looked for again.
    const NeedleBytes& needle_at(unsigned i) const { return set_.needles[i < set_.count ? i : 0]; }

    // Bits of the block at `at` where the first probes stand and the others would be met, where all of them can be read.
    inline Matches probes_in(const Block& block, size_t at) const {
        Matches found{};
        for (unsigned i = 0; i < needle_count; i++) {
            Matches all = equal(block, probes_[i][0]);
            for (unsigned p = 1; p < probe_count; p++)
                all = all & equal(load_block(data_ + ptrdiff_t(at) + ahead_[i][p]), probes_[i][p]);
            found = found | all;
        }
        return found;
    }

    // Escapes, and where an exponent may stand: an e behind a digit or a point; a slash does no harm.
    inline Matches odd_spellings_in(const Block& block, const Block& before) const {
        Matches found = set_.escapes ? equal(block, backslash_) : Matches{};
        if (set_.exponents)
            found = found | (without(at_most(before, nine_), at_most(before, minus_)) &
                             (equal(block, small_e_) | equal(block, large_e_)));
        return found;
    }

    // What begins behind a record end and may be a blank line.
    inline uint64_t blanks_in(const Block& block, uint64_t ends, uint64_t* behind_end) const {
        const uint64_t begins = ends << 1 | *behind_end;
        *behind_end = ends >> 63;
        return begins & in_general_register(at_most_mask(block, blank_byte_));
    }

    // Masks that are worked on as numbers: compilers like to carry them to mask registers and back.
    static inline uint64_t in_general_register(uint64_t mask) {
        asm("" : "+r"(mask));
        return mask;
    }

    bool can_pass_stretch() const { return size_ - offset_ >= stretch + 64; }

    // Behind the last of a block's record ends; without any `line` stays. Not by a branch: nobody can foretell it.
    static inline size_t behind_last(uint64_t ends, size_t at, size_t line) {
        const uint64_t has_ends = in_general_register(-uint64_t(ends != 0));
        return line + ((at + 64 - unsigned(__builtin_clzll(ends | 1)) - line) & has_ends);
    }

    // So far ahead that memory, too, is in time; a processor's own guesses end with each page.
    inline void prefetch_stretch() const {
        for (size_t at = 0; at < stretch; at += 64) __builtin_prefetch(data_ + offset_ + prefetched_ahead + at);
    }

    // Stretches in which nothing happens but records that end.
    inline void pass_quickly() {
        uint64_t count = 0, behind_end = behind_end_;
        for (; can_pass_stretch(); offset_ += stretch) {
            Matches odd{};
            uint64_t here = 0, blanks = 0, behind = behind_end;
            prefetch_stretch();
            for (size_t at = offset_; at < offset_ + stretch; at += 64) {
                const Block block = load_block(data_ + at);
                const uint64_t ends = in_general_register(equal_mask(block, record_end_));
                here += popcount(ends);
                odd = odd | probes_in(block, at);
                if (odd_spellings) odd = odd | odd_spellings_in(block, load_block(data_ + at - 1));
                blanks |= blanks_in(block, ends, &behind);
                if (quoting) odd = odd | equal(block, quote_);
            }
            if (__builtin_expect(any(odd) | ((blanks & blank_lines_) != 0), 0)) break;
            count += here;
            behind_end = behind;
        }
        records_ += count;
        behind_end_ = behind_end;
        if (count == 0) return;
        line_ = offset_;
        while (data_[line_ - 1] != end_byte_) line_--;
    }

    // The same where quotes stand: until there have been none for a while.
    inline void pass_paired() {
        unsigned without_quotes = inside_ ? 0 : unquoted_most;  // the first stretch must have some
        for (; can_pass_stretch(); offset_ += stretch) {
            Matches odd{};
            uint64_t inside = inside_, count = 0, any_quotes = inside_, blanks = 0, behind_end = behind_end_;
            size_t line = line_;
            prefetch_stretch();
            for (size_t at = offset_; at < offset_ + stretch; at += 64) {
                const Block block = load_block(data_ + at);
                const uint64_t quotes = in_general_register(equal_mask(block, quote_));
                const uint64_t quoted = prefix_xor(quotes) ^ inside;
                const uint64_t ends = in_general_register(equal_mask(block, record_end_)) & ~quoted;
                any_quotes |= quotes;
                inside = uint64_t(int64_t(quoted) >> 63);
                count += popcount(ends);
                line = behind_last(ends, at, line);
                odd = odd | probes_in(block, at);
                if (odd_spellings) odd = odd | odd_spellings_in(block, load_block(data_ + at - 1));
                blanks |= blanks_in(block, ends, &behind_end);
            }
            if (__builtin_expect(any(odd) | ((blanks & blank_lines_) != 0), 0)) break;
            without_quotes = any_quotes ? 0 : without_quotes + 1;
            if (without_quotes > unquoted_most) break;
            inside_ = inside;
            records_ += count;
            line_ = line;
            behind_end_ = behind_end;
        }
    }

    // So many bytes block by block, and on to the end of a record that holds a needle. False if there is no more room.
    inline bool take_blocks(size_t count) {
        for (size_t stop = offset_ + count; offset_ < size_ && (offset_ < stop || is_found_);) {
            const size_t left = size_ - offset_, block = offset_ < stop ? stop - offset_ : 64;
            if (!take_block(block < 64 ? block : 64, left)) return false;
        }
        return true;
    }

    // At most `count` bytes, of `left`.
    inline bool take_block(size_t count, size_t left) {
        uint64_t present;
        const Block block = left >= 64 ? load_block(data_ + offset_) : load_tail(data_ + offset_, left, present);
        if (left < count) count = left;
        present = ~uint64_t(0) >> (64 - count);
        uint64_t ends = equal_mask(block, record_end_) & present;
        if (quoting) {
            const uint64_t quotes = equal_mask(block, quote_) & present;
            ends &= ~(prefix_xor(quotes) ^ inside_);
            inside_ ^= -uint64_t(popcount(quotes) & 1);
        }
        const uint64_t begins = ends << 1 | behind_end_;
        behind_end_ = ends >> (count - 1) & 1;
        uint64_t blanks = begins & at_most_mask(block, blank_byte_) & present & blank_lines_;
        uint64_t found = candidates(block, left) & present;
        while (true) {
            if (is_found_) {
                if (ends == 0) break;
                const unsigned bit = trailing_zeros(ends);
                const uint64_t behind = bit < 63 ? ~uint64_t(0) << (bit + 1) : 0;
                if (!end_found(offset_ + bit + 1)) return false;
                ends &= behind;
                found &= behind;
                blanks &= behind;
            }
            const unsigned hit = found ? first_hit(found) : 64;
            const uint64_t before = hit < 64 ? (uint64_t(1) << hit) - 1 : ~uint64_t(0);
            if (ends & before) {
                records_ += popcount(ends & before);
                line_ = offset_ + 64 - unsigned(__builtin_clzll(ends & before));
            }
            for (; blanks & (before << 1 | 1); blanks &= blanks - 1) take_blank(offset_ + trailing_zeros(blanks));
            if (hit == 64) break;
            is_found_ = true;
            ends &= ~before;
        }
        offset_ += count;
        return true;
    }

    // As in stretches; near the ends of the bytes by the first probes alone.
    inline uint64_t candidates(const Block& block, size_t left) const {
        const bool has_room = offset_ >= 64 && left >= 128;
        Matches found = set_.escapes ? equal(block, backslash_) : Matches{};
        if (set_.exponents) found = found | equal(block, small_e_) | equal(block, large_e_);
        if (has_room) return mask_of(found | probes_in(block, offset_));
        for (unsigned i = 0; i < needle_count; i++) found = found | equal(block, probes_[i][0]);
        return mask_of(found);
    }

    // The record that holds a needle ends there. False if there is no room for another one.
    bool end_found(size_t end) {
        if (behind_blank_ > line_) records_++;  // it is blank itself
        out_[count_++] = {line_ - entry_, records_, end - line_};
        entry_ = line_ = end;
        records_ = 0;
        is_found_ = false;
        return count_ < room_;
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

    // The first of the block's bytes found that is in a needle, or 64. Those before it are no longer among them.
    __attribute__((noinline)) unsigned first_hit(uint64_t& found) {
        for (; found != 0; found &= found - 1) {
            const unsigned bit = trailing_zeros(found);
            const size_t at = offset_ + bit;
            const uint8_t byte = data_[at];
            if (set_.escapes && byte == '\\') return bit;
            if (set_.exponents && (byte | 0x20) == 'e' && at > 0 && is_digit_from('.', data_[at - 1])) return bit;
            for (uint32_t i = 0; i < set_.count; i++) {
                const size_t before = set_.needles[i].probes[0];
                if (at >= before && is_needle_at(set_.needles[i], data_, size_, at - before)) return bit;
            }
            false_hits_++;
        }
        return 64;
    }

    static constexpr unsigned kept = needle_count ? needle_count : 1;
    const uint8_t* data_;
    size_t size_;
    const NeedleSet& set_;
    uint8_t end_byte_;
    uint64_t blank_lines_;  // all ones if they are no records
    Needle probes_[kept][probe_count];
    ptrdiff_t ahead_[kept][probe_count];  // of the first one
    Needle record_end_, quote_, blank_byte_, backslash_, small_e_, large_e_, nine_, minus_;
    PassedRecords* out_;
    size_t room_;

    size_t offset_ = 0, count_ = 0;
    uint64_t inside_ = 0;  // all ones within quotes
    uint64_t behind_end_ = 1;  // whether a line begins at the offset
    bool is_found_ = false;  // the record that is open there holds a needle
    size_t entry_ = 0, line_ = 0,
           behind_blank_ = 0;  // behind the last record found, the last end, that of a blank line
    uint64_t records_ = 0;  // from the entry on
    uint64_t false_hits_ = 0;
};

template <unsigned needle_count, unsigned probe_count>
static size_t pass_records_by(const uint8_t* data, size_t size, const NeedleSet& set, const CsvBytes& bytes,
                              PassedRecords* out, size_t room, uint64_t* false_hits) {
    if (bytes.quoting)
        return RecordPasser<needle_count, probe_count, true, false>(data, size, set, bytes, out, room).pass(false_hits);
    if (set.escapes || set.exponents)
        return RecordPasser<needle_count, probe_count, false, true>(data, size, set, bytes, out, room).pass(false_hits);
    return RecordPasser<needle_count, probe_count, false, false>(data, size, set, bytes, out, room).pass(false_hits);
}

template <unsigned probe_count>
static size_t pass_records_probing(const uint8_t* data, size_t size, const NeedleSet& set, const CsvBytes& bytes,
                                   PassedRecords* out, size_t room, uint64_t* false_hits) {
    const auto pass = set.count == 0   ? pass_records_by<0, probe_count>
                      : set.count <= 1 ? pass_records_by<1, probe_count>
                      : set.count <= 2 ? pass_records_by<2, probe_count>
                      : set.count <= 4 ? pass_records_by<4, probe_count>
                                       : pass_records_by<NeedleSet::most, probe_count>;
    return pass(data, size, set, bytes, out, room, false_hits);
}

static size_t pass_records(const uint8_t* data, size_t size, const NeedleSet& set, const CsvBytes& bytes,
                           PassedRecords* out, size_t room, uint64_t* false_hits) {
    const auto pass = set.all_probes ? pass_records_probing<NeedleBytes::probe_count> : pass_records_probing<2>;
    return pass(data, size, set, bytes, out, room, false_hits);
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
