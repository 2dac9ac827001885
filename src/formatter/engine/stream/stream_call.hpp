// What one call of the stream engine carries between its locked and its unlocked parts.
#pragma once

#include <utility>

#include "engine/columns/buffer_pool.hpp"
#include "engine/stream/stream_engine.hpp"

namespace formatter {

// Ordinals of records behind a spanning record that is parsed by itself count from here, until it is known whether that
// one was a record at all (it may have been a blank line).
constexpr uint64_t after_spanning = uint64_t(1) << 63;
// Marks the position of a record that is open at the end of its run: offset and ordinal count from there.
constexpr uint64_t at_run_end = uint64_t(1) << 62;

constexpr size_t raw_most = 4096;  // bytes of a record that is not there as a whole, in its reject

struct Piece {
    const uint8_t* data;
    size_t size;
    size_t before = 0;  // bytes in front that are ours to write to
};

// A buffer of a round, before the lock is taken.
struct StreamEngine::Arrived {
    PushedBuffer buffer;
    uint64_t quotes;
    FrameEnds ends;
};

// Buffers of one call that follow each other in one origin: admitted one by one, shredded and parsed as one.
struct StreamEngine::Run {
    Origin* origin = nullptr;  // null: none open
    uint64_t first = 0, last = 0;
    uint64_t prefix_before = 0;
    bool lost = false;
    bool delimited = false;
    bool open = false;  // there are bytes behind the last record end
    size_t first_delimited = 0, last_delimited = 0;  // buffers, counted from `first`
    uint64_t head_end = 0;     // behind the first record end, in its buffer
    uint64_t tail_begin = 0;   // behind the last record end, in its buffer
    bool inside_after = false;  // whether that buffer ends inside quotes
    uint64_t bytes = 0;
    std::vector<Piece> buffers;
    std::vector<SequenceSpan> claims;  // of records that begin or end outside
};

// What parsing tells of buffers of which nothing was known but where their first record begins.
struct StreamEngine::Led {
    std::vector<uint64_t> used;  // bytes of records that are complete, up to each piece's end
    OwnedBytes tail;             // the record that is open behind them
    bool inside = false;         // the tail ends inside quotes
};

// A piece of parsing: the records that end in a run, or one record that spans further.
struct StreamEngine::Job {
    Origin* origin = nullptr;
    Builder* builder = nullptr;
    uint64_t run_first = 0;
    uint64_t run_last = 0;
    uint64_t position = 0;       // spanning: the buffer its record ends in
    bool spanning = false;
    bool spans = false;          // bytes of several buffers, not only their edges
    bool merged = false;         // the spanning record that ends in the run is at the front of `pieces`
    bool stream_start = false;
    bool lost = false;
    bool reported = false;       // the record was rejected while it grew
    bool unterminated = false;
    std::vector<Piece> pieces;   // contiguous in the stream
    size_t pieces_before = 0;    // of `pieces`: from buffers before `piece_position`
    uint64_t piece_position = 0;
    int64_t offset = 0;          // of the first byte, from the run's start
    uint64_t let_go = 0;         // bytes of the record that are not there any more
    uint64_t bytes = 0;          // in pieces
    uint32_t parts = 0;          // of what the run's tally waits for
    uint64_t records = 0;        // out
    bool lead_covered = false;   // and the buffers of the run before `pieces`
    size_t pieces_covered = 0;   // their buffers have been accounted for in a batch
    uint64_t bytes_covered = 0;  // the bytes of those
    std::shared_ptr<Led> led;     // the pieces are whole buffers: where their records end is to be found out
    uint64_t bytes_exported = 0;  // of this job in batches that left on the way
};

struct StreamEngine::Call {
    Run run;
    std::vector<Job> jobs;
    std::vector<Origin*> origins;    // touched
    std::vector<Origin*> decoding;   // ordered: those this call decodes, and nobody else meanwhile
    std::vector<std::pair<Origin*, Builder*>> builders;
    std::vector<OwnedBytes> owners;  // of the bytes that jobs refer to
    std::vector<FinishedBatch> batches;
    std::vector<std::pair<Origin*, RowError>> errors;  // found while parsing
    uint64_t expected_bytes = 0;                       // of input in a first batch, at a guess
    std::vector<Arrived> round;
    OwnedBytes block;   // what a round's buffers were copied to
    bool alone = false;  // the block has one buffer only: who must wait may keep it
    PoolBuffer arena;                                  // where small pieces are put together
    size_t admitted = 0, admitted_bytes = 0;           // since the last parse

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
};

}  // namespace formatter
