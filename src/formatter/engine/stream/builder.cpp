#include "engine/stream/builder.hpp"

#include "engine/threads/synchronization.hpp"

namespace formatter {

void Builder::export_to(std::vector<FinishedBatch>* out, const StreamOptions& options) {
    FinishedBatch batch;
    batch.origin = origin;
    batch.plan = plan;
    std::sort(covered.begin(), covered.end(),
              [](const SequenceSpan& a, const SequenceSpan& b) { return a.first < b.first; });
    uint64_t previous = 0;
    for (SequenceSpan span : covered) {
        for (uint64_t first = span.first; first <= span.last;) {
            // A span ends where sequences wrap.
            const uint64_t sequence = options.sequence_of(first);
            uint64_t last = span.last;
            if (options.max_sequence) last = std::min(last, first + (options.max_sequence - sequence));
            if (!batch.spans.empty() && first == previous + 1 && sequence != 1)
                batch.spans.back().last = options.sequence_of(last);
            else
                batch.spans.push_back({sequence, options.sequence_of(last)});
            previous = last;
            first = last + 1;
        }
    }
    covered.clear();
    if (options.max_latency_ns >= 0) opened_ns = steady_now_ns();
    decoder->export_batch(&batch.array);
    out->push_back(std::move(batch));
}

}  // namespace formatter
