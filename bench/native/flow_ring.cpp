// In: argv = hand-overs, capacity. Out: name and nanoseconds, a line each: same-thread push and pop, hand-over between two
// threads, capacity check. Every hand-over is checked for order before its time is printed.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "engine/flow/slice_ring.hpp"

using formatter::Slice;
using formatter::SliceRing;

namespace {

constexpr int64_t kSecond = 1000000000;

double per_item(int64_t begin, int64_t items) { return double(formatter::steady_now_ns() - begin) / double(items); }

void must(bool held) {
    if (held) return;
    std::puts("out of order");
    std::exit(1);
}

double same_thread(int64_t items, int64_t capacity) {
    SliceRing ring(capacity, capacity / 2);
    Slice slice{nullptr, 1024, 102400, 0, 0};
    const int64_t begin = formatter::steady_now_ns();
    for (int64_t number = 0; number < items; ++number) {
        slice.payload = reinterpret_cast<void*>(number);
        ring.try_push(slice);
        ring.try_pop(&slice);
        must(slice.payload == reinterpret_cast<void*>(number));
    }
    return per_item(begin, items);
}

double two_threads(int64_t items, int64_t capacity) {
    SliceRing ring(capacity, capacity / 2);
    const int64_t begin = formatter::steady_now_ns();
    std::thread producer([&] {
        Slice slice{nullptr, 1024, 102400, 0, 0};
        for (int64_t number = 0; number < items; ++number) {
            slice.payload = reinterpret_cast<void*>(number);
            for (uint64_t bell = ring.bell(); !ring.try_push(slice); bell = ring.bell())
                ring.wait_for_room(formatter::steady_now_ns() + kSecond, bell);
        }
    });
    Slice slice{};
    for (int64_t number = 0; number < items;) {
        const uint64_t bell = ring.bell();
        while (ring.try_pop(&slice)) must(slice.payload == reinterpret_cast<void*>(number++));
        if (number < items) ring.wait_for_slices(formatter::steady_now_ns() + kSecond / 100, capacity / 2 * 1024, bell);
    }
    producer.join();
    return per_item(begin, items);
}

double capacity_check(int64_t items, int64_t capacity) {
    SliceRing ring(capacity, capacity / 2);
    int64_t room = 0;
    const int64_t begin = formatter::steady_now_ns();
    for (int64_t number = 0; number < items; ++number) {
        room += ring.has_room();
        asm volatile("" ::: "memory");  // or the loop is hoisted away
    }
    must(room == items);
    return per_item(begin, items);
}

}  // namespace

int main(int argc, char** argv) {
    const int64_t items = argc > 1 ? std::atoll(argv[1]) : 5000000;
    const int64_t capacity = argc > 2 ? std::atoll(argv[2]) : 1024;
    std::printf("push_and_pop_one_thread %.1f\n", same_thread(items, capacity));
    std::printf("hand_over_two_threads %.1f\n", two_threads(items, capacity));
    std::printf("capacity_check %.1f\n", capacity_check(items, capacity));
    return 0;
}
