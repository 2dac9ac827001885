# distutils: language = c++
# The native core, in the order data flows. A table of contents: no def and no class stands here.

include "core/kernel_choice.pxi"   # which per-CPU kernel runs
include "core/shredder_ring.pxi"       # the native ring of sequences, and numbers as it takes them
include "core/shredder_refusals.pxi"   # why a sequence was refused, in words
include "core/shredder.pxi"            # any order, exactly once: which spanning record a buffer completes
