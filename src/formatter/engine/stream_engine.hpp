// Raw buffers of many origins, in any order, from any thread, to batches: each record exactly once.
//
// A push has three parts. Under the lock: the ring says which spanning records this buffer completed, and their pieces
// are taken out (a claim). Without the lock: everything claimed and the buffer's own records are parsed. Under the lock
// again: counts, errors and the builder go back. No thread ever waits for another one's parse.
#pragma once

#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/origin.hpp"

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
};

struct PushedBuffer {
    uint64_t origin;
    uint64_t sequence;
    const uint8_t* data;
    size_t size;
};

struct FinishedBatch {
    uint64_t origin = 0;
    std::vector<SequenceSpan> spans;
    ArrowArray array{};
};

struct PlacedError {
    uint64_t origin;
    RowError error;  // byte_offset and record are absolute
};

enum class PushStatus : uint8_t { ok, duplicate, zero, out_of_range, finished, pending_limit, hole, beyond, unknown_origin };

struct PushResult {
    PushStatus status = PushStatus::ok;
    size_t taken = 0;    // buffers accepted (or ignored as duplicates)
    size_t refused = 0;  // index of the buffer that the status speaks of
    std::vector<FinishedBatch> batches;
    std::vector<PlacedError> errors;
    std::vector<SequenceSpan> holes;
};

struct StreamCounts {
    uint64_t buffers = 0, bytes = 0, spanning = 0, duplicates = 0, lost = 0;
    uint64_t pending_buffers = 0, pending_bytes = 0, origins = 0, open_batches = 0;
    DecodeCounters decode;
    std::vector<uint64_t> values_decoded;
};

// A batch under construction.
struct Builder {
    Builder* next = nullptr;  // another idle one of the same origin
    std::unique_ptr<RecordDecoder> decoder;
    std::shared_ptr<const RecordFormat> format;  // of an origin with a header of its own
    std::vector<uint64_t> positions;  // buffers whose rows (or absence of rows) it accounts for
    uint64_t origin = 0;
    int64_t opened_ns = 0;
    bool full = false;
};

class StreamEngine {
  public:
    explicit StreamEngine(StreamOptions options);
    ~StreamEngine();

    // Several buffers at once are taken in the order of their sequences. On a refusal the buffers before it are taken.
    PushResult push(const PushedBuffer* buffers, size_t count);
    PushResult lost(uint64_t origin, uint64_t sequence);
    // `last_sequence` 0: the highest seen. `use_last` tells 0 buffers from not given.
    PushResult finish(uint64_t origin, bool use_last, uint64_t last_sequence);
    // Batches whose deadline has passed, or all open ones.
    PushResult flush(bool all);

    StreamCounts counts();
    std::vector<uint64_t> open_origins();

    // Waits for pushes in flight, flushes open batches into `result`, and writes the state of every origin.
    std::string checkpoint(PushResult* result);
    bool restore(const std::string& state);

  private:
    struct Job;
    struct Call;

    // admission, under the lock (stream_admission.cpp)
    Origin& origin_of(uint64_t id);
    uint64_t position_of(const Origin&, uint64_t sequence) const;
    uint64_t sequence_of(uint64_t position) const;
    // Buffers are followed in order: to know quotes or longer delimiters, to keep order, or to wait for the header.
    bool gated() const {
        return options_.ordered || options_.format.has_header || options_.format.framing.needs_prefix();
    }
    PushStatus admit(const PushedBuffer&, const QuoteSummary&, const FrameEnds&, bool lost, Call&);
    void release_held(Origin&, Call&);
    bool header_known(Origin&, bool ends, Call&);
    void own_held(Origin&);
    void shred(Origin&, uint64_t position, const Held&, const FrameEnds&, Call&);
    void claim(Origin&, const SequenceSpan&, uint64_t position, const Held&, const FrameEnds&, bool unterminated, Call&);
    void keep_fragments(Origin&, uint64_t position, const Held&, const FrameEnds&, bool head, bool tail);
    bool waits_for_room(const Origin&, uint64_t position, size_t size) const;
    std::vector<SequenceSpan> missing(Origin&, uint64_t last_position);

    // parsing, without the lock, and settling, under it (stream_engine.cpp)
    void push_group(const PushedBuffer* buffers, const uint32_t* order, size_t count, PushResult*);
    void run(Call&, std::unique_lock<std::mutex>&, PushResult*);
    void parse(Call&);
    void parse_own(Job&, Call&);
    void parse_spanning(Job&, Call&);
    void settle(Call&, PushResult*);
    void tally(Origin&, const Job&);
    void place_errors(Origin&, PushResult*);

    Builder* builder_for(Origin&, Call&);
    void return_builder(Origin&, Builder*, PushResult*);
    void export_builder(Builder&, std::vector<FinishedBatch>*) const;
    void retire_builder(Builder*);
    bool is_full(const Builder&) const;
    void flush_idle(bool all, PushResult*);

    StreamOptions options_;
    std::mutex lock_;
    std::condition_variable quiet_;
    uint64_t in_flight_ = 0;
    bool closed_gate_ = false;  // a checkpoint waits for quiet
    std::unordered_map<uint64_t, Origin> origins_;
    std::map<std::string, std::shared_ptr<const RecordFormat>> formats_;  // by header
    std::list<Builder*> idle_builders_;  // oldest first
    std::vector<Builder*> spare_builders_;
    StreamCounts counts_;
};

}  // namespace formatter
