// Many threads on one ring, checked as an exact set. Built and run by test_thread_sanitizer.py, with -fsanitize=thread.
//
// In: buffers, window and threads, from the command line. Out: exit code 0, or a line saying what was claimed wrongly.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "engine/shred/locked_shred_ring.hpp"

using formatter::LockedShredRing;
using formatter::SequenceSpan;
using formatter::ShredRing;
using Spans = std::vector<std::pair<uint64_t, uint64_t>>;

namespace {

constexpr size_t most = 6200;  // buffers a call

struct Schedule {
    std::vector<uint64_t> order;
    std::vector<uint8_t> delimited;  // by sequence; [0] unused
};

Schedule make_schedule(uint64_t buffers, uint64_t window, double probability, uint64_t seed) {
    std::mt19937_64 random(seed);
    Schedule schedule;
    for (uint64_t i = 1; i <= buffers; ++i) schedule.order.push_back(i);
    for (uint64_t from = 0; from < buffers; from += window)
        std::shuffle(schedule.order.begin() + from, schedule.order.begin() + std::min(buffers, from + window), random);
    schedule.delimited.resize(buffers + 1);
    std::bernoulli_distribution has_delimiter(probability);
    for (uint64_t i = 1; i <= buffers; ++i) schedule.delimited[i] = has_delimiter(random);
    return schedule;
}

// The naive walk: one claim between each two neighbouring delimiters, the rest at the end.
Spans expected_spans(const Schedule& schedule) {
    Spans spans;
    uint64_t open = 1;
    const uint64_t last = schedule.order.size();
    for (uint64_t i = 1; i <= last; ++i) {
        if (!schedule.delimited[i]) continue;
        if (i != open) spans.emplace_back(open, i);
        open = i;
    }
    spans.emplace_back(open, last);
    return spans;
}

bool run(const Schedule& schedule, unsigned threads, bool stall) {
    LockedShredRing shared;
    std::atomic<size_t> next{0};
    std::vector<Spans> claimed(threads);
    std::atomic<bool> failed{false};
    const auto work = [&](unsigned me) {
        std::vector<uint64_t> sequences(most);
        std::vector<uint8_t> delimited(most);
        std::vector<SequenceSpan> spans(2 * most + 1);
        for (unsigned turn = 0;; ++turn) {
            // now and then a block, and half of those too large for one
            const size_t share = turn % 32 == 31 ? 4096 + turn % 64 * 32 : 1 + turn % 64, from = next.fetch_add(share);
            if (from >= schedule.order.size()) return;
            const size_t count = std::min(share, schedule.order.size() - from);
            for (size_t i = 0; i < count; ++i) {
                sequences[i] = schedule.order[from + i];
                delimited[i] = schedule.delimited[sequences[i]];
            }
            if (stall && me == 0 && turn == 3) std::this_thread::sleep_for(std::chrono::milliseconds(300));
            size_t span_count, taken;
            ShredRing::Status status;
            const bool tried = turn % 2 == 0 && shared.try_process_many(sequences.data(), delimited.data(), count,
                                                                        false, spans.data(), span_count, taken, status);
            if (!tried)
                status = shared.process_many(sequences.data(), delimited.data(), count, false, spans.data(), span_count,
                                             taken);
            if (status != ShredRing::Status::ok) failed = true;
            for (size_t i = 0; i < span_count; ++i) claimed[me].emplace_back(spans[i].first, spans[i].last);
            if (turn % 16 == 0 && shared.try_lock()) {  // a reader among the writers, and a save and restore in the run
                std::vector<uint8_t> image(shared.ring.serialized_size());
                shared.ring.serialize(image.data());
                if (ShredRing::restore(image.data(), image.size(), shared.ring) != ShredRing::RestoreStatus::ok)
                    failed = true;
                shared.unlock();
            }
        }
    };
    std::vector<std::thread> running;
    for (unsigned i = 0; i < threads; ++i) running.emplace_back(work, i);
    for (std::thread& thread : running) thread.join();

    formatter::Claims rest;
    if (shared.ring.finish(schedule.order.size(), rest) != ShredRing::Status::ok || rest.count != 1) failed = true;
    Spans all{{rest.spans[0].first, rest.spans[0].last}};
    for (const Spans& some : claimed) all.insert(all.end(), some.begin(), some.end());
    std::sort(all.begin(), all.end());
    Spans expected = expected_spans(schedule);
    std::sort(expected.begin(), expected.end());
    if (failed || all != expected) {
        std::printf("%zu spans claimed, %zu expected; %s\n", all.size(), expected.size(),
                    failed ? "a call failed" : "no call failed");
        return false;
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    const uint64_t buffers = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
    uint64_t seed = 1;
    for (const double probability : {1.0, 0.5, 0.02, 0.0005})
        for (const uint64_t window : {uint64_t(1), uint64_t(64), uint64_t(700), buffers})
            for (const unsigned threads : {2u, 4u, 8u}) {
                const bool stall = threads == 4 && window == 700;
                if (!run(make_schedule(buffers, window, probability, ++seed), threads, stall)) {
                    std::printf("p %g, window %llu, %u threads\n", probability, (unsigned long long)window, threads);
                    return 1;
                }
            }
    std::printf("every span claimed exactly once\n");
    return 0;
}
