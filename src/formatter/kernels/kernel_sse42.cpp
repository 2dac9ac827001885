// The sse42 kernel: every algorithm, compiled for this CPU. Only this object may hold its instructions.
#define FORMATTER_ISA sse42
#include "kernels/isa/sse42.hpp"
#include "kernels/all_algorithms.inl.hpp"
