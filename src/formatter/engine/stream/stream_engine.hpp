// Raw buffers of many origins, in any order, from any thread, to batches: each record exactly once.
//
// A push has three parts. Under the lock: the ring says which spanning records these buffers completed, and takes
// their pieces out (a claim). Without the lock: everything claimed and the buffers' own records are parsed. Under the lock
// again: counts, errors and the builder go back. No thread ever waits for another one's parse.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/columns/arrow_abi.hpp"
#include "engine/stream/origin.hpp"
#include "engine/stream/slab_allocator.hpp"

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
    size_t before = 0;  // bytes in front of `data` that the engine may write to
};

struct Piece;

// What is decoded, from one replan() to the next.
struct StreamPlan {
    uint64_t version = 1;
    RecordFormat format;
    std::vector<uint32_t> columns;  // what each column is called in counts and errors; empty: by its index
    mutable uint32_t held = 0;  // builders that calls decode with right now

    uint32_t column(size_t index) const { return columns.empty() ? uint32_t(index) : columns[index]; }
};

struct FinishedBatch {
    uint64_t origin = 0;
    uint64_t number = 0;  // 0, 1, 2, ... as they leave: per origin in stream order if the stream is ordered
    std::shared_ptr<const StreamPlan> plan;  // that all its rows were decoded under
    std::vector<SequenceSpan> spans;
    ArrowArray array{};
};

struct PlacedError {
    uint64_t origin;
    RowError error;  // byte_offset and record are absolute
};

enum class PushStatus : uint8_t { ok, duplicate, zero, out_of_range, finished, pending_limit, hole, beyond };

struct PushResult {
    PushStatus status = PushStatus::ok;
    std::vector<uint32_t> not_taken;  // indices; the first is the buffer that the status speaks of
    uint64_t appended = 0;
    std::vector<FinishedBatch> batches;
    std::vector<PlacedError> errors;
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

struct StreamCounts {
    uint64_t batches = 0;  // that have left
    uint64_t finished = 0;  // of the origins
    uint64_t buffers = 0, bytes = 0, spanning = 0, duplicates = 0, lost = 0;
    uint64_t pending_buffers = 0, pending_bytes = 0, origins = 0, open_batches = 0;
    DecodeCounters decode;
    std::vector<uint64_t> values_decoded;
};

// A batch under construction.
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

    void cover(uint64_t first, uint64_t last) {
        if (first > last) return;
        if (!covered.empty() && covered.back().last + 1 == first)
            covered.back().last = last;
        else
            covered.push_back({first, last});
    }
};

class StreamEngine {
  public:
    explicit StreamEngine(StreamOptions options);
    ~StreamEngine();

    // Several buffers at once are taken in the order of their sequences. On a refusal the buffers before it are taken.
    // Sequence 0 with `append`: the one behind the highest seen; the result's `appended` says which.
    PushResult push(const PushedBuffer* buffers, size_t count, bool append = false);
    PushResult lost(uint64_t origin, uint64_t sequence);
    // `last_sequence` 0: the highest seen. `use_last` tells 0 buffers from not given.
    PushResult finish(uint64_t origin, bool use_last, uint64_t last_sequence);
    // Batches whose deadline has passed, or all open ones.
    PushResult flush(bool all);
    // From its return on, what is pushed is decoded by `format`, which differs from the one before in columns and filter
    // only. Batches of rows decoded before leave in `result`, those being decoded right now with the calls that do it.
    // Unless it is forced, nothing changes if the header of an open origin lacks a column.
    PlanChange replan(RecordFormat format, std::vector<uint32_t> columns, bool force, PushResult* result);
    // Waits, so long at most, for calls that decode by plans before `version`. Returns how many batches have left then.
    uint64_t await_older(uint64_t version, int64_t timeout_ns);

    StreamCounts counts();
    std::vector<uint64_t> open_origins();

    // Waits for pushes in flight, flushes open batches into `result`, and writes the state of every origin.
    std::string checkpoint(PushResult* result);
    bool restore(const std::string& state);

  private:
    struct Run;
    struct Job;
    struct Led;
    struct Call;

    // arrival, without the lock (stream_arrival.cpp)
    struct Arrived;
    static std::vector<uint32_t> in_stream_order(const PushedBuffer* buffers, size_t count);
    void take_in(const PushedBuffer* buffers, const uint32_t* order, size_t count, Call&) const;

    // admission, under the lock (stream_admission.cpp)
    Origin& origin_of(uint64_t id);
    uint64_t position_of(const Origin&, uint64_t sequence) const;
    uint64_t sequence_of(uint64_t position) const;
    uint64_t next_position(const Origin&) const;  // behind the highest seen
    // Whether the notes on what waits, not its bytes, have become too many.
    bool too_many_notes() const {
        constexpr uint64_t note_bytes = 192, always = 1 << 20;
        return (counts_.pending_buffers + tally_count_) * note_bytes > std::max(options_.max_pending_bytes, always);
    }
    bool in_order() const { return options_.ordered || options_.format.framing.needs_prefix(); }
    PushStatus admit(const Arrived&, uint64_t position, bool lost, Call&);
    void follow(Origin&, uint64_t position, Piece, uint64_t quotes, bool lost, Call&);
    void release_held(Origin&, Call&);
    bool may_decode(Origin&, Call&) const;
    std::vector<SequenceSpan> missing(Origin&, uint64_t last_position);

    // the next buffers in order of a call that nobody else disturbs (stream_leading.cpp)
    size_t leading_buffers(const PushedBuffer* buffers, const uint32_t* order, size_t count) const;
    bool begin_leading(const PushedBuffer* buffers, const uint32_t* order, size_t count, Call&);
    void parse_leading(Job&, Call&);
    void end_leading(Job&);
    bool push_leading(const PushedBuffer* buffers, const uint32_t* order, size_t count, Call&, PushResult*);

    // shredding, under the lock (stream_shredding.cpp)
    void extend_run(Origin&, uint64_t position, Piece, const FrameEnds&, bool lost, Call&);
    void close_run(Call&);
    void claim(Origin&, const SequenceSpan&, const Run*, bool unterminated, Call&, Job*);
    void take_fragments(Origin&, uint64_t from, uint64_t to, bool to_head, Job*, Call&);
    void keep_fragments(Origin&, const Run&, bool head, bool tail);
    void follow_open_record(Origin&, const Run&);
    void report_open_record(Origin&);
    uint64_t too_many_bytes() const {  // of a record with its end, or of an open one
        return options_.max_record_bytes + options_.format.framing.record_end_size();
    }

    // parsing, without the lock (stream_parsing.cpp)
    void parse(Call&);
    void parse_run(Job&, Call&);
    void parse_pieces(Job&, Call&, Led* led);
    void parse_with_limit(Job&, Call&);
    void parse_spanning(Job&, Call&);
    size_t index_all(Job&, const uint8_t* data, size_t size, uint64_t used_before, Call&);
    void cover_through(Job&, uint64_t used);
    void too_long_or_lost(const Job&, const uint8_t* bytes, size_t size, int64_t offset, uint64_t record);
    void name_buffers(Call&);

    // batches, counts and positions, under the lock (stream_engine.cpp)
    void run(Call&, std::unique_lock<std::mutex>&, PushResult*);
    void settle(Call&, PushResult*);
    void join_tallies(Origin&, uint64_t run_first);
    void place_errors(Origin&, PushResult*);
    void use_header(Origin&, const std::string& header);
    Builder* builder_for(Origin&, Call&);
    void return_builder(Origin&, Builder*, PushResult*);
    void export_builder(Builder&, std::vector<FinishedBatch>*) const;
    void retire_builder(Builder*);
    uint64_t expected_bytes(const Call&) const;
    bool is_full(const Builder&) const;
    enum class Flush { surplus, late, all };  // more than may be open; those whose deadline has passed, too; or all
    void flush_idle(Flush, PushResult*);
    void number_batches(PushResult*);

    StreamOptions options_;
    std::shared_ptr<const StreamPlan> plan_;
    std::list<std::pair<uint64_t, std::weak_ptr<const StreamPlan>>> older_plans_;  // somebody may still hold them
    std::mutex lock_;
    std::condition_variable quiet_;
    std::atomic<uint32_t> pushing_{0};  // calls that bring buffers right now
    uint64_t in_flight_ = 0;
    bool closed_gate_ = false;  // a checkpoint waits for quiet
    std::unordered_map<uint64_t, Origin, std::hash<uint64_t>, std::equal_to<uint64_t>,
                       SlabAllocator<std::pair<const uint64_t, Origin>>>
        origins_;  // none ever leaves: a finished one is remembered
    std::map<std::string, std::shared_ptr<const RecordFormat>> formats_;  // by header
    std::list<Builder*> idle_builders_;  // oldest first
    std::vector<Builder*> spare_builders_;
    uint64_t typical_bytes_ = 0;  // of input in a full batch
    uint64_t tally_count_ = 0;  // in all origins
    StreamCounts counts_;
};

}  // namespace formatter
