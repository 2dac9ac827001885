// The avx512 kernel: every algorithm, compiled for this CPU. Only this object may hold its instructions.
#define FORMATTER_ISA avx512
#include "kernels/isa/avx512.hpp"
#include "kernels/all_algorithms.inl.hpp"
