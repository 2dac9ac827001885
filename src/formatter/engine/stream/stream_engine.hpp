// In: raw buffers of many origins, in any order, from any thread. Out: batches, each record exactly once. Refuses to know
// formats, but by the decoder's seam.
//
// A push has three parts. Under the lock: the ring says which spanning records these buffers completed, and takes
// their pieces out (a claim). Without the lock: everything claimed and the buffers' own records are parsed. Under the lock
// again: counts, findings and the builder go back. No thread ever waits for another one's parse.
//
// The files, in the order in which a buffer meets them: stream_push, stream_arrival, stream_admission, stream_look_ahead, stream_shredding,
// stream_parsing (run_parsing, piece_joiner), stream_settling, stream_builders.
#pragma once

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/stream/origin.hpp"
#include "engine/stream/slab_allocator.hpp"
#include "engine/stream/stream_jobs.hpp"
#include "engine/stream/stream_results.hpp"
#include "engine/threads/fork_watch.hpp"
#include "engine/threads/patient_lock.hpp"

namespace formatter {

class StreamEngine final : ForkWatch {
  public:
    explicit StreamEngine(StreamOptions options);
    ~StreamEngine();  // not of one that is closed by a fork: it waits for threads that are not there

    // No other call may follow if it is closed by a fork, and none but counts() and the destructor if it is closed.
    StreamClosed closed() const { return closed_; }
    // Rows that have left did not arrive. Calls that wait, or come back from parsing, end as if memory had run out.
    void close(StreamClosed why);

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
    StreamProgress progress();
    std::vector<uint64_t> open_origins();

    // Waits for pushes in flight, flushes open batches into `result`, and writes the state of every origin.
    std::string checkpoint(PushResult* result);
    bool restore(const std::string& state);

  private:
    using Guard = std::unique_lock<Mutex>;
    using FragmentsAt = std::map<uint64_t, Fragments>::iterator;

    class Change;

    void before_fork() override { lock_.lock(); }
    void after_fork(bool in_child) override;
    void check_open() const {
        if (closed_ != StreamClosed::no) out_of_memory();
    }
    void lock_open(Guard& guard) {
        take_soon(guard);
        check_open();
    }
    template <typename Ready>
    void wait_until(Guard& guard, Ready ready) {
        quiet_.wait(guard, [&] { return closed_ != StreamClosed::no || ready(); });
        check_open();
    }

    // the call itself (stream_push.cpp)
    size_t admit_round(bool append, StreamCall&, Guard&, PushResult*);
    void run(StreamCall&, Guard&, PushResult*);
    void parse_unlocked(StreamCall&, Guard&);
    void leave(PushResult*);

    // arrival, without the lock (stream_arrival.cpp)
    void take_in(const PushedBuffer* buffers, const uint32_t* order, size_t count, StreamCall&) const;

    // admission, under the lock (stream_admission.cpp)
    Origin& origin_of(uint64_t id);
    PushStatus locate(uint64_t id, uint64_t sequence, uint64_t* position);
    uint64_t position_of(const Origin&, uint64_t sequence) const;
    uint64_t next_position(const Origin&) const;  // behind the highest seen
    // Whether the notes on what waits, not its bytes, have become too many.
    bool too_many_notes() const {
        constexpr uint64_t note_bytes = 192, always = 1 << 20;
        return (counts_.pending_buffers + tally_count_) * note_bytes > std::max(options_.max_pending_bytes, always);
    }
    bool waits(const Origin& origin) const { return options_.in_order() || origin.preamble_open; }
    PushStatus admit(const ArrivedBuffer&, uint64_t position, bool lost, StreamCall&);
    void follow(Origin&, uint64_t position, Piece, const QuoteNotes&, bool lost, StreamCall&);
    void hold(Origin&, uint64_t position, const ArrivedBuffer&, bool lost, StreamCall&);
    RecordEnds follow_preamble(Origin&, const Piece& buffer);
    void release_held(Origin&, StreamCall&);
    void release(Origin&, std::map<uint64_t, Held>::iterator, StreamCall&);
    bool may_decode(Origin&, StreamCall&) const;
    void use_header(Origin&, const std::string& header);
    void end_preamble(Origin&);
    std::vector<SequenceSpan> missing(Origin&, uint64_t last_position);

    // record ends that what follows may show to be none, under the lock (stream_look_ahead.cpp)
    void look_ahead(Origin&, bool at_end);
    size_t look_at_preamble(Origin&, Held&);
    bool look_at(Outstanding&, Held&, size_t from) const;
    bool go_back(Outstanding&) const;
    void settle_rest(Origin&, StreamCall&, Guard&, PushResult*);

    // the next buffers in order of a call that nobody else disturbs (stream_leading.cpp)
    size_t leading_buffers(const PushedBuffer* buffers, const uint32_t* order, size_t count) const;
    bool may_lead(Origin&, const PushedBuffer& first);
    std::unique_ptr<LeadingJob> begin_leading(Origin&, const PushedBuffer*, const uint32_t* order, size_t, StreamCall&);
    void end_leading(LeadingJob&);
    bool push_leading(const PushedBuffer* buffers, const uint32_t* order, size_t count, StreamCall&, Guard&,
                      PushResult*);

    // shredding, under the lock (stream_shredding.cpp)
    void extend_run(Origin&, uint64_t position, Piece, const RecordEnds&, bool lost, StreamCall&);
    void close_run(StreamCall&);
    void open_tally(const Run&, uint32_t waits);
    void claim_head(const Run&, const SequenceSpan&, RunJob* own, StreamCall&);
    void add_own_records(const Run&, RunJob* own) const;
    std::unique_ptr<SpanningJob> claim_behind(const Run&, const SequenceSpan&, StreamCall&);
    std::unique_ptr<SpanningJob> claim_unterminated(Origin&, const SequenceSpan&, StreamCall&);
    void take_tails(uint64_t from, uint64_t to, SpanningJob*, StreamCall&);
    void take_head(uint64_t position, SpanningJob*, StreamCall&);
    void take_bytes(OwnedBytes*, SpanningJob*, StreamCall&);
    FragmentsAt erase_if_empty(std::map<uint64_t, Fragments>&, FragmentsAt);
    void keep_fragments(Origin&, const Run&, bool head, bool tail);
    void follow_open_record(Origin&, const Run&);
    void report_open_record(Origin&);

    // parsing, without the lock (stream_parsing.cpp)
    void parse(StreamCall&) const;
    void take_findings(Builder&, StreamCall&) const;

    // counts and positions, under the lock again (stream_settling.cpp)
    void settle(StreamCall&, PushResult*);
    void settle_builder(Builder&);
    void join_tallies(Origin&, uint64_t run_first);
    void place_findings(Origin&, PushResult*);
    void place_findings(const Origin&, const Tally& run, std::vector<RunFinding>*, PushResult*) const;

    // batches under construction, under the lock (stream_builders.cpp)
    Builder* builder_for(Origin&, StreamCall&);
    OwnedBuilder take_builder(Origin&);
    OwnedBuilder take_idle(Builder*);
    void expect_rest(Builder&) const;
    void return_builder(Origin&, OwnedBuilder, PushResult*);
    void retire_builder(OwnedBuilder);
    void finish_builders(Origin&, PushResult*);
    uint64_t expected_bytes(const StreamCall&) const;
    enum class Flush { surplus, late, all };  // more than may be open; those whose deadline has passed, too; or all
    void flush_idle(Flush, PushResult*);
    void number_batches(PushResult*);

    StreamOptions options_;
    std::shared_ptr<const StreamPlan> plan_;
    std::list<std::pair<uint64_t, std::weak_ptr<const StreamPlan>>> older_plans_;  // somebody may still hold them
    Mutex lock_;
    Condition quiet_;
    Atomic<StreamClosed> closed_{StreamClosed::no};  // changed under the lock
    Atomic<uint32_t> pushing_{0};  // calls that bring buffers right now
    uint64_t in_flight_ = 0;
    bool closed_gate_ = false;  // a checkpoint waits for quiet
    std::unordered_map<uint64_t, Origin, std::hash<uint64_t>, std::equal_to<uint64_t>,
                       SlabAllocator<std::pair<const uint64_t, Origin>>>
        origins_;  // none ever leaves: a finished one is remembered
    std::map<std::string, std::shared_ptr<const RecordFormat>> formats_;  // by header
    std::list<OwnedBuilder> idle_builders_;  // oldest first
    std::vector<OwnedBuilder> spare_builders_;
    uint64_t typical_bytes_ = 0;  // of input in a full batch
    uint64_t tally_count_ = 0;  // in all origins
    StreamCounts counts_;
};

}  // namespace formatter
