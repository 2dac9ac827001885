// A batch under construction. In: buffers that a decoder has read. Out: a finished batch with the spans of the buffers it
// accounts for. Refuses to know who fills it, and when it has to leave.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "engine/columns/owned_array.hpp"
#include "engine/shred/shred_ring.hpp"
#include "engine/stream/stream_options.hpp"

namespace formatter {

struct FinishedBatch {
    uint64_t origin = 0;
    uint64_t number = 0;  // 0, 1, 2, ... as they leave: per origin in stream order if the stream is ordered
    std::shared_ptr<const StreamPlan> plan;  // that all its rows were decoded under
    std::vector<SequenceSpan> spans;
    OwnedArray array;
};

struct Builder {
    Builder* next = nullptr;  // another idle one of the same origin
    std::unique_ptr<RecordDecoder> decoder;
    std::shared_ptr<const StreamPlan> plan;
    const RecordFormat* format = nullptr;  // null: the plan's own
    std::vector<SequenceSpan> covered;  // positions of the buffers whose rows (or absence of rows) it accounts for
    uint64_t origin = 0;
    uint64_t bytes = 0;  // of input since it was opened
    uint64_t full_bytes = 0;  // of input in the last full batch
    bool expected = false;  // its decoder was told what is still to come, by what had come
    bool large = false;  // few are open: this one may make room for a full batch at once
    int64_t opened_ns = 0;

    bool is_empty() const { return decoder->rows() == 0 && covered.empty(); }
    bool is_full(const StreamOptions& options) const {
        return decoder->rows() >= options.max_rows || decoder->byte_count() >= options.max_batch_bytes;
    }
    bool takes(uint64_t bytes) const { return decoder->rows() == 0 || decoder->fits(bytes); }
    void cover(uint64_t first, uint64_t last) {
        if (first > last) return;
        if (!covered.empty() && covered.back().last + 1 == first)
            covered.back().last = last;
        else
            covered.push_back({first, last});
    }
    void export_to(std::vector<FinishedBatch>* out, const StreamOptions&);
};

using OwnedBuilder = std::unique_ptr<Builder>;

}  // namespace formatter
