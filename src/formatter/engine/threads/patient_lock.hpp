// Taking a lock that is held for microseconds. In: a lock. Out: the lock, held. Knows nothing of what it guards.
//
// A thread that sleeps for a lock is woken tens of microseconds later, which is as long as a buffer takes to parse: so
// it looks again a few hundred times first. The bound keeps it from waiting like that for a thread that was suspended.
#pragma once

#include "engine/threads/synchronization.hpp"

namespace formatter {

inline void take_soon(std::unique_lock<Mutex>& guard) {
    constexpr int most = 400;  // about 10 microseconds
    for (int i = 0; i < looks(most); i++) {
        if (guard.try_lock()) return;
        pause_a_little();
    }
    guard.lock();
}

}  // namespace formatter
