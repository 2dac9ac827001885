// The sse42 kernel. In: every algorithm. Out: code that only this object may hold. Refuses to know other CPUs.
#define FORMATTER_ISA sse42
#include "kernels/isa/sse42.hpp"
#include "kernels/all_algorithms.inl.hpp"
