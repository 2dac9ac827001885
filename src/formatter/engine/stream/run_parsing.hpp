// The records of a run to rows. In: a job with its pieces. Out: rows in its builder, full batches on the way, and which
// buffers each batch accounts for. Refuses to know how pieces become stretches, and what findings mean.
#pragma once

#include "engine/stream/stream_jobs.hpp"

namespace formatter {

class RunParsing {
  public:
    RunParsing(const StreamOptions& options, RunJob& job, StreamCall& call)
        : options_(options), job_(job), call_(call), builder_(*job.builder) {}

    void parse();
    // Where their records end is not known beforehand: what is open behind them becomes the job's tail.
    void parse_leading(LeadingJob&);

    // Indexes all complete records of the bytes behind those indexed last. Returns how many bytes they have.
    size_t index(const uint8_t* data, size_t size);
    RecordDecoder& decoder() { return *builder_.decoder; }
    StreamCall& call() { return call_; }

  private:
    void parse_pieces();
    void parse_with_limit();
    const uint8_t* joined();
    void index_settled(const uint8_t* data, size_t size);
    void export_full();
    void cover_through(uint64_t used);
    void cover_rest();

    const StreamOptions& options_;
    RunJob& job_;
    StreamCall& call_;
    Builder& builder_;
    uint64_t used_ = 0;  // bytes of records that were indexed
    uint64_t exported_ = 0;  // of them, those whose rows left in full batches
    bool lead_covered_ = false;  // the run's buffers before its pieces have been accounted for
    size_t pieces_covered_ = 0;
    uint64_t bytes_covered_ = 0;  // of those
};

}  // namespace formatter
