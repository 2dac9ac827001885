// The scalar kernel. In: every algorithm. Out: code that only this object may hold. Refuses to know other CPUs.
#define FORMATTER_ISA scalar
#include "kernels/isa/scalar.hpp"
#include "kernels/all_algorithms.inl.hpp"
