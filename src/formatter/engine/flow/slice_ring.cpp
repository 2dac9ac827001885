// In: calls of one producer and one consumer thread. Out: see the header. Refuses to know what a slice holds.
#include "engine/flow/slice_ring.hpp"

#include <chrono>

namespace formatter {

namespace {

int64_t power_of_two_from(int64_t least) {
    int64_t slots = 1;
    while (slots < least) slots *= 2;
    return slots;
}

void drop(ThreadLife* life) {
    if (life->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete life;
}

// Its destructor is how a thread's death becomes known, whatever started the thread and however it ended.
struct OwnLife {
    ThreadLife* life = new ThreadLife;
    ~OwnLife() {
        life->alive.store(false, std::memory_order_release);
        drop(life);
    }
};

Clock::time_point time_of(int64_t ns) { return Clock::time_point(std::chrono::nanoseconds(ns)); }

}  // namespace

ThreadLife* own_thread_life() {
    thread_local OwnLife own;
    return own.life;
}

bool EndOwner::claim_first(ThreadLife* mine) {
    ThreadLife* none = nullptr;
    mine->holders.fetch_add(1, std::memory_order_relaxed);
    if (owner_.compare_exchange_strong(none, mine, std::memory_order_acq_rel)) return true;
    drop(mine);
    return false;
}

void EndOwner::release() {
    ThreadLife* const life = owner_.exchange(nullptr, std::memory_order_acq_rel);
    if (life != nullptr) drop(life);
}

SliceRing::SliceRing(int64_t high, int64_t low)
    : high_(high),
      low_(low),
      slots_(power_of_two_from(high + kControlReserve)),
      wake_slices_(high - high / 2),
      ring_(new Slice[static_cast<size_t>(slots_)]) {}

bool SliceRing::has_room() {
    if (slices_pushed_ - cached_popped_ < high_) return true;
    cached_popped_ = slices_popped_.load(std::memory_order_acquire);
    return slices_pushed_ - cached_popped_ < high_;
}

bool SliceRing::try_push(const Slice& slice) {
    if (!has_room()) {
        wake_consumer();
        return false;
    }
    ++slices_pushed_;
    rows_pushed_ += slice.rows;
    enqueue(slice);
    return true;
}

void SliceRing::push_control(const Slice& slice) { enqueue(slice); }

void SliceRing::enqueue(const Slice& slice) {
    if (overflow_count_.load(std::memory_order_relaxed) == 0 || move_overflow()) {
        const int64_t head = head_.load(std::memory_order_relaxed);
        if (head - cached_tail_ >= slots_) cached_tail_ = tail_.load(std::memory_order_acquire);
        if (head - cached_tail_ < slots_) {
            ring_[head & (slots_ - 1)] = slice;
            head_.store(head + 1, std::memory_order_seq_cst);  // pairs with the flag in wait_for_slices
            if (consumer_sleeps_.load(std::memory_order_seq_cst) && is_worth_waking(slice)) wake_consumer();
            return;
        }
    }
    std::lock_guard<Mutex> lock(mutex_);
    overflow_.push_back(slice);
    overflow_count_.fetch_add(1, std::memory_order_seq_cst);
    ++wakes_;
    consumer_bell_.notify_one();
}

bool SliceRing::is_worth_waking(const Slice& slice) {
    if (slice.kind != 0 || rows_pushed_ >= wake_at_rows_.load(std::memory_order_relaxed)) return true;
    if (slices_pushed_ - cached_popped_ < wake_slices_) return false;
    cached_popped_ = slices_popped_.load(std::memory_order_acquire);
    return slices_pushed_ - cached_popped_ >= wake_slices_;
}

// Moves overflowed slices into free slots, oldest first. True when none is left, so that newer slices may follow.
bool SliceRing::move_overflow() {
    std::lock_guard<Mutex> lock(mutex_);
    cached_tail_ = tail_.load(std::memory_order_acquire);
    int64_t head = head_.load(std::memory_order_relaxed);
    while (!overflow_.empty() && head - cached_tail_ < slots_) {
        ring_[head & (slots_ - 1)] = overflow_.front();
        overflow_.pop_front();
        head_.store(++head, std::memory_order_seq_cst);
        overflow_count_.fetch_sub(1, std::memory_order_seq_cst);
    }
    return overflow_.empty();
}

bool SliceRing::try_pop(Slice* slice) {
    const int64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail == cached_head_) {
        cached_head_ = head_.load(std::memory_order_acquire);
        if (tail == cached_head_) {
            if (overflow_count_.load(std::memory_order_acquire) == 0) return false;
            std::lock_guard<Mutex> lock(mutex_);
            cached_head_ = head_.load(std::memory_order_acquire);  // overflow may just have moved into the ring
            if (tail == cached_head_) {
                if (overflow_.empty()) return false;
                *slice = overflow_.front();
                overflow_.pop_front();
                overflow_count_.fetch_sub(1, std::memory_order_seq_cst);
                count_popped(*slice);
                if (producer_sleeps_.load(std::memory_order_seq_cst)) producer_bell_.notify_one();
                return true;
            }
        }
    }
    *slice = ring_[tail & (slots_ - 1)];
    tail_.store(tail + 1, std::memory_order_release);
    count_popped(*slice);
    if (producer_sleeps_.load(std::memory_order_seq_cst) && is_drained()) {
        std::lock_guard<Mutex> lock(mutex_);
        producer_bell_.notify_one();
    }
    return true;
}

void SliceRing::count_popped(const Slice& slice) {
    if (slice.kind != 0) return;
    rows_popped_ += slice.rows;
    // Sequentially consistent: pairs with the flag in wait_for_room.
    slices_popped_.store(slices_popped_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
}

bool SliceRing::is_empty() {
    return head_.load(std::memory_order_seq_cst) == tail_.load(std::memory_order_relaxed) &&
           overflow_count_.load(std::memory_order_seq_cst) == 0;
}

bool SliceRing::wait_for_slices(int64_t deadline_ns, int64_t rows, uint64_t seen_bell) {
    for (int spin = 0; spin < looks(kSpins); ++spin) {
        if (!is_empty()) return true;
        pause_a_little();
    }
    std::unique_lock<Mutex> lock(mutex_);
    wake_at_rows_.store(rows_popped_ + rows, std::memory_order_relaxed);
    consumer_sleeps_.store(true, std::memory_order_seq_cst);
    const uint64_t wakes = wakes_;
    // Looked at once after the flag is up; from here on the producer rings when enough has come.
    const bool woken = !is_empty() || consumer_bell_.wait_until(lock, time_of(deadline_ns), [&] {
        return wakes_ != wakes || rings_.load(std::memory_order_relaxed) != seen_bell;
    });
    consumer_sleeps_.store(false, std::memory_order_relaxed);
    return woken;
}

bool SliceRing::is_drained() const {
    return slices_popped_.load(std::memory_order_seq_cst) >= wake_at_slices_.load(std::memory_order_relaxed);
}

bool SliceRing::wait_for_room(int64_t deadline_ns, uint64_t seen_bell) {
    wake_at_slices_.store(slices_pushed_ - low_, std::memory_order_relaxed);
    for (int spin = 0; spin < looks(kSpins); ++spin) {
        if (is_drained()) return true;
        pause_a_little();
    }
    std::unique_lock<Mutex> lock(mutex_);
    producer_sleeps_.store(true, std::memory_order_seq_cst);
    const bool drained = producer_bell_.wait_until(lock, time_of(deadline_ns), [&] {
        return rings_.load(std::memory_order_relaxed) != seen_bell || is_drained();
    });
    producer_sleeps_.store(false, std::memory_order_relaxed);
    return drained;
}

bool SliceRing::wait_for_bell(int64_t deadline_ns, uint64_t seen_bell) {
    std::unique_lock<Mutex> lock(mutex_);
    return producer_bell_.wait_until(lock, time_of(deadline_ns),
                                     [&] { return rings_.load(std::memory_order_relaxed) != seen_bell; });
}

void SliceRing::wake_consumer() {
    if (!consumer_sleeps_.load(std::memory_order_seq_cst)) return;
    std::lock_guard<Mutex> lock(mutex_);
    ++wakes_;
    consumer_bell_.notify_one();
}

void SliceRing::ring_bell() {
    std::lock_guard<Mutex> lock(mutex_);
    rings_.fetch_add(1, std::memory_order_release);
    consumer_bell_.notify_one();
    producer_bell_.notify_one();
}

}  // namespace formatter
