// Chooses the lanes of the kernel being compiled, by the name it gave itself: isa/lanes_<FORMATTER_ISA>.hpp.
#pragma once

// Formatting would put spaces around the path's slashes.
// clang-format off
#define FORMATTER_LANES_FILE_(name) kernels/isa/lanes_##name.hpp
#define FORMATTER_LANES_FILE(name) FORMATTER_LANES_FILE_(name)
#define FORMATTER_LANES_QUOTED_(file) #file
#define FORMATTER_LANES_QUOTED(file) FORMATTER_LANES_QUOTED_(file)
#include FORMATTER_LANES_QUOTED(FORMATTER_LANES_FILE(FORMATTER_ISA))
// clang-format on
