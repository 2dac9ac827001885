// A shred ring that threads may share: one lock, held for a block of buffers, never while another thing is waited for.
//
// In: buffers, as for ShredRing. Out: claims, as from ShredRing. Knows no Python; callers that hold an interpreter lock try first and let go of it to wait.
#pragma once

#include "engine/threads/patient_lock.hpp"
#include "engine/shred/shred_block.hpp"
#include "engine/shred/shred_ring.hpp"

namespace formatter {

class LockedShredRing {
  public:
    // The lock is held for so many buffers at a time. Fewer go in one by one: as a block they would cost a third, but
    // only if they lie close together, and a long record must not cost more than a short one (`python -m bench --only shredder`).
    static constexpr size_t block_buffers = 4096;
    static constexpr size_t most_buffers = size_t(1) << 20;  // strewn over a long record: a few milliseconds

    explicit LockedShredRing(uint64_t max_sequence = 0, uint64_t floor_slots = ShredRing::inline_slots) noexcept
        : ring(max_sequence, floor_slots) {}

    bool try_lock() noexcept { return mutex_.try_lock(); }
    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }

    // As ShredRing::process_many, but the claims come in no particular order and `spans` has room for 2 * count + 1.
    // Threads bring their blocks into order side by side; only laying them over the ring happens under the lock.
    ShredRing::Status process_many(const uint64_t* sequences, const uint8_t* has_delimiter, size_t count,
                                   bool skip_duplicates, SequenceSpan* spans, size_t& span_count,
                                   size_t& taken) noexcept {
        ShredBlock block;
        bool far_apart = false;
        span_count = taken = 0;
        while (taken < count) {
            const size_t left = count - taken;
            size_t share = left < block_buffers ? left : block_buffers;
            bool gathered = share == block_buffers && block.gather(sequences + taken, has_delimiter + taken, share);
            if (!gathered && !far_apart && left > share) {  // strewn over a long record: closer, the more one takes
                const size_t more = left < most_buffers ? left : most_buffers;
                gathered = block.gather(sequences + taken, has_delimiter + taken, more);
                if (gathered) share = more;
                far_apart = !gathered;
            }
            std::unique_lock<Mutex> guard(mutex_, std::defer_lock);
            take_soon(guard);
            if (gathered && ring.merge(block, spans, span_count)) {
                taken += share;
                continue;
            }
            size_t spans_here, taken_here;
            const ShredRing::Status status =
                ring.process_many(sequences + taken, has_delimiter + taken, share, skip_duplicates, spans + span_count,
                                  spans_here, taken_here);
            span_count += spans_here;
            taken += taken_here;
            if (status != ShredRing::Status::ok) return status;
        }
        return ShredRing::Status::ok;
    }

    // The same one by one, if the lock is free now. False: it is not, nothing happened.
    bool try_process_many(const uint64_t* sequences, const uint8_t* has_delimiter, size_t count, bool skip_duplicates,
                          SequenceSpan* spans, size_t& span_count, size_t& taken, ShredRing::Status& status) noexcept {
        const std::unique_lock<Mutex> guard(mutex_, std::try_to_lock);
        if (!guard.owns_lock()) return false;
        status = ring.process_many(sequences, has_delimiter, count, skip_duplicates, spans, span_count, taken);
        return true;
    }

    ShredRing ring;  // touch only between lock() and unlock()

  private:
    Mutex mutex_;
};

}  // namespace formatter
