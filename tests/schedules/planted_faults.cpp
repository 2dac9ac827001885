// Faults that threads are known for, a few lines each. In: nothing. Out: the words of those that no schedule shows, if there are any.
// Refuses to know the engine. Where these go unnoticed, silence about the engine means nothing.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "choosers.hpp"
#include "engine/threads/synchronization.hpp"
#include "schedules.hpp"

using namespace formatter;

namespace scheduled_tests {
namespace {

using Threads = std::vector<std::function<void()>>;

struct Shared {
    Atomic<int> first{0}, second{0};
    Mutex lock, other_lock;
    Condition changed;
    int seen_by_first = 1, seen_by_second = 1, sum = 0;
    bool ready = false;
};

struct Faulty {
    const char* name;
    Threads (*threads)(Shared*);
    bool (*fine)(const Shared&);  // at the end
};

Threads both_enter(Shared* s, std::memory_order order) {
    return {[s, order] {
                s->first.store(1, order);
                s->seen_by_first = s->second.load();
            },
            [s, order] {
                s->second.store(1, order);
                s->seen_by_second = s->first.load();
            }};
}

bool one_waits(const Shared& s) { return s.seen_by_first || s.seen_by_second; }

Threads counting(Shared* s) {
    const auto count = [s] { s->first.store(s->first.load() + 1); };
    return {count, count};
}

Threads sleeping(Shared* s) {
    return {[s] {
                std::unique_lock<Mutex> held(s->lock);
                const bool ready = s->ready;
                held.unlock();  // what is seen may be over before it sleeps
                held.lock();
                if (!ready) s->changed.wait(held);
            },
            [s] {
                const std::lock_guard<Mutex> held(s->lock);
                s->ready = true;
                s->changed.notify_one();
            }};
}

Threads crossing(Shared* s) {
    return {[s] {
                const std::lock_guard<Mutex> one(s->lock), two(s->other_lock);
                s->sum++;
            },
            [s] {
                const std::lock_guard<Mutex> two(s->other_lock), one(s->lock);
                s->sum++;
            }};
}

Threads waking_one_of_two(Shared* s) {
    const auto wait = [s] {
        std::unique_lock<Mutex> held(s->lock);
        s->changed.wait(held, [s] { return s->ready; });
    };
    return {wait, wait, [s] {
                const std::lock_guard<Mutex> held(s->lock);
                s->ready = true;
                s->changed.notify_one();
            }};
}

bool any_end(const Shared&) { return true; }

const Faulty faults[] = {
    {"a store lingers past a look at another's", [](Shared* s) { return both_enter(s, std::memory_order_release); },
     one_waits},
    {"a count is looked at and written in two steps", counting, [](const Shared& s) { return s.first.load() == 2; }},
    {"a wake-up comes before the sleep", sleeping, any_end},
    {"two locks are taken in two orders", crossing, any_end},
    {"one is woken where two wait", waking_one_of_two, any_end},
};
const Faulty sound = {"a store that all see before the look",
                      [](Shared* s) { return both_enter(s, std::memory_order_seq_cst); }, one_waits};

void run_once(const Faulty& fault, Chooser* chooser) {
    Figures figures;
    const std::unique_ptr<Shared> shared(new Shared);
    run_schedule(*chooser, fault.threads(shared.get()), 1, &figures);
    if (!fault.fine(*shared)) wrong("the end is another one");
}

void run_all(const Faulty& fault, bool every_way) {
    if (!every_way) {
        for (uint64_t seed = 1; seed <= 2000; seed++) {
            SeededChooser chooser(seed);
            run_once(fault, &chooser);
        }
        return;
    }
    EveryWay chooser;
    do {
        chooser.begin();
        run_once(fault, &chooser);
    } while (chooser.next_way());
}

// In a process of its own, which ends where something is wrong.
bool notices(const Faulty& fault, bool every_way) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        if (!std::freopen("/dev/null", "w", stdout)) std::_Exit(2);
        run_all(fault, every_way);
        std::_Exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) > 1)
        wrong("a fault cannot be tried");
    return WEXITSTATUS(status) == 1;
}

}  // namespace

void find_planted_faults() {
    for (const bool every_way : {false, true}) {
        for (const Faulty& fault : faults)
            if (!notices(fault, every_way)) wrong(std::string("nobody notices that ") + fault.name);
        if (notices(sound, every_way)) wrong(std::string("what is sound seems wrong: ") + sound.name);
    }
}

}  // namespace scheduled_tests
