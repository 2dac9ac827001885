// A block of buffers laid over the ring at once: words instead of buffers, one walk over delimiters instead of a search each.
//
// In: a gathered block. Out: the claims its buffers complete, each once, in stream order. Changes nothing if it declines.
//
// The same claims as one by one: of a span between neighbouring delimiters, all seen now, some buffer is new exactly if the
// span was not complete before. A walk in stream order sees both ends of each span together:
//
//      ring           #.#..#..       # seen before          n new, in this block
//      block          .n.n.nn.  ->   merged  #n#n.#n.       span claimed: all seen, at least one n in it, ends included
#include "engine/shred_block.hpp"
#include "engine/shred_ring.hpp"
#include "engine/shred_search.hpp"
#include "engine/stop_tree.hpp"

namespace formatter {

bool ShredRing::merge(const ShredBlock& block, SequenceSpan* spans, size_t& count) noexcept {
    if (max_sequence_ != 0 || finished_ || block.first <= prefix_) return false;
    const uint64_t window = (block.last > highest_ ? block.last : highest_) - prefix_;
    if (window > slots() && grow(window) != Status::ok) return false;
    SlotWord* const ring = words();
    const uint64_t first_word = block.first >> 6, last_place = word_count() - 1;
    for (uint64_t i = 0; i < block.words; ++i)
        if (ring[(first_word + i) & last_place].seen & block.seen[i]) return false;  // a duplicate: found one by one

    uint64_t open;            // the last delimiter passed
    uint64_t broken, fresh = 0;  // since then a buffer is missing; a buffer is new (1 or 0, for arithmetic not branches)
    const uint64_t mask = slots() - 1, first_slot = block.first & mask;
    if (block.first == prefix_ + 1) {
        open = last_delimiter_ == 0 ? 1 : last_delimiter_;
        broken = 0;
    } else {
        const uint64_t stop = stop_before(first_slot);
        open = block.first - ((first_slot - stop) & mask);
        broken = (ring[stop >> 6].seen >> (stop & 63) & 1) == 0;
    }
    // A full ring holds the end of the window in the word that holds its beginning; seen from the end, the beginning is not
    // there: what stands at and after prefix + 1 in that word is a whole round earlier.
    const uint64_t shared_word = ((prefix_ + 1) >> 6) + word_count(), shared = ~uint64_t(0) << ((prefix_ + 1) & 63);
    size_t claimed = count;
    uint64_t from_first = ~uint64_t(0) << (block.first & 63);
    for (uint64_t i = 0; i < block.words; ++i, from_first = ~uint64_t(0)) {
        const SlotWord& word = ring[(first_word + i) & last_place];
        const uint64_t mine = first_word + i == shared_word ? ~shared : ~uint64_t(0);
        uint64_t fresh_bits = block.seen[i];
        uint64_t missing = ~((word.seen & mine) | block.seen[i]) & from_first;
        uint64_t delimiters = ((word.delimited & mine) | block.delimited[i]) & from_first;
        const uint64_t base = (first_word + i) << 6;
        while (delimiters != 0) {
            const uint64_t bit = delimiters & (0 - delimiters), up_to = bit | (bit - 1);
            const uint64_t at = base + lowest(bit);
            // written always, counted if it holds, as in take(); buffer 1 ends its own record
            spans[claimed] = {open, at};
            const uint64_t lacks = broken | ((missing & up_to) != 0), now = fresh | ((fresh_bits & up_to) != 0);
            claimed += (lacks ^ 1) & now & (open != at);
            open = at;
            broken = 0;
            fresh = (fresh_bits & bit) != 0;
            missing &= ~up_to;
            fresh_bits &= ~up_to;
            delimiters ^= bit;
        }
        broken |= missing != 0;
        fresh |= fresh_bits != 0;
    }
    if (broken == 0 && fresh != 0) {
        const uint64_t end = ((first_word + block.words) << 6) - 1, stop = stop_after(end & mask);
        spans[claimed] = {open, end + ((stop - end) & mask)};
        claimed += ring[stop >> 6].seen >> (stop & 63) & 1;
    }
    count = claimed;

    for (uint64_t i = 0; i < block.words; ++i) {
        const uint64_t place = (first_word + i) & last_place;
        ring[place].seen |= block.seen[i];
        ring[place].delimited |= block.delimited[i];
        if (heap_ != nullptr && block.seen[i] != 0 && ring[place].stops() == 0)
            stop_tree::clear(tree(), word_count(), place);
    }
    pending_ += static_cast<uint32_t>(block.buffers);
    highest_ = prefix_ + window;
    if (block.first == prefix_ + 1) absorb();
    return true;
}

}  // namespace formatter
