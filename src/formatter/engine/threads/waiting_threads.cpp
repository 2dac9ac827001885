#include "engine/threads/waiting_threads.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "engine/threads/patient_lock.hpp"

namespace formatter {
namespace {

constexpr std::chrono::seconds idle_most(2);  // without work for longer, a thread ends

// To wake one that sleeps takes as long as many pieces of work; the parts of one reading follow each other closely.
constexpr int looks_before_sleep = 3000;  // about 80 microseconds

struct Job {
    void (*work)(void*);
    void* argument;
};

struct Helpers {
    explicit Helpers(pid_t process) : process(process) {}
    const pid_t process;
    std::mutex lock;
    std::condition_variable work_to_do;
    std::vector<Job> waiting;
    std::atomic<size_t> waiting_count{0};  // the same, for looks without the lock
    size_t idle = 0;
};

// Never destroyed, threads wait in it until the process exits. A forked process has none of them, and cannot know who
// held the lock: it begins anew.
Helpers& helpers() {
    static std::atomic<Helpers*> instance{nullptr};
    const pid_t process = getpid();
    Helpers* known = instance.load(std::memory_order_acquire);
    while (!known || known->process != process) {
        Helpers* fresh = new Helpers(process);
        if (instance.compare_exchange_strong(known, fresh, std::memory_order_acq_rel)) return *fresh;
        delete fresh;
    }
    return *known;
}

void* help(void* argument) {
    Helpers& all = *static_cast<Helpers*>(argument);
    std::unique_lock<std::mutex> held(all.lock);
    for (;;) {
        all.idle++;
        held.unlock();
        for (int i = 0; i < looks_before_sleep && all.waiting_count == 0; i++) pause_a_little();
        held.lock();
        const bool asked = all.work_to_do.wait_for(held, idle_most, [&all] { return !all.waiting.empty(); });
        all.idle--;
        if (!asked) return nullptr;
        const Job job = all.waiting.back();
        all.waiting.pop_back();
        all.waiting_count = all.waiting.size();
        held.unlock();
        job.work(job.argument);
        held.lock();
    }
}

bool start_helper(Helpers& all) {
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_t helper;
    const bool started = pthread_create(&helper, &detached, help, &all) == 0;
    pthread_attr_destroy(&detached);
    return started;
}

}  // namespace

unsigned ask_helpers(unsigned count, void (*work)(void*), void* argument) {
    Helpers& all = helpers();
    std::unique_lock<std::mutex> held(all.lock);
    unsigned asked = 0;
    for (; asked < count; asked++) {
        // Those that wait take what is waiting already; the thread that is started waits for the lock.
        if (all.idle <= all.waiting.size() && !start_helper(all)) break;
        all.waiting.push_back(Job{work, argument});
    }
    all.waiting_count = all.waiting.size();
    held.unlock();
    for (unsigned i = 0; i < asked; i++) all.work_to_do.notify_one();
    return asked;
}

unsigned recall_helpers(void* argument) {
    Helpers& all = helpers();
    std::lock_guard<std::mutex> guard(all.lock);
    const auto others = std::remove_if(all.waiting.begin(), all.waiting.end(),
                                       [argument](const Job& job) { return job.argument == argument; });
    const unsigned recalled = unsigned(all.waiting.end() - others);
    all.waiting.erase(others, all.waiting.end());
    all.waiting_count = all.waiting.size();
    return recalled;
}

}  // namespace formatter
