// A block of buffers laid over the ring at once: one walk over words instead of two searches a buffer. Refuses to know
// bytes.
//
// In: a gathered block. Out: the claims its buffers complete, each once, in stream order. Or it
// declines and changes nothing.
//
// The same claims as one by one: of a span between neighbouring delimiters, all seen now, some buffer is new exactly if
// the span was not complete before. The walk looks only at delimiters that end such a span, the *hits*:
//
//      merged         # | # # | . n | n # |      | a delimiter seen before, n new here, N new with a delimiter
//      hits                       ^       ^      the first delimiter at or after a new buffer, or after a new delimiter
//      complete                   no     yes     "." is missing in the first
#include "engine/shred/shred_block.hpp"
#include "engine/shred/shred_ring.hpp"
#include "engine/shred/shred_search.hpp"
#include "engine/shred/stop_tree.hpp"

namespace formatter {

namespace {

// The delimiters of a word at or behind a new buffer, none between; `carried`: bit 0 follows a new buffer.
//
//      delimiters  0 0 0 1 0 0 1 0    lowest bit first
//      begins      0 1 0 0 0 0 0 1    adding them to ~delimiters carries through the zeros ...
//      carried to        1            ... into the delimiter behind, and stops there
inline uint64_t hits_of(uint64_t delimiters, uint64_t fresh, uint64_t carried) noexcept {
    const uint64_t begins = (fresh & ~delimiters) | (fresh & delimiters) << 1 | carried;
    return delimiters & (fresh | begins | (~delimiters + (begins & ~delimiters)));
}

}  // namespace

bool ShredRing::merge(const ShredBlock& block, SequenceSpan* spans, size_t& count) noexcept {
    if (max_sequence_ != 0 || finished_ || block.first <= prefix_) return false;
    const uint64_t window = (block.last > highest_ ? block.last : highest_) - prefix_;
    if (window > slots() && grow(window) != Status::ok) return false;
    SlotWord* const ring = words();
    const uint64_t first_word = block.first >> 6, last_place = word_count() - 1;
    for (uint64_t i = 0; i < block.word_count; ++i)
        if (ring[(first_word + i) & last_place].seen & block.words[i].seen) return false;  // found again one by one

    // The last delimiter passed; whether a buffer since then is missing, whether one is new. Not bool: arithmetic, not
    // branches, as arrival is random.
    uint64_t open, broken = 0, fresh = 0;
    const uint64_t mask = slots() - 1, first_slot = block.first & mask;
    if (block.first == prefix_ + 1) {
        open = last_delimiter_ == 0 ? 1 : last_delimiter_;
    } else {
        const uint64_t stop = stop_before(first_slot);
        open = block.first - ((first_slot - stop) & mask);
        broken = (ring[stop >> 6].seen >> (stop & 63) & 1) == 0;
    }
    // The delimiter behind the block's words, if the next stop there is one. Looked up while prefix + 1 is still
    // unseen, so that the search ends also in a full ring without a delimiter.
    const uint64_t end = ((first_word + block.word_count) << 6) - 1;
    uint64_t after_end = 0;
    if (highest_ > end) {
        const uint64_t stop = stop_after(end & mask);
        if (ring[stop >> 6].seen >> (stop & 63) & 1) after_end = end + ((stop - end) & mask);
    }
    size_t claimed = count;
    // Spans are written always and counted if complete, as in take(). Buffer 1 ends its own record.
    const auto claim = [&](uint64_t from, uint64_t to, uint64_t lacking) {
        spans[claimed] = {from, to};
        claimed += (lacking == 0) & (from != to);
    };
    // A full ring holds the end of the window in the word that holds its beginning; seen from the end, the beginning is
    // not there: what stands at and after prefix + 1 in that word is a whole round earlier.
    const uint64_t shared_word = ((prefix_ + 1) >> 6) + word_count(), earlier = ~uint64_t(0) << ((prefix_ + 1) & 63);
    uint64_t from_first = ~uint64_t(0) << (block.first & 63);
    for (uint64_t i = 0; i < block.word_count; ++i, from_first = ~uint64_t(0)) {
        const uint64_t place = (first_word + i) & last_place, base = (first_word + i) << 6;
        const uint64_t mine = first_word + i == shared_word ? ~earlier : ~uint64_t(0);
        const ShredBlock::Word arrived = block.words[i];
        SlotWord& word = ring[place];
        const uint64_t missing = ~((word.seen & mine) | arrived.seen) & from_first;
        const uint64_t delimiters = ((word.delimited & mine) | arrived.delimited) & from_first;
        if (arrived.seen != 0) {
            word.seen |= arrived.seen;
            word.delimited |= arrived.delimited;
            if (heap_ != nullptr && word.stops() == 0) stop_tree::clear(tree(), word_count(), place);
        }
        if (delimiters == 0) {
            broken |= missing != 0;
            fresh |= arrived.seen != 0;
            continue;
        }
        uint64_t hits = hits_of(delimiters, arrived.seen, fresh);
        const uint64_t lowest_delimiter = delimiters & (0 - delimiters);
        if (hits & lowest_delimiter) {
            claim(open, base + lowest(lowest_delimiter), broken | (missing & (lowest_delimiter - 1)));
            hits ^= lowest_delimiter;
        }
        for (; hits != 0; hits &= hits - 1) {
            const uint64_t at = lowest(hits), below = (uint64_t(1) << at) - 1, from = topmost(delimiters & below);
            claim(base + from, base + at, (missing & below) >> from);
        }
        const uint64_t top = topmost(delimiters);
        open = base + top;
        broken = missing >> top != 0;
        fresh = arrived.seen >> top != 0;
    }
    if (broken == 0 && fresh != 0 && after_end != 0) claim(open, after_end, 0);
    count = claimed;
    pending_ += static_cast<uint32_t>(block.buffers);
    highest_ = prefix_ + window;
    if (block.first == prefix_ + 1) absorb();
    return true;
}

}  // namespace formatter
