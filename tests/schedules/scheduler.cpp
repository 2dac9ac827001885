// Fibers, and who is next. In, out, refuses to know: see the headers.
#include "scheduler.hpp"

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>

#include "scheduled_threads.hpp"

// What the C++ runtime knows of exceptions of the thread of the system; here each fiber has its own.
extern "C" void* __cxa_get_globals();

namespace scheduled_tests {
namespace {

constexpr size_t stack_bytes = 256 << 10;
constexpr size_t threads_most = 16;
constexpr uint64_t steps_most = 2'000'000;  // of one schedule: more is a circle
constexpr size_t exception_bytes = 16;

struct LingeringStore {
    formatter::scheduled::Cell* cell;
    uint64_t value;
};

struct Fiber {
    enum State : uint8_t { ready, at_lock, asleep, ended };
    State state = ready;
    bool writes = false, fenced = false;
    bool begun = false;
    bool notified = false;
    const void *object = nullptr, *second = nullptr;  // of its next step
    const bool* taken = nullptr;  // at_lock: must be false
    int64_t deadline = 0;  // asleep
    std::vector<LingeringStore> stores;  // oldest first
    std::function<void()> work;
    jmp_buf place;
    char exceptions[exception_bytes] = {};
};

struct Scheduler {
    std::deque<Fiber> fibers;  // places stay
    Chooser* chooser = nullptr;
    Figures* figures = nullptr;
    unsigned running = 0;
    bool on = false;
    int moments = 0;
    int looks = 1;
    int64_t now = 1'000'000'000;
    uint64_t steps = 0;
    size_t lingering = 0;  // stores of all
    jmp_buf outside;
    char exceptions_outside[exception_bytes] = {};
    std::vector<void*> stacks;
    std::string name;

    Fiber& current() { return fibers[running]; }
    bool counts() const { return on && moments == 0; }
};

Scheduler& all() {
    static Scheduler scheduler;
    return scheduler;
}

bool can_run(const Fiber& f) {
    if (f.fenced && !f.stores.empty()) return false;
    return f.state == Fiber::ready || (f.state == Fiber::at_lock && !*f.taken);
}

void leave_outside() { _longjmp(all().outside, 1); }

void fiber_main() {
    Scheduler& s = all();
    Fiber& self = s.current();
    self.work();
    formatter::scheduled::step(&self, true, true);  // what it stored has landed
    self.state = Fiber::ended;
    self.object = nullptr;
    formatter::scheduled::step(nullptr, false, false);
    std::abort();  // it is never chosen again
}

void enter(Fiber& fiber) {
    std::memcpy(__cxa_get_globals(), fiber.exceptions, exception_bytes);
    if (fiber.begun) _longjmp(fiber.place, 1);
    fiber.begun = true;
    Scheduler& s = all();
    while (s.stacks.size() <= s.running) {
        void* stack =
            mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        if (stack == MAP_FAILED) std::abort();
        s.stacks.push_back(stack);
    }
    ucontext_t begin;
    getcontext(&begin);
    begin.uc_stack.ss_sp = s.stacks[s.running];
    begin.uc_stack.ss_size = stack_bytes;
    begin.uc_link = nullptr;
    makecontext(&begin, fiber_main, 0);
    setcontext(&begin);
    std::abort();
}

void land(Fiber& fiber) {
    fiber.stores.front().cell->value = fiber.stores.front().value;
    fiber.stores.erase(fiber.stores.begin());
    all().lingering--;
}

unsigned list_options(Option* options) {
    Scheduler& s = all();
    unsigned count = 0;
    for (unsigned i = 0; i < s.fibers.size(); i++) {
        Fiber& f = s.fibers[i];
        if (!f.stores.empty()) options[count++] = {Option::land, uint8_t(i), true, f.stores.front().cell, nullptr};
        if (can_run(f))
            options[count++] = {Option::run, uint8_t(i), f.writes, f.object, f.second};
        else if (f.state == Fiber::asleep && f.deadline != formatter::scheduled::no_deadline)
            options[count++] = {Option::deadline, uint8_t(i), true, f.object, nullptr};
    }
    return count;
}

std::string who_waits() {
    std::string text;
    for (size_t i = 0; i < all().fibers.size(); i++) {
        const Fiber& f = all().fibers[i];
        if (f.state == Fiber::ended) continue;
        text += " thread " + std::to_string(i) + (f.state == Fiber::asleep ? " sleeps;" : " waits for a lock;");
    }
    return text;
}

// Who is next, until that is somebody's step; then it is taken.
void go_on() {
    Scheduler& s = all();
    Option options[3 * threads_most];
    for (;;) {
        const unsigned count = list_options(options);
        if (count == 0) {
            for (const Fiber& f : s.fibers)
                if (f.state != Fiber::ended) wrong("everybody waits:" + who_waits());
            leave_outside();
        }
        if (++s.steps > steps_most) wrong("no end: threads go in a circle");
        const Option chosen = options[s.chooser->choose(options, count)];
        Fiber& f = s.fibers[chosen.thread];
        if (chosen.kind == Option::land) {
            land(f);
        } else if (chosen.kind == Option::deadline) {
            s.now = std::max(s.now, f.deadline);
            f.state = Fiber::ready;
            f.notified = false;
        } else {
            f.state = Fiber::ready;
            if (chosen.thread == s.running && f.begun) return;
            s.figures->switches++;
            Fiber& before = s.current();
            std::memcpy(before.exceptions, __cxa_get_globals(), exception_bytes);
            if (before.begun && before.state != Fiber::ended && _setjmp(before.place)) return;
            s.running = chosen.thread;
            enter(f);
        }
    }
}

void be_next(Fiber& self, const void* object, bool writes, bool fenced, const void* second = nullptr) {
    Scheduler& s = all();
    self.object = object;
    self.second = second;
    self.writes = writes;
    self.fenced = fenced;
    s.figures->steps++;
    s.now += 100;
    if (self.state != Fiber::ended && can_run(self) && s.chooser->goes_on()) {
        if (++s.steps > steps_most) wrong("no end: a thread goes in a circle");
        self.state = Fiber::ready;
        return;
    }
    go_on();
}

}  // namespace

void run_schedule(Chooser& chooser, const std::vector<std::function<void()>>& threads, int looks_before_sleep,
                  Figures* figures) {
    Scheduler& s = all();
    s.fibers.clear();
    for (const auto& work : threads) {
        s.fibers.emplace_back();
        s.fibers.back().work = work;
        s.fibers.back().object = &s.fibers.back();
    }
    s.chooser = &chooser;
    s.figures = figures;
    s.looks = looks_before_sleep;
    s.steps = 0;
    s.lingering = 0;
    s.running = 0;
    std::memcpy(s.exceptions_outside, __cxa_get_globals(), exception_bytes);
    if (!_setjmp(s.outside)) {
        s.on = true;
        go_on();
    }
    s.on = false;
    std::memcpy(__cxa_get_globals(), s.exceptions_outside, exception_bytes);
}

void name_schedule(const std::string& name) { all().name = name; }

void wrong(const std::string& what) {
    std::printf("wrong: %s: %s\n", all().name.c_str(), what.c_str());
    std::fflush(stdout);
    std::_Exit(1);
}

Moment::Moment() { all().moments++; }
Moment::~Moment() { all().moments--; }

}  // namespace scheduled_tests

namespace formatter {
namespace scheduled {

using namespace scheduled_tests;

void step(const void* object, bool writes, bool fenced, const void* second) {
    Scheduler& s = all();
    if (!s.counts()) return;
    be_next(s.current(), object, writes, fenced, second);
}

uint64_t load(const Cell* cell) {
    Scheduler& s = all();
    if (s.on && s.lingering) {
        const std::vector<LingeringStore>& stores = s.current().stores;
        for (size_t i = stores.size(); i-- > 0;)
            if (stores[i].cell == cell) return stores[i].value;
    }
    return cell->value;
}

void store(Cell* cell, uint64_t value) {
    Scheduler& s = all();
    if (!s.counts()) {
        cell->value = value;
        return;
    }
    s.current().stores.push_back({cell, value});
    s.lingering++;
    s.figures->lingered++;
}

void forget(const Cell* cell) {
    Scheduler& s = all();
    if (!s.on || !s.lingering) return;
    for (Fiber& f : s.fibers) {
        const auto gone = std::remove_if(f.stores.begin(), f.stores.end(),
                                         [cell](const LingeringStore& store) { return store.cell == cell; });
        s.lingering -= size_t(f.stores.end() - gone);
        f.stores.erase(gone, f.stores.end());
    }
}

void acquire(const void* lock, const bool* taken) {
    Scheduler& s = all();
    if (!s.counts()) {
        if (*taken) wrong("a lock that is held is taken in one moment");
        return;
    }
    Fiber& self = s.current();
    self.state = Fiber::at_lock;
    self.taken = taken;
    be_next(self, lock, true, true);
}

bool sleep(const void* condition, int64_t deadline_ns) {
    Scheduler& s = all();
    if (!s.counts()) wrong("somebody sleeps where nobody can wake him");
    if (s.chooser->wakes_for_nothing()) return true;
    Fiber& self = s.current();
    self.state = Fiber::asleep;
    self.deadline = deadline_ns;
    self.notified = true;
    self.object = condition;
    self.second = nullptr;
    self.writes = true;
    self.fenced = false;
    go_on();
    return self.notified;
}

void notify(const void* condition, bool everyone) {
    Scheduler& s = all();
    step(condition, true, true);
    if (!s.on) return;
    Option sleepers[threads_most];
    unsigned count = 0;
    for (unsigned i = 0; i < s.fibers.size(); i++)
        if (s.fibers[i].state == Fiber::asleep && s.fibers[i].object == condition)
            sleepers[count++] = {Option::wake, uint8_t(i), true, condition, nullptr};
    if (count == 0) return;
    const unsigned chosen = everyone || count == 1 ? 0 : s.chooser->choose(sleepers, count);
    for (unsigned i = 0; i < count; i++)
        if (everyone || i == chosen) s.fibers[sleepers[i].thread].state = Fiber::ready;
}

void pause() {
    Scheduler& s = all();
    if (!s.counts()) return;
    s.chooser->paused(s.running);
    Fiber& self = s.current();
    self.object = self.second = nullptr;
    self.writes = self.fenced = false;
    go_on();
}

int looks_most() { return all().looks; }
int64_t now_ns() { return all().now; }

bool start(void* (*work)(void*), void* argument) {
    Scheduler& s = all();
    step(nullptr, false, true);
    if (!s.on || s.fibers.size() == threads_most) return false;
    s.fibers.emplace_back();
    s.fibers.back().work = [work, argument] { work(argument); };
    s.fibers.back().object = &s.fibers.back();
    return true;
}

}  // namespace scheduled
}  // namespace formatter
