// The neon kernel: every algorithm, compiled for this CPU. Only this object may hold its instructions.
#define FORMATTER_ISA neon
#include "kernels/isa/neon.hpp"
#include "kernels/all_algorithms.inl.hpp"
