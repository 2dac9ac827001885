// In, out, refuses to know: see the header.
#include "choosers.hpp"

#include <algorithm>

namespace scheduled_tests {
namespace {

constexpr unsigned by_rank = 16;

bool same(const Option& a, const Option& b) { return a.kind == b.kind && a.thread == b.thread; }

bool about(const Option& option, const void* object) {
    return object && (option.object == object || option.second == object);
}

bool depend(const Option& a, const Option& b) {
    return a.thread == b.thread || ((a.writes || b.writes) && (about(a, b.object) || about(a, b.second)));
}

bool holds(const std::vector<Option>& options, const Option& one) {
    return std::any_of(options.begin(), options.end(), [&one](const Option& each) { return same(each, one); });
}

}  // namespace

SeededChooser::SeededChooser(uint64_t seed) : chance_(seed) {
    static const unsigned choices[] = {0, 8, 12, 14, by_rank, by_rank};
    stays_ = choices[chance_.below(6)];
}

bool SeededChooser::goes_on() { return stays_ == by_rank ? !chance_.one_in(8) : chance_.below(16) < stays_; }

uint32_t& SeededChooser::rank_of(unsigned thread) {
    while (ranks_.size() <= thread) ranks_.push_back((1u << 20) + 1 + chance_.below(1u << 20));
    return ranks_[thread];
}

void SeededChooser::put_last(unsigned thread) { rank_of(thread) = lowest_--; }

unsigned SeededChooser::choose(const Option* options, unsigned count) {
    if (count == 1) return 0;
    if (options[0].kind == Option::wake) return chance_.below(count);
    if (stays_ == by_rank) return choose_by_rank(options, count);
    unsigned timeless = 0;
    for (unsigned i = 0; i < count; i++) timeless += options[i].kind != Option::deadline;
    const bool time_passes = timeless == 0 || (timeless < count && chance_.one_in(64));
    unsigned left = chance_.below(time_passes ? count - timeless : timeless);
    for (unsigned i = 0; i < count; i++)
        if ((options[i].kind == Option::deadline) == time_passes && left-- == 0) return i;
    return 0;
}

unsigned SeededChooser::choose_by_rank(const Option* options, unsigned count) {
    const bool lands = chance_.one_in(8), time_passes = chance_.one_in(64);
    unsigned best = count;
    for (unsigned i = 0; i < count; i++) {
        const Option& option = options[i];
        if (lands && option.kind == Option::land) return i;
        if (option.kind == Option::deadline && !time_passes) continue;
        if (best == count || rank_of(option.thread) > rank_of(options[best].thread)) best = i;
        // A thread's own stores land behind its steps, unless a step needs them to have landed.
        if (option.thread == options[best].thread && option.kind == Option::run) best = i;
    }
    if (best == count) return chance_.below(count);  // nothing but time can go on
    if (chance_.one_in(16)) put_last(options[best].thread);
    return best;
}

unsigned EveryWay::choose(const Option* options, unsigned count) {
    if (depth_ < path_.size()) return path_[depth_++].chosen;
    if (repeats_) return 0;
    Fork fork;
    fork.options.assign(options, options + count);
    if (!path_.empty()) {
        const Fork& before = path_.back();
        for (const Option& one : before.asleep)
            if (!depend(one, before.options[before.chosen])) fork.asleep.push_back(one);
    }
    fork.chosen = 0;
    while (fork.chosen < count && holds(fork.asleep, fork.options[fork.chosen])) fork.chosen++;
    if (fork.chosen == count) {
        repeats_ = true;
        return 0;
    }
    path_.push_back(std::move(fork));
    depth_++;
    return path_.back().chosen;
}

bool EveryWay::next_way() {
    while (!path_.empty()) {
        Fork& fork = path_.back();
        fork.asleep.push_back(fork.options[fork.chosen]);
        for (fork.chosen = 0; fork.chosen < fork.options.size(); fork.chosen++)
            if (!holds(fork.asleep, fork.options[fork.chosen])) return true;
        path_.pop_back();
    }
    return false;
}

}  // namespace scheduled_tests
