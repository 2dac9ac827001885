#include "engine/threads/fork_watch.hpp"

#include <pthread.h>

#include <new>

#include "engine/threads/synchronization.hpp"

namespace formatter {

struct ForkWatches {
    Mutex lock;
    ForkWatch* first = nullptr;
    ForkWatch* last = nullptr;

    static ForkWatches& all() {
        static ForkWatches watches;
        static const bool told = pthread_atfork(before, in_parent, in_child) == 0;
        if (!told) throw std::bad_alloc();
        return watches;
    }
    static void before() {
        all().lock.lock();
        for (ForkWatch* watch = all().first; watch; watch = watch->next_) watch->before_fork();
    }
    static void after(bool in_child) {
        for (ForkWatch* watch = all().first; watch; watch = watch->next_) watch->after_fork(in_child);
        all().lock.unlock();
    }
    static void in_parent() { after(false); }
    static void in_child() { after(true); }
};

void ForkWatch::begin_watch(Order order) {
    ForkWatches& all = ForkWatches::all();
    std::lock_guard<Mutex> guard(all.lock);
    if (order == Order::outer) {
        next_ = all.first;
    } else {
        previous_ = all.last;
    }
    (next_ ? next_->previous_ : all.last) = this;
    (previous_ ? previous_->next_ : all.first) = this;
}

void ForkWatch::end_watch() {
    ForkWatches& all = ForkWatches::all();
    std::lock_guard<Mutex> guard(all.lock);
    (next_ ? next_->previous_ : all.last) = previous_;
    (previous_ ? previous_->next_ : all.first) = next_;
}

}  // namespace formatter
