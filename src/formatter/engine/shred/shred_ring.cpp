// The ring at work: one buffer in, at most two claims out. The window's size and the saved image stand apart.
//
// In: a position in the window. Out: its neighbours, the claims they make, the prefix moved on. Knows no
// threads.
//
// Why each record is claimed once: the claim of (p, q) needs p, q and all between to be seen, and is looked for only by
// the call that makes one of them seen. Of these calls exactly one is the last; it finds both ends, all others an
// unseen slot between. Nothing is remembered about claims, so nothing can disagree.
#include "engine/shred/shred_ring.hpp"

#include "engine/shred/shred_search.hpp"
#include "engine/shred/stop_tree.hpp"

namespace formatter {

using Status = ShredRing::Status;

uint64_t ShredRing::reach() const noexcept {
    if (max_sequence_ == 0) return max_slots;
    const uint64_t half = max_sequence_ / 2 + (max_sequence_ & 1);
    return half < max_slots ? half : max_slots;
}

// A sequence stands for the position nearest the prefix: up to half a round ahead of it, the rest behind.
Status ShredRing::position(uint64_t sequence, uint64_t& position) const noexcept {
    position = sequence;
    if (sequence == 0) return Status::zero;
    if (max_sequence_ == 0) return Status::ok;
    if (sequence > max_sequence_) return Status::out_of_range;
    const uint64_t expected = prefix_ % max_sequence_ + 1;
    const uint64_t ahead = sequence >= expected ? sequence - expected : sequence + (max_sequence_ - expected);
    if (ahead < max_sequence_ / 2 + (max_sequence_ & 1)) {
        position = prefix_ + 1 + ahead;
        return Status::ok;
    }
    const uint64_t behind = max_sequence_ - ahead;
    if (behind > prefix_) return Status::out_of_range;  // behind the very first buffer
    position = prefix_ + 1 - behind;
    return Status::ok;
}

inline bool ShredRing::seen_at(uint64_t position) const noexcept {
    if (position <= prefix_) return true;
    if (position - prefix_ > slots()) return false;
    const uint64_t slot = position & (slots() - 1);
    return words()[slot >> 6].seen >> (slot & 63) & 1;
}

// Takes all that follow the prefix without a hole into the two scalars, and frees their slots.
void ShredRing::absorb() noexcept {
    const uint64_t start = prefix_, mask = slots() - 1;
    uint64_t at = prefix_ + 1;
    while (pending_ != 0) {
        const uint64_t word = (at & mask) >> 6, bit = at & 63;
        SlotWord& pair = words()[word];
        const uint64_t unseen = ~(pair.seen >> bit);  // bits shifted in from above count as unseen, unless bit is 0
        const uint64_t run = unseen == 0 ? 64 : lowest(unseen);
        if (run == 0) break;
        const uint64_t taken = (run == 64 ? ~uint64_t(0) : (uint64_t(1) << run) - 1) << bit;
        const uint64_t delimiters = pair.delimited & taken;
        if (delimiters != 0) last_delimiter_ = at - bit + topmost(delimiters);
        const bool was_plain = pair.stops() == 0;
        pair.seen &= ~taken;
        pair.delimited &= ~taken;
        if (was_plain && heap_ != nullptr) stop_tree::set(tree(), word_count(), word);
        at += run;
        pending_ -= static_cast<uint32_t>(run);
        if (bit + run < 64) break;
    }
    prefix_ = at - 1;
    if (heap_ == nullptr || slots_log2_ == floor_log2_) return;
    // Shrink: to the floor when nothing waits; by half, once a round, while less than an eighth is in use.
    if (pending_ == 0)
        rehouse(floor_log2_);
    else if ((start ^ prefix_) >> slots_log2_ != 0 && highest_ - prefix_ < slots() / 8)
        rehouse(slots_log2_ - 1);
}

// `spans` has room for two. Both are written always and counted only if they hold: the order of arrival is random, so
// every branch saved here is a misprediction saved.
inline Status ShredRing::take(uint64_t sequence, uint64_t delimited, SequenceSpan* spans, size_t& count) noexcept {
    uint64_t at = sequence;
    if (max_sequence_ != 0 || sequence == 0) {
        const Status status = position(sequence, at);
        if (status != Status::ok) return status;
    }
    if (at <= prefix_) return Status::duplicate;
    if (finished_) return Status::finished;
    const uint64_t ahead = at - prefix_;
    if (ahead > slots()) {
        const Status status = grow(ahead);
        if (status != Status::ok) return status;
    }
    const uint64_t mask = slots() - 1, slot = at & mask;
    uint64_t before, after = at;
    uint64_t ends, begins = 0;  // a delimiter stands behind; one stands ahead
    if (ahead == 1) {
        before = last_delimiter_ == 0 ? 1 : last_delimiter_;
        ends = before != at;  // the record that buffer 1 ends is its own
        if (pending_ != 0) {
            const uint64_t stop = stop_after(slot);
            begins = words()[stop >> 6].seen >> (stop & 63) & 1;
            after = at + ((stop - slot) & mask);
        }
        if (!delimited) ends = 1;
        prefix_ = at;
        last_delimiter_ = delimited ? at : last_delimiter_;
        if (pending_ == 0)
            highest_ = at;
        else
            absorb();
    } else {
        SlotWord& pair = words()[slot >> 6];
        const uint64_t bit = uint64_t(1) << (slot & 63);
        if (pair.seen & bit) return Status::duplicate;
        const uint64_t behind = stop_before(slot), stop = stop_after(slot);
        ends = words()[behind >> 6].seen >> (behind & 63) & 1;
        begins = words()[stop >> 6].seen >> (stop & 63) & 1;
        before = at - ((slot - behind) & mask);
        after = at + ((stop - slot) & mask);
        pair.seen |= bit;
        pair.delimited |= delimited ? bit : 0;
        if (pair.stops() == 0 && heap_ != nullptr) stop_tree::clear(tree(), word_count(), slot >> 6);
        ++pending_;
        highest_ = at > highest_ ? at : highest_;
    }
    const size_t old_count = count;
    spans[count] = {before, delimited ? at : after};
    count += ends & (delimited | begins);
    spans[count] = {at, after};
    count += delimited & begins;
    if (max_sequence_ != 0)
        for (size_t i = old_count; i < count; ++i) spans[i] = {sequence_at(spans[i].first), sequence_at(spans[i].last)};
    return Status::ok;
}

Status ShredRing::process(uint64_t sequence, bool has_delimiter, Claims& claims) noexcept {
    size_t count = 0;
    const Status status = take(sequence, has_delimiter, claims.spans, count);
    claims.count = static_cast<uint32_t>(count);
    return status;
}

Status ShredRing::process_many(const uint64_t* sequences, const uint8_t* has_delimiter, size_t count,
                               bool skip_duplicates, SequenceSpan* spans, size_t& span_count, size_t& taken) noexcept {
    // Far enough ahead for a slot word to arrive from the outer caches, when a long record's ring outgrew the
    // inner.
    constexpr size_t ahead = 16;
    span_count = 0;
    for (taken = 0; taken < count; ++taken) {
        if (heap_ != nullptr && taken + ahead < count)
            __builtin_prefetch(&heap_[(sequences[taken + ahead] & (slots() - 1)) >> 6], 1);
        // `spans` needs no bounds check: at most two a buffer, and the second write of the last lands inside 2 * count
        const Status status = take(sequences[taken], has_delimiter[taken] != 0, spans, span_count);
        if (status != Status::ok && !(status == Status::duplicate && skip_duplicates)) return status;
    }
    return Status::ok;
}

Status ShredRing::finish(uint64_t last, Claims& claims) noexcept {
    claims.count = 0;
    if (finished_) return Status::finished;
    uint64_t at = 0;
    if (last != 0) {
        const Status status = position(last, at);
        if (status != Status::ok) return status;
    }
    if (highest_ > at) return Status::beyond;
    if (prefix_ < at) return Status::hole;
    finished_ = true;
    floor_log2_ = 6;
    rehouse(floor_log2_);
    if (at == 0) return Status::ok;
    claims.spans[0] = {sequence_at(last_delimiter_ == 0 ? 1 : last_delimiter_), last};
    claims.count = 1;
    return Status::ok;
}

bool ShredRing::seen(uint64_t sequence) const noexcept {
    uint64_t at;
    return position(sequence, at) == Status::ok && seen_at(at);
}

bool ShredRing::delimited(uint64_t sequence) const noexcept {
    uint64_t at;
    if (position(sequence, at) != Status::ok || at <= prefix_ || !seen_at(at)) return false;
    const uint64_t slot = at & (slots() - 1);
    return words()[slot >> 6].delimited >> (slot & 63) & 1;
}

size_t ShredRing::holes(SequenceSpan* spans, size_t room, uint64_t last) const noexcept {
    uint64_t end = highest_, asked;
    if (last != 0 && position(last, asked) == Status::ok && asked > end) end = asked;
    size_t count = 0;
    bool open = false;
    uint64_t first = 0;
    const uint64_t window_end = highest_;
    const auto close = [&](uint64_t hole_last) {
        if (count < room) spans[count] = {sequence_at(first), sequence_at(hole_last)};
        ++count;
        open = false;
    };
    for (uint64_t left = window_end - prefix_; left != 0;) {  // counted down: the last sequence may be 2^64 - 1
        const uint64_t at = window_end - left + 1, slot = at & (slots() - 1), bit = slot & 63;
        const uint64_t run = left < 64 - bit ? left : 64 - bit;
        const uint64_t bits = words()[slot >> 6].seen >> bit;
        const uint64_t changes = open ? bits : ~bits;  // where the state turns
        const uint64_t steady = changes == 0 ? 64 : lowest(changes);
        if (steady >= run) {
            left -= run;
            continue;
        }
        left -= steady;
        if (open) {
            close(at + steady - 1);
        } else {
            open = true;
            first = at + steady;
        }
    }
    if (end > window_end && !open) {
        open = true;
        first = window_end + 1;
    }
    if (open) close(end);
    return count;
}

}  // namespace formatter
