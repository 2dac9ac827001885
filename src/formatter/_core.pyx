# distutils: language = c++
# The native core, in the order data flows. A table of contents: no def and no class stands here.

include "core/kernel_choice.pxi"   # which per-CPU kernel runs
include "core/shredder_ring.pxi"      # the ring's C++ names
include "core/shredder_refusals.pxi"  # what it refuses, in words
include "core/shredder.pxi"           # which buffers complete which records, by itself
include "core/native.pxi"          # the engine's C++ names
include "core/text_checks.pxi"     # texts that become values in Python, as the engine looks at them
include "core/native_parsers.pxi"  # texts that become values in C that is not ours
include "core/plans.pxi"           # formats and columns, checked, as the engine reads them
include "core/json_plans.pxi"      # JSON columns, nested ones too, as the engine reads them
include "core/variants.pxi"        # variants to their values and metadata
include "core/binary_plans.pxi"    # binary rows, as the engine reads them
include "core/delimited_plans.pxi"  # declared formats, as the engine reads them
include "core/indexed_plans.pxi"    # formats whose records code of others finds
include "core/held_buffers.pxi"    # bytes-like objects to addresses
include "core/batches.pxi"         # Arrow arrays and errors on their way out
include "core/text_rows.pxi"       # batches as lines of JSON or of CSV
include "core/row_predicates.pxi"  # which rows of a batch pass a filter
include "core/samples.pxi"         # the start of an input, as several dialects read it
include "core/checksums.pxi"       # of bytes that were compressed
include "core/ranges.pxi"          # whole inputs, range by range
include "core/record_arrays.pxi"   # one record per value of an array
include "core/chunks.pxi"          # chunks apart from each other: surveyed, then read
include "core/streams.pxi"         # buffers of many origins, in any order
include "core/key_hash.pxi"         # key columns to one hash a row
include "core/bridge_actions.pxi"   # what a consumer meets: rows, watermarks, checkpoints
include "core/bridge.pxi"           # the channel between two threads, and its producer
include "core/bridge_consumer.pxi"  # its consumer: slices become batches by the policy
