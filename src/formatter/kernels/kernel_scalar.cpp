// The scalar kernel: every algorithm, compiled for this CPU. Only this object may hold its instructions.
#define FORMATTER_ISA scalar
#include "kernels/isa/scalar.hpp"
#include "kernels/all_algorithms.inl.hpp"
