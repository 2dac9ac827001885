// What threads meet by: locks, conditions, atomics, the clock, and how one is started. In: nothing. Out: those of the system.
// Refuses to know who meets.
//
// A test build puts others in their place, of which a seed decides every step (tests/schedules). So the rooms whose threads
// meet use these and no others, and sizes by which they choose their ways are asked for here: there a few bytes take each.
#pragma once

#ifdef FORMATTER_SCHEDULED
#include <scheduled_threads.hpp>
#else
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace formatter {

using Mutex = std::mutex;
using Condition = std::condition_variable;
template <typename T>
using Atomic = std::atomic<T>;
using Clock = std::chrono::steady_clock;

// `in_schedules`: what takes its place there.
template <typename T>
constexpr T sized(T usual, T in_schedules) {
    (void)in_schedules;
    return usual;
}

// How often a thread looks for what it waits for before it sleeps.
constexpr int looks(int usual) { return usual; }

inline void pause_a_little() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// False if the system has no more. Nobody waits for its end.
inline bool start_thread(void* (*work)(void*), void* argument) {
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    const bool started = pthread_create(&thread, &detached, work, argument) == 0;
    pthread_attr_destroy(&detached);
    return started;
}

}  // namespace formatter
#endif

namespace formatter {

inline int64_t steady_now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

}  // namespace formatter
