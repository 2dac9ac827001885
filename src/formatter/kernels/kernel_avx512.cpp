// The avx512 kernel. In: every algorithm. Out: code that only this object may hold. Refuses to know other CPUs.
#define FORMATTER_ISA avx512
#include "kernels/isa/avx512.hpp"
#include "kernels/all_algorithms.inl.hpp"
