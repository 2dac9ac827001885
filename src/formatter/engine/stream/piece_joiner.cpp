#include "engine/stream/piece_joiner.hpp"

#include <algorithm>
#include <cstring>

namespace formatter {
namespace {

constexpr size_t arena_bytes = 256 << 10;  // a block's bytes, stops and values stay in the second-level cache together
constexpr size_t large_piece = 16 << 10;  // is parsed where it is
constexpr size_t edge_bytes = 4 << 10;  // of it, to finish the record that began before

}  // namespace

void PieceJoiner::add(const Piece& piece) {
    if (piece.size < large_piece) {
        if (size_ && !in_arena_) index_open(false);
        if (piece.size) append(piece.data, piece.size);
        return;
    }
    if (size_) index_open(false);
    if (size_ && !in_arena_ && open_ + size_ == piece.data) return stay(open_, size_ + piece.size);
    if (size_ > piece.before) return join_by_edge(piece);
    uint8_t* const begin = const_cast<uint8_t*>(piece.data) - size_;  // ours, as `before` says
    if (size_) std::memcpy(begin, open_, size_);
    stay(begin, size_ + piece.size);
}

void PieceJoiner::index_open(bool in_any_case) {
    if (size_ < 2 * endless_ && !in_any_case) return;
    const size_t used = parsing_->index(open_, size_);
    open_ += used;
    size_ -= used;
    endless_ = size_;
}

// The record that began before ends in the first bytes of the piece, or those are not all of it: then neither is the rest.
void PieceJoiner::join_by_edge(const Piece& piece) {
    append(piece.data, edge_bytes);
    index_open(false);
    if (size_ > edge_bytes)
        append(piece.data + edge_bytes, piece.size - edge_bytes);
    else  // a record begins in the piece itself
        stay(piece.data + edge_bytes - size_, piece.size - edge_bytes + size_);
}

void PieceJoiner::append(const uint8_t* data, size_t count) {
    if (!in_arena_) move_to_arena();
    while (count) {
        if (filled_ == arena_.capacity()) {
            index_open(false);
            move_to_front();
        }
        const size_t more = std::min(count, arena_.capacity() - filled_);
        std::memcpy(arena_.data() + filled_, data, more);
        filled_ += more;
        size_ += more;
        data += more;
        count -= more;
    }
}

void PieceJoiner::move_to_arena() {
    if (!used_arena_ || size_ > arena_.capacity() - filled_) return move_to_front();
    if (size_) std::memcpy(arena_.data() + filled_, open_, size_);
    open_ = arena_.data() + filled_;
    filled_ += size_;
    in_arena_ = true;
}

// Of the arena, with room for as much again.
void PieceJoiner::move_to_front() {
    parsing_->decoder().materialize();  // rows, also another job's, may point there
    if (in_arena_ && size_) std::memmove(arena_.data(), open_, size_);
    const size_t wanted = std::max(2 * size_, arena_bytes);
    if (wanted > arena_.capacity()) arena_.reserve(wanted, in_arena_ ? size_ : 0);
    if (!in_arena_ && size_) std::memcpy(arena_.data(), open_, size_);
    open_ = arena_.data();
    filled_ = size_;
    in_arena_ = used_arena_ = true;
}

}  // namespace formatter
