# distutils: language = c++
# The native core, in the order data flows. A table of contents: no def and no class stands here.

include "core/kernel_choice.pxi"   # which per-CPU kernel runs
