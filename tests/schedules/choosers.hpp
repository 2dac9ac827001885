// Who is next: by a seed, or each way in turn. In: what may happen. Out: one of it. Refuses to know what it leads to.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler.hpp"

namespace scheduled_tests {

// Numbers that a seed decides.
class Chance {
  public:
    explicit Chance(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u) { next(), next(); }
    uint64_t next() {
        state_ += 0x9E3779B97F4A7C15u;
        uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    unsigned below(unsigned end) { return unsigned((next() >> 32) * end >> 32); }
    bool one_in(unsigned times) { return below(times) == 0; }

  private:
    uint64_t state_;
};

// By a seed. Some seeds change threads at every step, others seldom, and some let the one with the highest rank run until it
// is put at the end: faults that need one thread to be slow for long are found by those, others by the first.
class SeededChooser final : public Chooser {
  public:
    explicit SeededChooser(uint64_t seed);
    unsigned choose(const Option* options, unsigned count) override;
    bool goes_on() override;
    bool wakes_for_nothing() override { return chance_.one_in(64); }
    void paused(unsigned thread) override { put_last(thread); }

  private:
    unsigned choose_by_rank(const Option* options, unsigned count);
    uint32_t& rank_of(unsigned thread);
    void put_last(unsigned thread);

    Chance chance_;
    unsigned stays_;  // of 16 steps; 16: by rank
    std::vector<uint32_t> ranks_;
    uint32_t lowest_ = 1u << 20;
};

// Each way in turn, but for those that differ only in the order of steps that do not touch the same thing: of these one is
// gone (sleep sets, by Godefroid).
class EveryWay final : public Chooser {
  public:
    unsigned choose(const Option* options, unsigned count) override;
    // Before each run but the first. False: there is no other way.
    bool next_way();
    void begin() { depth_ = 0, repeats_ = false; }
    bool repeated() const { return repeats_; }  // the run was one that differs in nothing from another

  private:
    struct Fork {
        std::vector<Option> options, asleep;
        unsigned chosen;
    };
    std::vector<Fork> path_;
    size_t depth_ = 0;
    bool repeats_ = false;
};

}  // namespace scheduled_tests
