// The avx2 kernel: every algorithm, compiled for this CPU. Only this object may hold its instructions.
#define FORMATTER_ISA avx2
#include "kernels/isa/avx2.hpp"
#include "kernels/all_algorithms.inl.hpp"
