// A shred ring that threads may share: one lock, held for a call and never while anything else is waited for.
//
// In and out: as ShredRing. Knows no Python; callers that hold an interpreter lock try first and let go of it to wait.
#pragma once

#include <mutex>

#include "engine/shred_ring.hpp"

namespace formatter {

class LockedShredRing {
public:
    explicit LockedShredRing(uint64_t max_sequence = 0, uint64_t floor_slots = ShredRing::inline_slots) noexcept
        : ring(max_sequence, floor_slots) {}

    bool try_lock() noexcept { return mutex_.try_lock(); }
    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }

    ShredRing ring;  // touch only between lock() and unlock()

private:
    std::mutex mutex_;
};

}  // namespace formatter
