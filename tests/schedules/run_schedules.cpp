// Schedules of the engine's threads. In: the first seed and how many, or "faults", or "ways". Out: a line of figures, or what is
// wrong and by which seed, and the exit code is 1.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "schedules.hpp"

using namespace scheduled_tests;

int main(int count, char** arguments) {
    if (count == 2 && std::strcmp(arguments[1], "faults") == 0) {
        find_planted_faults();
        std::puts("every planted fault is noticed");
        return 0;
    }
    if (count == 2 && std::strcmp(arguments[1], "ways") == 0) {
        std::printf("%" PRIu64 " ways of all small hand-overs\n", run_ring_every_way());
        return 0;
    }
    if (count != 3) {
        std::fprintf(stderr, "expected: FIRST_SEED SEEDS, faults or ways\n");
        return 2;
    }
    const uint64_t first = std::strtoull(arguments[1], nullptr, 10), seeds = std::strtoull(arguments[2], nullptr, 10);
    Figures figures;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        // Streams have the most to go wrong.
        if (seed % 8 == 0)
            run_ring(seed, &figures);
        else if (seed % 8 == 4)
            run_crew(seed, &figures);
        else
            run_stream(seed, &figures);
    }
    std::printf("%" PRIu64 " schedules, %" PRIu64 " steps, %" PRIu64 " changes of the thread, %" PRIu64
                " stores that lingered\n",
                seeds, figures.steps, figures.switches, figures.lingered);
    return 0;
}
