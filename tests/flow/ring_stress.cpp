// In: argv = slices, capacity. Out: exit 0 when two threads handed every slice and control over, in order, under random
// stalls, through full rings and overflowing controls. Built with a race detector by the test beside it.
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "engine/flow/slice_ring.hpp"

using formatter::Slice;
using formatter::SliceRing;

namespace {

constexpr int64_t kSecond = 1000000000;

struct Dice {
    uint64_t state;
    uint64_t roll(uint64_t sides) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return (state >> 33) % sides;
    }
};

void stall(Dice& dice) {
    if (dice.roll(4096) == 0) std::this_thread::sleep_for(std::chrono::microseconds(dice.roll(300)));
}

Slice numbered(int64_t number, int32_t kind) {
    return Slice{reinterpret_cast<void*>(number), kind == 0 ? 1 + number % 3 : 0, 8, 0, kind};
}

}  // namespace

int main(int argc, char** argv) {
    const int64_t slices = argc > 1 ? std::atoll(argv[1]) : 100000;
    const int64_t capacity = argc > 2 ? std::atoll(argv[2]) : 8;
    SliceRing ring(capacity, capacity / 2);
    int64_t waits = 0;
    std::thread producer([&] {
        Dice dice{7};
        for (int64_t number = 1; number <= slices; ++number) {
            const bool burst = dice.roll(1000) == 0;
            if (burst || dice.roll(10) == 0) {
                for (int64_t last = burst ? number + 200 : number; number < last && number < slices; ++number)
                    ring.push_control(numbered(number, 1));  // more in a row than the ring reserves
                ring.push_control(numbered(number, number == slices ? 9 : 1));
                continue;
            }
            const Slice slice = numbered(number, number == slices ? 9 : 0);
            if (slice.kind == 9) {
                ring.push_control(slice);
                continue;
            }
            for (uint64_t bell = ring.bell(); !ring.try_push(slice); bell = ring.bell(), ++waits)
                ring.wait_for_room(formatter::steady_now_ns() + kSecond, bell);
            stall(dice);
        }
    });
    Dice dice{11};
    int64_t expected = 1;
    Slice slice{};
    for (bool ended = false; !ended;) {
        const uint64_t bell = ring.bell();
        while (!ended && ring.try_pop(&slice)) {
            if (reinterpret_cast<int64_t>(slice.payload) != expected++) {
                std::printf("expected %lld, found %lld\n", static_cast<long long>(expected - 1),
                            static_cast<long long>(reinterpret_cast<int64_t>(slice.payload)));
                std::exit(1);
            }
            ended = slice.kind == 9;
            stall(dice);
        }
        if (!ended) ring.wait_for_slices(formatter::steady_now_ns() + kSecond / 50, 1 + dice.roll(40), bell);
    }
    producer.join();
    std::printf("%lld slices, %lld waits\n", static_cast<long long>(expected - 1), static_cast<long long>(waits));
    return expected == slices + 1 ? 0 : 1;
}
