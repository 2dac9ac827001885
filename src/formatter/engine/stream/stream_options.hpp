// What a stream is opened with, and what its batches are decoded by. In: the binding's choice. Out: plain data, and how
// positions and sequences belong together. Refuses to know buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/records/record_format.hpp"

namespace formatter {

struct StreamOptions {
    RecordFormat format;
    bool ordered = false;
    bool ignore_duplicates = false;
    uint64_t max_sequence = 0;
    uint64_t max_record_bytes = 0;
    uint64_t max_pending_bytes = 0;
    uint64_t max_rows = 65536;
    uint64_t max_batch_bytes = 16 << 20;
    int64_t max_latency_ns = -1;  // negative: no deadline

    // Sequences may wrap; positions never do.
    uint64_t sequence_of(uint64_t position) const {
        return max_sequence && position ? (position - 1) % max_sequence + 1 : position;
    }
    bool in_order() const { return ordered || format.ending.needs_prefix(); }
    uint64_t too_many_bytes() const {  // of a record with its end, or of an open one
        return max_record_bytes + format.ending.record_end_size;
    }
};

// What is decoded, from one replan() to the next.
struct StreamPlan {
    uint64_t version = 1;
    RecordFormat format;
    std::vector<uint32_t> columns;  // what each column is called in counts and findings; empty: by its index
    mutable uint32_t held = 0;  // builders that calls decode with right now

    uint32_t column(size_t index) const { return columns.empty() ? uint32_t(index) : columns[index]; }
};

}  // namespace formatter
