// What a fork leaves behind: a child has the memory of its parent, but only the thread that forked. In: who has locks, or
// work in the hands of other threads. Out: they are told before and after. Knows nothing of what they guard.
//
// A lock that another thread holds at that moment would never be let go in the child, so it is taken before.
#pragma once

namespace formatter {

class ForkWatch {
  public:
    ForkWatch() = default;
    ForkWatch(const ForkWatch&) = delete;
    ForkWatch& operator=(const ForkWatch&) = delete;

    // On the thread that forks, which is in no call of this object: its locks are to be taken, and let go again.
    virtual void before_fork() = 0;
    virtual void after_fork(bool in_child) = 0;

  protected:
    ~ForkWatch() = default;
    // What others hold while they take another lock is taken before it: `inner` ones come last.
    enum class Order { outer, inner };
    void begin_watch(Order = Order::outer);  // the last thing a constructor does
    void end_watch();  // the first thing a destructor does

  private:
    friend struct ForkWatches;
    ForkWatch* next_ = nullptr;
    ForkWatch* previous_ = nullptr;
};

}  // namespace formatter
