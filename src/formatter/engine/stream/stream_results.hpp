// What calls of a stream give back. In: what a call did. Out: plain data for the binding. Refuses to know how it came about.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/records/findings.hpp"
#include "engine/stream/builder.hpp"

namespace formatter {

struct OriginFinding {
    uint64_t origin;
    FindingAt<OriginPosition> what;
};

enum class PushStatus : uint8_t { ok, duplicate, zero, out_of_range, finished, pending_limit, hole, beyond };

// Why a stream takes nothing any more: a call of it ran out of memory with rows in its hands; or the process was forked
// while another thread was in one, and this is the child.
enum class StreamClosed : uint8_t { no, out_of_memory, forked };

struct PushResult {
    PushStatus status = PushStatus::ok;
    std::vector<uint32_t> not_taken;  // indices; the first is the buffer that the status speaks of
    uint64_t appended = 0;
    std::vector<FinishedBatch> batches;
    std::vector<OriginFinding> findings;
    std::vector<SequenceSpan> holes;
    size_t numbered = 0;  // of the batches
};

struct PlanChange {
    bool applied = false;
    uint64_t version = 0;  // of the plan that is now in force
    uint64_t oldest = 0;  // of the plans that rows may still leave under
    uint64_t buffers = 0, bytes = 0;  // admitted before it
    uint64_t batches = 0;  // that had left, with those in the result
    bool parsing = false;  // calls may hold rows that will leave under older plans
    std::vector<std::string> missing;  // columns that the header of an open origin lacks
};

// Numbers alone: the binding copies them where nothing may be thrown.
struct StreamTotals {
    uint64_t batches = 0;  // that have left
    uint64_t finished = 0;  // of the origins
    uint64_t buffers = 0, bytes = 0, spanning = 0, duplicates = 0, lost = 0;
    uint64_t pending_buffers = 0, pending_bytes = 0, origins = 0, open_batches = 0;
    DecodeCounters decode;
};
static_assert(std::is_trivially_copyable_v<StreamTotals>);

struct StreamCounts : StreamTotals {
    std::vector<uint64_t> values_decoded;
};

// What of them is asked where there may be no memory to copy the rest.
struct StreamProgress {
    uint64_t batches = 0;  // that have left
    uint64_t open_origins = 0;
};

}  // namespace formatter
