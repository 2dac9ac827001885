// Which buffers of one origin have been seen, and which spanning record the next one completes.
//
// In: (sequence, has_delimiter) of one buffer at a time, in any order. Out: claims, the spans of sequences whose record
// is now complete; each comes out of exactly one call. Knows no bytes, no fragments, no origin, no lock: whoever shares
// a ring between threads holds its own (see locked_shred_ring.hpp).
//
// Everything up to the prefix is two scalars; only what came too early has slots, two bits each (seen, has_delimiter):
//
//      1 2 3 4 5 6 7 8 9
//      `--+--' . # . # #      seen             prefix 4: buffers 1..4 are complete and need no slot
//         |    . | . . |      has_delimiter    the last delimiter among them (say 3) is the second scalar
//       prefix ^ slot of prefix + 1 is always unseen, so every search ends
//
// A *stop* is a slot that is unseen or has a delimiter. A buffer's neighbours are its nearest stops; a stop that was
// seen is a delimiter, and a record lies between two of those. Words of 64 slots, with a tree of "has a stop" bits
// above them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace formatter {

class ShredBlock;

struct SequenceSpan {
    uint64_t first;
    uint64_t last;
};

// In stream order: the record that ends in this buffer or bridges it, then the record that begins in it.
struct Claims {
    uint32_t count;
    SequenceSpan spans[2];
};

class ShredRing {
  public:
    enum class Status : uint8_t {
        ok,
        duplicate,  // this sequence was seen before
        zero,  // sequences count from 1
        out_of_range,  // beyond max_sequence, never part of the stream, or further ahead than max_slots
        finished,  // finish() was called; only duplicates are still recognised
        no_memory,  // the window could not grow; nothing changed
        hole,  // finish(): a sequence up to the last one is missing
        beyond,  // finish(): a later sequence was seen already
    };

    enum class RestoreStatus : uint8_t { ok, truncated, not_a_snapshot, wrong_version, corrupt, no_memory };

    static constexpr uint64_t inline_slots = 64;  // kept in the object; no heap up to here
    static constexpr uint64_t max_slots = uint64_t(1) << 26;  // 67,108,864 sequences ahead of the prefix, 17 MB

    // `max_sequence` 0: no wrap. Otherwise sequence 1 follows it. The window never shrinks below `floor_slots` (rounded
    // up to a power of two); memory for it is taken at once, and if there is none the ring starts with the inline
    // slots.
    explicit ShredRing(uint64_t max_sequence = 0, uint64_t floor_slots = inline_slots) noexcept;
    ~ShredRing() noexcept;
    ShredRing(ShredRing&& other) noexcept;
    ShredRing& operator=(ShredRing&& other) noexcept;
    ShredRing(const ShredRing&) = delete;
    ShredRing& operator=(const ShredRing&) = delete;

    // One buffer. Unless the answer is ok nothing changed and `claims` is empty.
    Status process(uint64_t sequence, bool has_delimiter, Claims& claims) noexcept;

    // Many buffers; `spans` has room for 2 * count. Stops at the first answer that is not ok (a duplicate is passed
    // over if `skip_duplicates`): `taken` buffers before it are processed, their claims stand in `spans`.
    Status process_many(const uint64_t* sequences, const uint8_t* has_delimiter, size_t count, bool skip_duplicates,
                        SequenceSpan* spans, size_t& span_count, size_t& taken) noexcept;

    // A whole block at once; `spans` has room for 2 * block.buffers + 1 after `count`. False, and nothing changed, if
    // it must be taken one by one: a buffer seen before, a wrapping or finished ring, a window at its largest.
    bool merge(const ShredBlock& block, SequenceSpan* spans, size_t& count) noexcept;

    // The stream ended with buffer `last` (0: it had none). Claims what stands after the last delimiter: (last buffer
    // with a delimiter, or 1, last), also when both are the same buffer. Afterwards new sequences are refused.
    Status finish(uint64_t last, Claims& claims) noexcept;

    uint64_t prefix() const noexcept { return sequence_at(prefix_); }  // every sequence up to it was seen; 0: none yet
    uint64_t highest() const noexcept { return sequence_at(highest_); }  // the latest sequence seen
    uint64_t last_delimiter() const noexcept { return sequence_at(last_delimiter_); }  // latest in the prefix; 0: none
    bool seen(uint64_t sequence) const noexcept;
    bool delimited(uint64_t sequence) const noexcept;  // false too for buffers in the prefix, whose bits are gone
    bool finished() const noexcept { return finished_; }
    uint64_t max_sequence() const noexcept { return max_sequence_; }

    // Positions count from 1 and never wrap: position 1 + k * max_sequence is the k-th reuse of sequence 1.
    uint64_t prefix_position() const noexcept { return prefix_; }
    uint64_t highest_position() const noexcept { return highest_; }
    Status position(uint64_t sequence, uint64_t& position) const noexcept;  // ok, zero or out_of_range
    uint64_t sequence_at(uint64_t position) const noexcept {
        return max_sequence_ == 0 || position == 0 ? position : (position - 1) % max_sequence_ + 1;
    }

    // Runs of unseen sequences between the prefix and the highest seen one, or up to `last` if that is later (0: not
    // given). Writes at most `room` of them, first ones first; returns how many there are.
    size_t holes(SequenceSpan* spans, size_t room, uint64_t last = 0) const noexcept;

    uint64_t reach() const noexcept;  // how many sequences from prefix + 1 on count as ahead and may wait
    uint64_t pending() const noexcept { return pending_; }  // seen, beyond the prefix
    uint64_t slots() const noexcept { return uint64_t(1) << slots_log2_; }
    size_t heap_bytes() const noexcept;

    // A versioned, checksummed image; `owner_byte` is the caller's and comes back from restore.
    size_t serialized_size() const noexcept;
    void serialize(uint8_t* out, uint8_t owner_byte = 0) const noexcept;
    static RestoreStatus restore(const uint8_t* bytes, size_t byte_count, ShredRing& ring,
                                 uint8_t* owner_byte = nullptr) noexcept;

  private:
    struct SlotWord {
        uint64_t seen;
        uint64_t delimited;
        uint64_t stops() const noexcept { return ~seen | delimited; }
    };

    Status take(uint64_t sequence, uint64_t delimited, SequenceSpan* spans, size_t& count) noexcept;
    void absorb() noexcept;
    Status grow(uint64_t slots_needed) noexcept;
    bool rehouse(uint8_t slots_log2) noexcept;
    void forget() noexcept;

    bool seen_at(uint64_t position) const noexcept;
    SlotWord* words() noexcept { return heap_ ? heap_ : &inline_word_; }
    const SlotWord* words() const noexcept { return heap_ ? heap_ : &inline_word_; }
    uint64_t word_count() const noexcept { return slots() >> 6; }
    uint64_t* tree() const noexcept { return reinterpret_cast<uint64_t*>(heap_ + word_count()); }

    uint64_t stop_before(uint64_t slot) const noexcept;
    uint64_t stop_after(uint64_t slot) const noexcept;

    uint64_t max_sequence_;
    uint64_t prefix_;  // positions, not wrapped
    uint64_t last_delimiter_;
    uint64_t highest_;
    SlotWord* heap_;  // slot words, then the tree of stop bits; null: inline_word_ is the whole ring
    SlotWord inline_word_;
    uint32_t pending_;
    uint8_t slots_log2_;
    uint8_t floor_log2_;
    bool finished_;
};

static_assert(sizeof(ShredRing) <= 96, "a million idle origins must fit");

}  // namespace formatter
