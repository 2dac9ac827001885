// A shred ring that threads may share: one lock, held for a block of buffers and never while anything else is waited for.
//
// In and out: as ShredRing. Knows no Python; callers that hold an interpreter lock try first and let go of it to wait.
#pragma once

#include <mutex>

#include "engine/shred_block.hpp"
#include "engine/shred_ring.hpp"

namespace formatter {

class LockedShredRing {
public:
    explicit LockedShredRing(uint64_t max_sequence = 0, uint64_t floor_slots = ShredRing::inline_slots) noexcept
        : ring(max_sequence, floor_slots) {}

    bool try_lock() noexcept { return mutex_.try_lock(); }
    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }

    // As ShredRing::process_many, but the claims come in no particular order and `spans` has room for 2 * count + 1. Threads
    // bring their blocks into order side by side; only laying them over the ring happens under the lock.
    ShredRing::Status process_many(const uint64_t* sequences, const uint8_t* has_delimiter, size_t count,
                                   bool skip_duplicates, SequenceSpan* spans, size_t& span_count,
                                   size_t& taken) noexcept {
        ShredBlock block;
        span_count = taken = 0;
        while (taken < count) {
            const size_t share = block_size(count - taken);
            const bool gathered = block.gather(sequences + taken, has_delimiter + taken, share);
            const std::lock_guard<std::mutex> guard(mutex_);
            const ShredRing::Status status =
                take(gathered ? &block : nullptr, sequences, has_delimiter, share, skip_duplicates, spans, span_count, taken);
            if (status != ShredRing::Status::ok) return status;
        }
        return ShredRing::Status::ok;
    }

    // The same for at most ShredBlock::max_buffers, if the lock is free now. False: it is not, nothing happened.
    bool try_process_many(const uint64_t* sequences, const uint8_t* has_delimiter, size_t count, bool skip_duplicates,
                          SequenceSpan* spans, size_t& span_count, size_t& taken, ShredRing::Status& status) noexcept {
        ShredBlock block;
        const bool gathered = block.gather(sequences, has_delimiter, count);
        const std::unique_lock<std::mutex> guard(mutex_, std::try_to_lock);
        if (!guard.owns_lock()) return false;
        span_count = taken = 0;
        status = take(gathered ? &block : nullptr, sequences, has_delimiter, count, skip_duplicates, spans, span_count, taken);
        return true;
    }

    ShredRing ring;  // touch only between lock() and unlock()

private:
    static size_t block_size(size_t left) noexcept { return left < ShredBlock::max_buffers ? left : ShredBlock::max_buffers; }

    ShredRing::Status take(const ShredBlock* block, const uint64_t* sequences, const uint8_t* has_delimiter, size_t count,
                           bool skip_duplicates, SequenceSpan* spans, size_t& span_count, size_t& taken) noexcept {
        if (block != nullptr && ring.merge(*block, spans, span_count)) {
            taken += count;
            return ShredRing::Status::ok;
        }
        size_t more_spans, more_taken;
        const ShredRing::Status status = ring.process_many(sequences + taken, has_delimiter + taken, count, skip_duplicates,
                                                           spans + span_count, more_spans, more_taken);
        span_count += more_spans;
        taken += more_taken;
        return status;
    }

    std::mutex mutex_;
};

}  // namespace formatter
