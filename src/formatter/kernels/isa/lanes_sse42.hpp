// Until this CPU has lanes of its own it takes the plain ones.
#pragma once
#include "kernels/isa/lanes_scalar.hpp"
