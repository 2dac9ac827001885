// Long stretches of bytes from the pieces of a run, one after the other, and their records indexed. In: pieces, in the order
// of the stream. Out: what is left behind the last complete record. Refuses to know where pieces come from, and what is done
// with full batches.
//
// What lies one behind the other stays as it is. The record that a piece begins is brought in front of the next piece where
// there is room, and only what is small or has no room is put together in the arena. Rows that wait in the decoder point
// into these bytes: they stay as they are until those have been decoded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/stream/run_parsing.hpp"

namespace formatter {

class PieceJoiner {
  public:
    explicit PieceJoiner(RunParsing* parsing) : parsing_(parsing), arena_(parsing->call().arena) {}
    ~PieceJoiner() {
        if (used_arena_) parsing_->decoder().materialize();  // the next job may write there
    }

    void add(const Piece&);
    // Indexes what is open. A record over many pieces is looked at again only when it has doubled, since each look begins
    // at its begin; `in_any_case`: now.
    void index_open(bool in_any_case);
    const uint8_t* open() const { return open_; }
    size_t open_size() const { return size_; }

  private:
    void append(const uint8_t* data, size_t count);
    void move_to_arena();
    void move_to_front();
    void join_by_edge(const Piece&);
    void stay(const uint8_t* data, size_t size) {
        open_ = data;
        size_ = size;
        in_arena_ = false;
    }

    RunParsing* parsing_;
    PoolBuffer& arena_;
    const uint8_t* open_ = nullptr;  // what is not indexed yet
    size_t size_ = 0;
    size_t endless_ = 0;  // of the open bytes, those that were found to be no complete record
    size_t filled_ = 0;  // of the arena
    bool in_arena_ = false;  // the open bytes end where it is filled to
    bool used_arena_ = false;
};

}  // namespace formatter
