// Whether bytes, wherever they begin, hold quotes only where every rule takes them for some: then parity says what is inside,
// and a buffer need not be followed from each state it may begin in.
//
// In: any bytes, copied on the way if asked for. Out: for those who begin outside and for those who begin inside, whether it
// is so. Knows nothing of fields, and not where records end.
#pragma once

#include <array>

#include "kernels/kernel.hpp"
#include "kernels/separator_blocks.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

// Separators and quotes, and what may stand behind a quote that closes: these and, in front of a line feed, a carriage return.
// `by_table`: one look into a table tells them, if no two of them would stand in one place of it.
template <bool by_table>
class Edges {
  public:
    explicit Edges(const CsvBytes& bytes)
        : quote(make_needle(bytes.quote)),
          delimiter_(make_needle(bytes.delimiter)),
          record_end_(make_needle(bytes.record_end)),
          carriage_return_(make_needle(members(bytes)[3])),
          edges_(make_table(members(bytes), 3)),
          behind_quotes_(make_table(members(bytes), 4)) {}

    static bool fit_a_table(const CsvBytes& bytes) {
        const auto apart = [](uint8_t a, uint8_t b) { return (a ^ b) % places != 0; };
        const uint8_t quote = bytes.quote, delimiter = bytes.delimiter, end = bytes.record_end;
        const bool returns =
            end == '\n';  // a carriage return stands in the table, too, and never in a line feed's place
        return (quote | delimiter | end) < 0x80 && apart(quote, delimiter) && apart(quote, end) &&
               apart(delimiter, end) && (!returns || (apart(quote, '\r') && apart(delimiter, '\r')));
    }
    __attribute__((always_inline)) inline Matches in(const Block& block) const {
        if (by_table) return listed(block, edges_);
        return equal(block, quote) | equal(block, delimiter_) | equal(block, record_end_);
    }
    __attribute__((always_inline)) inline Matches behind_quotes_in(const Block& block) const {
        if (by_table) return listed(block, behind_quotes_);
        return in(block) | equal(block, carriage_return_);
    }

    Needle quote;

  private:
    static constexpr uint8_t places = 16;
    using Members = std::array<uint8_t, 4>;

    static Members members(const CsvBytes& bytes) {
        const uint8_t carriage_return = bytes.record_end == '\n' ? '\r' : bytes.record_end;
        return {bytes.quote, bytes.delimiter, bytes.record_end, carriage_return};
    }
    static ByteTable make_table(const Members& members, size_t count) {
        uint8_t table[places];
        for (uint8_t i = 0; i < places; i++) table[i] = i ^ 1;  // no byte that looks there is this one
        for (size_t i = 0; i < count; i++) table[members[i] % places] = members[i];
        return load_table(table);
    }

    Needle delimiter_, record_end_, carriage_return_;
    ByteTable edges_, behind_quotes_;
};

// Quotes that open have to stand behind an edge and, by the sticky rule, those that close in front of one.
//
//     bytes      , " a " , b " c        (bit 0 leftmost)
//     behind     \n , " a " , b "       the same, one further on
//     bare       0 0 0 1 0 0 1 0        quotes that are not behind an edge: they must close
//     leant on   0 0 0 0 0 0 0 1        others than edges, behind a quote: that must open
//     inside     0 1 1 0 0 0 1 1        by parity
//     wrong      0 0 0 0 0 0 1 0        bare & inside, and by the sticky rule leant on & ~inside
//
// What was found goes from block to block by value: what is written to the copy might change what only has an address, and
// each block would read all of it again.
struct Agreement {
    uint64_t inside = 0;  // all ones if the next block begins inside for those who began outside
    uint64_t wrong[2] = {0, 0};  // with those who began outside, with those who began inside

    bool decided() const { return (wrong[0] | wrong[1]) != 0; }  // by now one of the two is wrong, or both
    bool hopeless() const { return wrong[0] != 0 && wrong[1] != 0; }
};

// `both`: for those who begin outside and for those who begin inside, else only for the first.
template <bool sticky, bool both, bool by_table>
__attribute__((always_inline)) static inline void take_block(const Edges<by_table>& edges, const Block& behind,
                                                             const Block& block, uint64_t valid, Agreement& found) {
    const Matches quote_matches = equal(block, edges.quote);
    Matches telling = without(quote_matches, edges.in(behind));
    if (sticky) telling = telling | without(equal(behind, edges.quote), edges.behind_quotes_in(block));
    const uint64_t quotes = mask_of(quote_matches) & valid;
    const uint64_t tells = mask_of(telling) & valid;
    const uint64_t inside = prefix_xor(quotes) ^ found.inside;
    const uint64_t says_outside =
        sticky ? inside ^ quotes : ~inside;  // what is bare is a quote, what is leant on is none
    found.wrong[0] |= tells & ~says_outside;
    if (both) found.wrong[1] |= tells & says_outside;
    found.inside = uint64_t(int64_t(inside) >> 63);
}

struct CopiedBytes {
    uint8_t* to;  // if they are copied
    const uint8_t* from;
    size_t size;
    const uint8_t* next;  // what is asked for meanwhile
    size_t next_size;
};

constexpr size_t agreement_stretch = 256;

// The first block's bytes, each one further on, behind a record end.
static inline Block load_behind(const uint8_t* from, uint8_t record_end) {
    uint8_t behind[64];
    behind[0] = record_end;
    std::memcpy(behind + 1, from, 63);
    return load_block(behind);
}

// Whole stretches from `*offset` on, until it is decided who can be right, or all of them for those who can.
template <bool sticky, bool copies, bool both, bool by_table>
__attribute__((always_inline)) static inline Agreement take_stretches(CopiedBytes bytes, size_t* offset,
                                                                      const Edges<by_table>& edges, Block behind,
                                                                      Agreement found) {
    const uint8_t* const from = bytes.from;
    size_t at = *offset;
    for (; bytes.size - at >= agreement_stretch && !(both && found.decided()); at += agreement_stretch) {
        if (at < bytes.next_size)
            for (size_t part = 0; part < agreement_stretch; part += 64) __builtin_prefetch(bytes.next + at + part);
        for (size_t part = 0; part < agreement_stretch; part += 64) {
            const Block block = load_block(from + at + part);
            if (copies) store_block(bytes.to + at + part, block);
            if (!both || part || at) behind = load_block(from + at + part - 1);
            take_block<sticky, both>(edges, behind, block, ~uint64_t(0), found);
        }
    }
    *offset = at;
    return found;
}

template <bool sticky, bool copies, bool by_table>
__attribute__((always_inline)) static inline void find_agreement(CopiedBytes copied, const CsvBytes& bytes,
                                                                 QuoteAgreement& out) {
    const Edges<by_table> edges(bytes);
    const uint8_t* const from = copied.from;
    const size_t size = copied.size;
    size_t offset = 0;
    Agreement found;
    Block behind = {};
    if (size >= agreement_stretch) {
        behind = load_behind(from, bytes.record_end);
        found = take_stretches<sticky, copies, true>(copied, &offset, edges, behind, found);
    }
    if (found.decided() && !found.hopeless()) {
        const bool began_inside = found.wrong[0] != 0;
        const uint64_t turned = began_inside ? ~uint64_t(0) : 0;
        found = take_stretches<sticky, copies, false>(copied, &offset, edges, behind, {found.inside ^ turned, {0, 0}});
        found = {found.inside ^ turned, {began_inside ? 1 : found.wrong[0], began_inside ? found.wrong[0] : 1}};
    }
    if (copies && offset < size) std::memcpy(copied.to + offset, from + offset, size - offset);
    for (; offset < size && !found.hopeless(); offset += 64) {
        uint64_t valid = ~uint64_t(0);
        const bool whole = size - offset >= 64;
        const Block block = whole ? load_block(from + offset) : load_tail(from + offset, size - offset, valid);
        if (offset)
            behind = whole ? load_block(from + offset - 1) : load_tail(from + offset - 1, size - offset, valid);
        else if (whole)
            behind = load_behind(from, bytes.record_end);
        else {
            uint8_t padded[64] = {bytes.record_end};
            std::memcpy(padded + 1, from, size);
            behind = load_block(padded);
        }
        take_block<sticky, true>(edges, behind, block, valid, found);
    }
    const uint8_t head = size ? from[0] : bytes.record_end;
    out.holds[0] = found.wrong[0] == 0;
    out.holds[1] = found.wrong[1] == 0;
    out.opens = head == bytes.quote;
    out.follows =
        out.opens || head == bytes.delimiter || head == bytes.record_end || (head == '\r' && bytes.record_end == '\n');
    out.odd = found.inside != 0;  // what is missing from the last block is no quote
}

template <bool sticky, bool copies>
__attribute__((always_inline)) static inline void agree_by(CopiedBytes copied, const CsvBytes& bytes,
                                                           QuoteAgreement& out) {
    Edges<true>::fit_a_table(bytes) ? find_agreement<sticky, copies, true>(copied, bytes, out)
                                    : find_agreement<sticky, copies, false>(copied, bytes, out);
}

// By the lenient rule or the sticky one.
static void agree_on_quotes(uint8_t* to, const uint8_t* from, size_t size, const CsvBytes& bytes, const uint8_t* next,
                            size_t next_size, QuoteAgreement& out) {
    const CopiedBytes copied{to, from, size, next, next_size};
    const bool sticky = bytes.rule == QuoteRule::sticky;
    if (to)
        sticky ? agree_by<true, true>(copied, bytes, out) : agree_by<false, true>(copied, bytes, out);
    else
        sticky ? agree_by<true, false>(copied, bytes, out) : agree_by<false, false>(copied, bytes, out);
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
