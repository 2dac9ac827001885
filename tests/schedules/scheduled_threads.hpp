// Locks, conditions, atomics and a clock whose every step is decided by a scheduler. In: calls, as of the system's own. Out: the
// same, one at a time, in an order that a test chooses. Refuses to know who calls, and why.
//
// Before each step the thread that takes it says which object it touches, and the scheduler decides who is next. A store that
// is not sequentially consistent lingers in its thread's own buffer, as on x86: it lands when the scheduler says so, in order.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <type_traits>
#include <utility>

#include <atomic>

namespace formatter {

namespace scheduled {

struct Cell {  // what threads see of an atomic
    uint64_t value = 0;
};

// Returns when it is this thread's turn. `fenced`: all its stores have landed by then.
void step(const void* object, bool writes, bool fenced, const void* second = nullptr);
uint64_t load(const Cell*);  // its own store if one lingers, else what all see
void store(Cell*, uint64_t value);  // which lingers
void forget(const Cell*);  // it is gone
void acquire(const void* lock, const bool* taken);  // returns when it is this thread's turn and the lock is free
// Sleeps until it is notified, or the deadline if there is one. True: notified, or for no reason.
bool sleep(const void* condition, int64_t deadline_ns);
void notify(const void* condition, bool all);
void pause();
int looks_most();
int64_t now_ns();
bool start(void* (*work)(void*), void* argument);

constexpr int64_t no_deadline = INT64_MAX;

}  // namespace scheduled

class Mutex {
  public:
    Mutex() = default;
    Mutex(const Mutex&) = delete;
    void lock() {
        scheduled::acquire(this, &taken_);
        taken_ = true;
    }
    bool try_lock() {
        scheduled::step(this, true, true);
        return !std::exchange(taken_, true);
    }
    void unlock() {
        scheduled::step(this, true, true);
        taken_ = false;
    }

  private:
    friend class Condition;
    bool taken_ = false;
};

struct Clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<Clock>;
    static constexpr bool is_steady = true;
    static time_point now() { return time_point(duration(scheduled::now_ns())); }
};

class Condition {
  public:
    using Lock = std::unique_lock<Mutex>;
    Condition() = default;
    Condition(const Condition&) = delete;
    void notify_one() { scheduled::notify(this, false); }
    void notify_all() { scheduled::notify(this, true); }
    void wait(Lock& lock) { sleep(lock, scheduled::no_deadline); }
    template <typename Ready>
    void wait(Lock& lock, Ready ready) {
        while (!ready()) wait(lock);
    }
    template <typename Ready>
    bool wait_until(Lock& lock, Clock::time_point deadline, Ready ready) {
        while (!ready())
            if (!sleep(lock, deadline.time_since_epoch().count())) return ready();
        return true;
    }
    template <typename Ready>
    bool wait_for(Lock& lock, std::chrono::nanoseconds most, Ready ready) {
        return wait_until(lock, Clock::now() + most, ready);
    }

  private:
    bool sleep(Lock& lock, int64_t deadline) {
        scheduled::step(this, true, true, lock.mutex());
        lock.mutex()->taken_ = false;  // in one step with falling asleep
        const bool notified = scheduled::sleep(this, deadline);
        scheduled::acquire(lock.mutex(), &lock.mutex()->taken_);
        lock.mutex()->taken_ = true;
        return notified;
    }
};

template <typename T>
class Atomic {
    static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= sizeof(uint64_t), "fits a cell");

  public:
    Atomic() = default;
    constexpr Atomic(T value) { cell_.value = bits(value); }
    Atomic(const Atomic&) = delete;
    ~Atomic() { scheduled::forget(&cell_); }

    T load(std::memory_order = std::memory_order_seq_cst) const {
        scheduled::step(&cell_, false, false);
        return value(scheduled::load(&cell_));
    }
    void store(T to, std::memory_order order = std::memory_order_seq_cst) {
        const bool fenced = order == std::memory_order_seq_cst;
        scheduled::step(&cell_, fenced, fenced);
        if (fenced)
            cell_.value = bits(to);
        else
            scheduled::store(&cell_, bits(to));
    }
    T exchange(T to, std::memory_order = std::memory_order_seq_cst) {
        return change([to](T) { return to; });
    }
    T fetch_add(T more, std::memory_order = std::memory_order_seq_cst) {
        return change([more](T old) { return T(old + more); });
    }
    T fetch_sub(T less, std::memory_order = std::memory_order_seq_cst) {
        return change([less](T old) { return T(old - less); });
    }
    bool compare_exchange_strong(T& expected, T to, std::memory_order = std::memory_order_seq_cst) {
        const T before = expected;
        expected = change([before, to](T old) { return old == before ? to : old; });
        return expected == before;
    }
    bool compare_exchange_weak(T& expected, T to, std::memory_order order = std::memory_order_seq_cst) {
        return compare_exchange_strong(expected, to, order);
    }
    operator T() const { return load(); }
    T operator=(T to) {
        store(to);
        return to;
    }
    T operator+=(T more) { return T(fetch_add(more) + more); }
    T operator-=(T less) { return T(fetch_sub(less) - less); }
    T operator--(int) { return fetch_sub(1); }
    T operator--() { return *this -= 1; }
    T operator++(int) { return fetch_add(1); }

  private:
    static uint64_t bits(T value) {
        uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof value);
        return bits;
    }
    static T value(uint64_t bits) {
        T value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }
    template <typename Change>
    T change(Change to) {
        scheduled::step(&cell_, true, true);
        const T old = value(cell_.value);
        cell_.value = bits(to(old));
        return old;
    }

    scheduled::Cell cell_;
};

template <typename T>
constexpr T sized(T, T in_schedules) {
    return in_schedules;
}
inline int looks(int) { return scheduled::looks_most(); }
inline void pause_a_little() { scheduled::pause(); }
inline bool start_thread(void* (*work)(void*), void* argument) { return scheduled::start(work, argument); }

}  // namespace formatter
