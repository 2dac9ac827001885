// What is run under schedules. In: a seed. Out: the process ends with words if anything is wrong. Refuses to know who chooses.
#pragma once

#include <cstdint>

#include "scheduler.hpp"

namespace scheduled_tests {

void run_stream(uint64_t seed, Figures* figures);  // pushes, replans, checkpoints, ends, losses, limits, closing
void run_crew(uint64_t seed, Figures* figures);  // a whole input, or a file, by several threads
void run_ring(uint64_t seed, Figures* figures);  // slices and controls from a thread to another
uint64_t run_ring_every_way();  // of small cases; how many ways
void find_planted_faults();  // faults that threads are known for, in a few lines each: all are noticed

}  // namespace scheduled_tests
