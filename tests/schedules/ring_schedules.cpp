// Slices from one thread to another through a SliceRing. In: a seed, or each way in turn. Out: what was sent has come, in order,
// once, and nobody sleeps for ever. Refuses to know what a slice holds.
#include <memory>
#include <new>

#include "choosers.hpp"
#include "engine/flow/slice_ring.hpp"
#include "schedules.hpp"

using formatter::Slice;
using formatter::SliceRing;

namespace scheduled_tests {
namespace {

constexpr int64_t never = INT64_MAX;

struct Case {
    int64_t high, low;
    const char* sent;  // r: a slice of one row, R: of five, c: a control
    int64_t awaited;  // rows that the consumer wants to be woken for
    bool rings;  // a third thread rings the bell, and both stop when they see it
    bool hurried;  // waits end at a deadline, some thread's patience
};

constexpr Case cases[] = {
    {1, 0, "r", 1, false, false},   {1, 0, "c", 1, false, false},  {1, 0, "rr", 1, false, false},
    {2, 1, "rr", 1, false, false},  {2, 0, "rr", 2, false, false}, {1, 0, "rc", 1, false, false},
    {1, 0, "cr", 1, false, false},  {1, 0, "cc", 1, false, false}, {2, 1, "rc", 9, false, false},
    {1, 0, "ccc", 1, false, false}, {1, 0, "Rc", 9, false, false}, {2, 0, "r", 1, true, false},
    {1, 0, "r", 1, false, true},    {1, 0, "", 1, true, false},    {1, 0, "rrr", 1, false, false},
    {2, 1, "ccr", 1, false, false},
};

struct HandOver {
    const Case& chosen;
    SliceRing ring;
    uint64_t received = 0;
    bool stopped = false;  // by whoever rings; looked at behind the bell only
    formatter::Atomic<bool> stop{false};

    explicit HandOver(const Case& chosen) : chosen(chosen), ring(chosen.high, chosen.low) {}

    Slice slice(uint64_t number) const {
        const char kind = chosen.sent[number];
        Slice made{};
        made.payload = reinterpret_cast<void*>(number + 1);
        made.rows = kind == 'r' ? 1 : kind == 'R' ? 5 : 0;
        made.kind = kind == 'c';
        return made;
    }

    int64_t patience(unsigned* left) const {
        if (!chosen.hurried || *left == 0) return never;
        --*left;
        return formatter::steady_now_ns() + 1000;
    }

    void produce() {
        unsigned patience_left = 2;
        for (uint64_t number = 0; chosen.sent[number]; number++) {
            const Slice made = slice(number);
            if (made.kind) {
                ring.push_control(made);
                continue;
            }
            for (;;) {
                const uint64_t bell = ring.bell();
                if (stop.load()) return;
                if (ring.try_push(made)) break;
                ring.wait_for_room(patience(&patience_left), bell);
            }
        }
    }

    void consume() {
        unsigned patience_left = 2;
        while (chosen.rings || chosen.sent[received]) {
            const uint64_t bell = ring.bell();
            if (stop.load()) break;
            Slice got{};
            if (ring.try_pop(&got)) {
                take(got);
            } else {
                const bool last_rows = !chosen.sent[received] || !chosen.sent[received + 1];
                ring.wait_for_slices(patience(&patience_left), last_rows ? 1 : chosen.awaited, bell);
            }
        }
    }

    void take(const Slice& got) {
        if (!chosen.sent[received]) wrong("a slice that nobody sent");
        const Slice expected = slice(received++);
        if (got.payload != expected.payload || got.rows != expected.rows || got.kind != expected.kind)
            wrong("slice " + std::to_string(received) + " is another one");
    }

    void judge() {
        Slice got{};
        while (chosen.rings && ring.try_pop(&got)) take(got);
        if (!chosen.rings && (chosen.sent[received] || !ring.is_empty())) wrong("a slice has not come");
    }
};

// Always in the same place: what is chosen goes by objects.
alignas(64) char place_of_hand_over[sizeof(HandOver)];

void hand_over(const Case& chosen, Chooser& chooser, int looks, Figures* figures) {
    HandOver* const run = new (place_of_hand_over) HandOver(chosen);
    std::vector<std::function<void()>> threads{[run] { run->produce(); }, [run] { run->consume(); }};
    if (chosen.rings)
        threads.push_back([run] {
            run->stop.store(true);
            run->ring.ring_bell();
        });
    run_schedule(chooser, threads, looks, figures);
    run->judge();
    run->~HandOver();
}

}  // namespace

void run_ring(uint64_t seed, Figures* figures) {
    Chance chance(seed);
    std::string sent;
    for (unsigned left = chance.below(12); left > 0; left--) sent += "rRc"[chance.below(3)];
    const int64_t high = 1 + chance.below(4);
    name_schedule("ring " + std::to_string(seed) + " (" + sent + ")");
    const Case chosen{high,
                      int64_t(chance.below(unsigned(high))),
                      sent.c_str(),
                      1 + chance.below(9),
                      chance.one_in(4),
                      chance.one_in(3)};
    SeededChooser chooser(seed);
    hand_over(chosen, chooser, int(chance.below(3)), figures);
}

uint64_t run_ring_every_way() {
    uint64_t ways = 0;
    Figures figures;
    for (const Case& chosen : cases) {
        EveryWay chooser;
        uint64_t own = 0;
        do {
            name_schedule("way " + std::to_string(own) + " of \"" + chosen.sent + "\"");
            chooser.begin();
            hand_over(chosen, chooser, 0, &figures);
            own += !chooser.repeated();
        } while (chooser.next_way());
        ways += own;
    }
    return ways;
}

}  // namespace scheduled_tests
