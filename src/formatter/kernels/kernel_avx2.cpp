// The avx2 kernel. In: every algorithm. Out: code that only this object may hold. Refuses to know other CPUs.
#define FORMATTER_ISA avx2
#include "kernels/isa/avx2.hpp"
#include "kernels/all_algorithms.inl.hpp"
