// What is parsed without the lock, by kind, and what one call carries between its locked and its unlocked parts. In: what
// admission and shredding found. Out: rows in builders, findings by run. Refuses to know the ring.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "engine/columns/buffer_pool.hpp"
#include "engine/stream/builder.hpp"
#include "engine/stream/origin.hpp"

namespace formatter {

struct StreamCall;

struct PushedBuffer {
    uint64_t origin;
    uint64_t sequence;
    const uint8_t* data;
    size_t size;
    size_t before = 0;  // bytes in front of `data` that the engine may write to
};

// A buffer of a round, before the lock is taken.
struct ArrivedBuffer {
    PushedBuffer buffer;
    QuoteNotes notes;
    RecordEnds ends;
};

struct Piece {
    const uint8_t* data;
    size_t size;
    size_t before = 0;  // bytes in front that are ours to write to
};

// Buffers of one call that follow each other in one origin: admitted one by one, shredded and parsed as one.
struct Run {
    struct Point {  // in the run's bytes
        size_t buffer = 0;  // counted from `first`
        uint64_t offset = 0;  // in it
    };

    Origin* origin = nullptr;  // null: none open
    uint64_t first = 0, last = 0;
    uint64_t prefix_before = 0;
    bool lost = false;
    bool delimited = false;
    bool open = false;  // there are bytes behind the last record end
    bool by_parity = true;  // of each buffer
    Point head_end;  // behind the first record end
    Point tail_begin;  // behind the last one; it may be left for later
    bool inside_after = false;  // whether that buffer ends inside quotes
    uint64_t bytes = 0;
    std::vector<Piece> buffers;
    std::vector<SequenceSpan> claims;  // of records that begin or end outside

    Point begin() const { return {0, 0}; }
    Point end() const { return {buffers.size(), 0}; }
    // The tail, or all of it if no record ends here.
    Point open_begin() const { return delimited ? tail_begin : begin(); }
    uint64_t bytes_before(const Point& point) const {
        uint64_t bytes = point.offset;
        for (size_t i = 0; i < point.buffer; i++) bytes += buffers[i].size;
        return bytes;
    }
    // Calls add(piece) for each buffer that has a part between the points, even an empty one.
    template <typename Add>
    void each_between(const Point& from, const Point& to, Add add) const {
        for (size_t i = from.buffer; i < to.buffer || (i == to.buffer && to.offset); i++) {
            const Piece& buffer = buffers[i];
            const uint64_t begin = i == from.buffer ? from.offset : 0;
            const uint64_t end = i == to.buffer ? to.offset : buffer.size;
            add(Piece{buffer.data + begin, size_t(end - begin), begin ? 0 : buffer.before});
        }
    }
};

// What is parsed in one go: bytes that follow each other in the stream.
struct Job {
    virtual ~Job() = default;
    virtual void parse(const StreamOptions&, StreamCall&) = 0;
    // Records that were found to be a spanning one, beside those of the run.
    virtual uint64_t span_records() const { return 0; }
    // The buffer in which a record ends. `begin`: where its decoder's place is, from the run's start.
    virtual uint64_t buffer_of(const RecordEnding&, const PlacePosition&, int64_t begin, bool whole_record) const = 0;

    void add(const Piece& piece) {
        pieces.push_back(piece);
        bytes += piece.size;
    }

    Origin* origin = nullptr;
    Builder* builder = nullptr;
    uint64_t run_first = 0, run_last = 0;  // the run whose tally waits for it
    uint32_t parts = 0;  // of what that waits for
    std::vector<Piece> pieces;
    uint64_t bytes = 0;  // in pieces
    int64_t offset = 0;  // of the first byte, from the run's start
    bool stream_start = false;
    bool by_parity = true;  // each quote counts
    uint64_t records = 0;  // out
};

// The records that end in a run.
struct RunJob : Job {
    // `start` if the spanning record that ends in the run is at the front of the pieces. If that is parsed by itself, it is
    // not known whether it is a record at all: it may be a blank line.
    RunPosition::From records_from = RunPosition::From::behind_spanning;
    size_t pieces_before = 0;  // of `pieces`: from buffers before `piece_position`
    uint64_t piece_position = 0;

    void parse(const StreamOptions&, StreamCall&) override;
    uint64_t buffer_of(const RecordEnding&, const PlacePosition&, int64_t begin, bool whole_record) const override;
};

// The next buffers in order, whole: parsing itself finds where their records end.
struct LeadingJob : RunJob {
    std::vector<uint64_t> used;  // bytes of records that are complete, up to each piece's end
    OwnedBytes tail;  // the record that is open behind them
    ScanState state;  // at its end

    void parse(const StreamOptions&, StreamCall&) override;
};

// One record that spans buffers, its pieces apart from each other.
struct SpanningJob : Job {
    uint64_t position = 0;  // of the buffer it ends in
    uint64_t let_go = 0;  // bytes of it that are not there any more
    bool lost = false;  // a buffer that it has bytes in
    bool reported = false;  // it was rejected while it grew
    bool unterminated = false;  // the stream's end ends it
    bool spans = false;  // it has bytes of several buffers, not only their edges

    void parse(const StreamOptions&, StreamCall&) override;
    uint64_t span_records() const override { return records; }
    uint64_t buffer_of(const RecordEnding&, const PlacePosition&, int64_t, bool) const override { return position; }
    uint64_t whole_bytes() const { return bytes + let_go; }
};

struct StreamCall {
    struct JobPlace {  // that a decoder was told of
        Job* job;
        RunPosition begin;
    };
    struct JobFinding {
        const Job* job;
        RunFinding what;
    };

    Run run;
    std::vector<std::unique_ptr<Job>> jobs;
    std::vector<Origin*> origins;  // touched
    std::vector<Origin*> decoding;  // ordered: those this call decodes, and nobody else meanwhile
    std::vector<std::pair<Origin*, OwnedBuilder>> builders;
    std::vector<OwnedBytes> owners;  // of the bytes that jobs refer to
    std::vector<FinishedBatch> batches;
    std::vector<JobPlace> places;
    std::vector<JobFinding> findings;
    uint64_t expected_bytes = 0;  // of input in a first batch, at a guess
    std::vector<ArrivedBuffer> round;
    OwnedBytes block;  // what a round's buffers were copied to
    bool alone = false;  // the block has one buffer only: who must wait may keep it
    PoolBuffer arena;  // where small pieces are put together

    void touch(Origin& origin) {
        if (origins.empty() || origins.back() != &origin) {
            for (Origin* known : origins)
                if (known == &origin) return;
            origins.push_back(&origin);
        }
    }
    bool decodes(const Origin& origin) const {
        for (const Origin* known : decoding)
            if (known == &origin) return true;
        return false;
    }
    // Tells the job's decoder where its next bytes stand.
    void place(Job& job, const RunPosition& begin, bool stream_start, uint64_t bytes) {
        job.builder->decoder->place(Place{uint32_t(places.size()), stream_start, bytes});
        places.push_back({&job, begin});
    }
    // A record that is too long or lost.
    void reject(Job& job, Finding&& finding, const RunPosition& at) {
        findings.push_back({&job, {std::move(finding), at}});
        job.builder->decoder->counters.records++;
        job.builder->decoder->counters.rejected++;
    }
    // Whoever said that records end here sees none in the bytes behind `at`.
    void refuse_unread(Job& job, const RunPosition& at) {
        Finding finding{ErrorCode::indexer_failed};
        finding.found = "no record in bytes that end one";
        reject(job, std::move(finding), at);
        job.records++;
    }
};

}  // namespace formatter
