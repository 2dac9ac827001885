// In: slices by reference (an opaque pointer, a row count, a stamp) from one producer thread, and control messages.
// Out: the same to one consumer thread, in the order sent. Refuses to know: Arrow, Python, batches, what a message means.
//
//   tail_ (consumer)          head_ (producer)            overflow_ (once controls have taken their reserve too)
//     |                         |
//   --[ r r W r r r C r r ]-----[ . . . . ]--             [ W C W r W ... ]
//       `- at most `high` row slices  `- the rest of the slots is reserved for controls
//
// Each side caches the other's index and rereads it only when the cached one says full or empty, so a hand-over touches
// a shared cache line once per run of slices. Whoever sleeps raises a flag first and looks again before sleeping; the
// other side publishes first and looks at the flag after: one of the two always sees the other.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>

#include "engine/threads/synchronization.hpp"

namespace formatter {

struct Slice {
    void* payload;  // owned by whoever holds the slice; the ring never looks at it
    int64_t rows;  // 0 for controls
    int64_t bytes;  // an upper bound is enough
    int64_t enqueued_ns;  // steady clock; latency counts from here
    int32_t kind;  // 0 rows, anything else a control message
};

// Whether a thread still lives, known to others after its death. One per thread, counted, freed with its last holder.
struct ThreadLife {
    Atomic<int64_t> holders{1};
    Atomic<bool> alive{true};
};
ThreadLife* own_thread_life();  // borrowed; unique among all threads that anyone still holds the life of

// One end's owner: the first thread to use it. Readers of `is_dead` must not run beside `release` (callers hold a lock).
class EndOwner {
  public:
    ~EndOwner() { release(); }
    bool claim() {
        ThreadLife* const mine = own_thread_life();
        ThreadLife* const seen = owner_.load(std::memory_order_acquire);
        return seen == mine || (seen == nullptr && claim_first(mine));
    }
    void release();
    bool is_mine() const { return owner_.load(std::memory_order_acquire) == own_thread_life(); }
    bool is_dead() const {
        const ThreadLife* const life = owner_.load(std::memory_order_acquire);
        return life != nullptr && !life->alive.load(std::memory_order_acquire);
    }

  private:
    bool claim_first(ThreadLife* mine);
    Atomic<ThreadLife*> owner_{nullptr};
};

class SliceRing {
  public:
    // A producer waits at `high` row slices and is woken at `low`. Callers pass 1 <= high <= capacity, 0 <= low < high.
    SliceRing(int64_t high, int64_t low);
    SliceRing(const SliceRing&) = delete;
    SliceRing& operator=(const SliceRing&) = delete;

    // Producer's side.
    bool try_push(const Slice& slice);  // rows; false when full
    void push_control(const Slice& slice);  // never refused, never lost
    bool has_room();  // exact for the producer: room seen stays until it pushes
    // Sleeps until drained to the low mark, a ring of the bell after `seen_bell`, or the deadline. False: too late.
    bool wait_for_room(int64_t deadline_ns, uint64_t seen_bell);
    bool wait_for_bell(int64_t deadline_ns, uint64_t seen_bell);  // for room the ring does not know of

    // Consumer's side.
    bool try_pop(Slice* slice);
    bool is_empty();
    // Sleeps until a control, `rows` more rows, a half-full ring, a ring of the bell, or the deadline. False: too late.
    bool wait_for_slices(int64_t deadline_ns, int64_t rows, uint64_t seen_bell);

    // Anyone: wakes both sides, which then look at what the caller has changed. A waiter reads the bell, looks at what
    // others may change, and hands the bell it read to its wait: a change in between is not slept through.
    void ring_bell();
    uint64_t bell() const { return rings_.load(std::memory_order_acquire); }

  private:
    static constexpr int64_t kControlReserve =
        sized<int64_t>(64, 1);  // watermarks come at a few per batch; more than this overflow
    static constexpr int kSpins = 64;  // about a microsecond: shorter than a sleep, longer than a hand-over

    void enqueue(const Slice& slice);
    bool is_worth_waking(const Slice& slice);
    void count_popped(const Slice& slice);
    bool is_drained() const;
    bool move_overflow();
    void wake_consumer();

    const int64_t high_, low_, slots_, wake_slices_;
    const std::unique_ptr<Slice[]> ring_;

    alignas(64) Atomic<int64_t> head_{0};  // written by the producer
    int64_t cached_tail_ = 0, cached_popped_ = 0, slices_pushed_ = 0, rows_pushed_ = 0;

    alignas(64) Atomic<int64_t> tail_{0};  // written by the consumer
    Atomic<int64_t> slices_popped_{0};
    int64_t cached_head_ = 0, rows_popped_ = 0;

    alignas(64) Atomic<bool> consumer_sleeps_{false};
    Atomic<bool> producer_sleeps_{false};
    Atomic<int64_t> wake_at_rows_{0};  // by count of all rows ever pushed
    Atomic<int64_t> wake_at_slices_{0};  // by count of all row slices ever popped
    Atomic<uint64_t> rings_{0};
    Atomic<int64_t> overflow_count_{0};
    Mutex mutex_;  // sleep, wake and overflow: never on the path of a hand-over
    Condition consumer_bell_, producer_bell_;
    std::deque<Slice> overflow_;
    uint64_t wakes_ = 0;  // of the consumer by the producer
};

}  // namespace formatter
