# distutils: language = c++
# The native core, in the order data flows. A table of contents: no def and no class stands here.

include "core/kernel_choice.pxi"   # which per-CPU kernel runs

include "core/key_hash.pxi"         # key columns to one hash a row
include "core/bridge_actions.pxi"   # what a consumer meets: rows, watermarks, checkpoints
include "core/bridge.pxi"           # the channel between two threads, and its producer
include "core/bridge_consumer.pxi"  # its consumer: slices become batches by the policy
