// One schedule: threads as fibers on one thread of the system, of which one runs at a time. In: what threads do, and a chooser.
// Out: the end of all, or what is wrong. Refuses to know what they do.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace scheduled_tests {

// What may happen next.
struct Option {
    enum Kind : uint8_t {
        run,  // the thread takes its step
        land,  // the oldest of its stores becomes what all see
        deadline,  // its time is over
        wake,  // it is the one that is woken; only among those that sleep at one condition
    };
    Kind kind;
    uint8_t thread;
    bool writes;  // and the objects it is about
    const void* object;
    const void* second;
};

class Chooser {
  public:
    virtual ~Chooser() = default;
    // One of the options; there is at least one.
    virtual unsigned choose(const Option* options, unsigned count) = 0;
    // Whether the thread that ran may go on without a look at the others.
    virtual bool goes_on() { return false; }
    // Whether one that sleeps is to wake for no reason.
    virtual bool wakes_for_nothing() { return false; }
    // The thread said that it only waits.
    virtual void paused(unsigned thread) { (void)thread; }
};

struct Figures {
    uint64_t steps = 0, switches = 0, lingered = 0;
};

// Runs all threads to their end, and those that they start. Looks before a sleep, where threads look at all: so many.
void run_schedule(Chooser& chooser, const std::vector<std::function<void()>>& threads, int looks_before_sleep,
                  Figures* figures);

// Ends the process with these words and those that `name_schedule` was told.
[[noreturn]] void wrong(const std::string& what);
void name_schedule(const std::string& name);

// While it lives, this thread goes on: what it sees is one moment.
class Moment {
  public:
    Moment();
    ~Moment();
};

}  // namespace scheduled_tests
