// The neon kernel. In: every algorithm. Out: code that only this object may hold. Refuses to know other CPUs.
#define FORMATTER_ISA neon
#include "kernels/isa/neon.hpp"
#include "kernels/all_algorithms.inl.hpp"
