#include "engine/threads/waiting_threads.hpp"

#include <unistd.h>

#include <chrono>
#include <new>

#include "engine/threads/synchronization.hpp"

namespace formatter {
namespace {

constexpr std::chrono::seconds idle_most(2);  // without work for longer, a thread ends

// To wake one that sleeps takes as long as many pieces of work; the parts of one reading follow each other closely.
constexpr int looks_before_sleep = 3000;  // about 80 microseconds

struct Helpers {
    explicit Helpers(pid_t process) : process(process) {}
    const pid_t process;
    Mutex lock;
    Condition work_to_do;
    HelperRequest* first = nullptr;
    Atomic<unsigned> waiting{0};  // of all requests; changed under the lock
    size_t idle = 0;

    void add(HelperRequest* request) {
        request->next = first;
        first = request;
    }
    void remove(HelperRequest* request) {
        HelperRequest** link = &first;
        while (*link != request) link = &(*link)->next;
        *link = request->next;
    }
};

// Never destroyed, threads wait in it until the process exits. A forked process has none of them, and cannot know who
// held the lock: it begins anew. Null if there is no memory.
Helpers* helpers() {
    static Atomic<Helpers*> instance{nullptr};
    const pid_t process = getpid();
    Helpers* known = instance.load(std::memory_order_acquire);
    while (!known || known->process != process) {
        Helpers* fresh = new (std::nothrow) Helpers(process);
        if (!fresh || instance.compare_exchange_strong(known, fresh, std::memory_order_acq_rel)) return fresh;
        delete fresh;
    }
    return known;
}

void* help(void* argument) {
    Helpers& all = *static_cast<Helpers*>(argument);
    std::unique_lock<Mutex> held(all.lock);
    for (;;) {
        all.idle++;
        held.unlock();
        for (int i = 0; i < looks(looks_before_sleep) && all.waiting == 0; i++) pause_a_little();
        held.lock();
        const bool asked = all.work_to_do.wait_for(held, idle_most, [&all] { return all.waiting != 0; });
        all.idle--;
        if (!asked) return nullptr;
        HelperRequest* request = all.first;
        const HelperRequest job = *request;  // it may be gone once the work has begun
        if (--request->waiting == 0) all.remove(request);
        all.waiting--;
        held.unlock();
        job.work(job.argument);
        held.lock();
    }
}

}  // namespace

unsigned ask_helpers(HelperRequest* request, unsigned count) {
    Helpers* const all = helpers();
    if (!all) return 0;
    std::unique_lock<Mutex> held(all->lock);
    unsigned asked = 0;
    for (; asked < count; asked++) {
        // Those that wait take what is waiting already; the thread that is started waits for the lock.
        if (all->idle <= all->waiting && !start_thread(help, all)) break;
        if (request->waiting++ == 0) all->add(request);
        all->waiting++;
    }
    held.unlock();
    for (unsigned i = 0; i < asked; i++) all->work_to_do.notify_one();
    return asked;
}

unsigned recall_helpers(HelperRequest* request) {
    Helpers* const all = helpers();
    if (!all) return 0;
    std::lock_guard<Mutex> guard(all->lock);
    const unsigned recalled = request->waiting;
    if (recalled) all->remove(request);
    all->waiting -= recalled;
    request->waiting = 0;
    return recalled;
}

}  // namespace formatter
