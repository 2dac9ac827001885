// The third part of a push, without the lock: what was admitted and claimed becomes rows in a builder.
#include <algorithm>
#include <cstring>

#include "engine/stream/stream_call.hpp"

namespace formatter {
namespace {

constexpr size_t arena_bytes = 256 << 10;  // a block's bytes, stops and values stay in the second-level cache together
constexpr size_t large_piece = 16 << 10;  // is parsed where it is
constexpr size_t edge_bytes = 4 << 10;  // of it, to finish the record that began before

}  // namespace

void StreamEngine::parse(Call& call) {
    for (Job& job : call.jobs) {
        if (job.led)
            parse_leading(job, call);
        else
            job.spanning ? parse_spanning(job, call) : parse_run(job, call);
        job.builder->bytes += job.bytes - job.bytes_exported;
    }
    for (auto& entry : call.builders) entry.second->decoder->materialize();
    name_buffers(call);
}

void StreamEngine::parse_run(Job& job, Call& call) {
    Builder& builder = *job.builder;
    if (job.bytes > options_.max_record_bytes) {
        parse_with_limit(job, call);
    } else if (job.bytes) {
        const uint64_t ordinal = job.merged ? 0 : after_spanning;
        builder.decoder->place(Place{job.run_first, job.offset, ordinal, job.stream_start, job.bytes});
        if (job.pieces.size() == 1)
            index_all(job, job.pieces[0].data, job.bytes, 0, call);
        else
            parse_pieces(job, call, nullptr);
        job.records = builder.decoder->records_placed();
    }
    cover_through(job, job.bytes);
    const uint64_t covered = job.piece_position + (job.pieces.size() - job.pieces_before);
    if (job.pieces.empty())
        builder.cover(job.run_first, job.run_last);
    else
        builder.cover(covered, job.run_last);
}

// Makes long stretches of pieces: what lies one behind the other stays as it is, the record that a piece begins is
// brought in front of the next one where there is room, and only what is small or has no room is put together in the
// arena. Rows that wait in the decoder point into these bytes: they stay as they are until those have been decoded.
// `led`, if given, is told how far the records of each piece went, and gets what is left.
void StreamEngine::parse_pieces(Job& job, Call& call, Led* led) {
    RecordDecoder& decoder = *job.builder->decoder;
    const uint8_t* open = nullptr;  // what is not indexed yet
    size_t size = 0;
    size_t filled = 0;  // of the arena
    bool in_arena = false;  // the open bytes end where it is filled to
    bool used_arena = false;
    uint64_t used = 0;
    const auto index_open = [&] {
        const size_t more = index_all(job, open, size, used, call);
        open += more;
        size -= more;
        used += more;
    };
    const auto to_front = [&] {  // of the arena, with room for as much again
        decoder.materialize();  // rows, also another job's, may point there
        if (in_arena && size) std::memmove(call.arena.data(), open, size);
        const size_t wanted = std::max(2 * size, arena_bytes);
        if (wanted > call.arena.capacity()) call.arena.reserve(wanted, in_arena ? size : 0);
        if (!in_arena && size) std::memcpy(call.arena.data(), open, size);
        open = call.arena.data();
        filled = size;
        in_arena = used_arena = true;
    };
    const auto append = [&](const uint8_t* data, size_t count) {
        if (!used_arena || (!in_arena && size > call.arena.capacity() - filled)) {
            to_front();
        } else if (!in_arena) {
            if (size) std::memcpy(call.arena.data() + filled, open, size);
            open = call.arena.data() + filled;
            filled += size;
            in_arena = true;
        }
        while (count) {
            if (filled == call.arena.capacity()) {
                index_open();
                to_front();
            }
            const size_t more = std::min(count, call.arena.capacity() - filled);
            std::memcpy(call.arena.data() + filled, data, more);
            filled += more;
            size += more;
            data += more;
            count -= more;
        }
    };
    const auto in_place = [&](const uint8_t* data, size_t count) {
        open = data;
        size = count;
        in_arena = false;
    };
    for (size_t i = 0; i < job.pieces.size(); i++) {
        Piece piece = job.pieces[i];
        for (; !led && i + 1 < job.pieces.size() && job.pieces[i + 1].data == piece.data + piece.size; i++)
            piece.size += job.pieces[i + 1].size;
        if (led && i) {  // the ends of the piece before
            index_open();
            led->used.push_back(used);
        }
        if (piece.size < large_piece) {
            if (size && !in_arena) index_open();
            if (piece.size) append(piece.data, piece.size);
        } else {
            if (size) index_open();
            if (size && !in_arena && open + size == piece.data) {
                in_place(open, size + piece.size);
                continue;
            }
            if (size <= piece.before) {
                uint8_t* begin = const_cast<uint8_t*>(piece.data) - size;  // ours, as `before` says
                if (size) std::memcpy(begin, open, size);
                in_place(begin, size + piece.size);
                continue;
            }
            append(piece.data, edge_bytes);
            index_open();
            if (size > edge_bytes)  // the record that began before is longer
                append(piece.data + edge_bytes, piece.size - edge_bytes);
            else  // here a record begins in the piece itself
                in_place(piece.data + edge_bytes - size, piece.size - edge_bytes + size);
        }
    }
    index_open();
    if (led) {
        led->used.push_back(used);
        led->tail.append(open, size);
    }
    if (used_arena) decoder.materialize();
}

// Indexes all complete records of [data, data + size); full batches leave on the way. Returns the bytes used.
size_t StreamEngine::index_all(Job& job, const uint8_t* data, size_t size, uint64_t used_before, Call& call) {
    Builder& builder = *job.builder;
    RecordDecoder& decoder = *builder.decoder;
    size_t done = 0;
    while (done < size) {
        const uint64_t room = options_.max_rows > decoder.rows() ? options_.max_rows - decoder.rows() : 0;
        const size_t used = room ? decoder.index(data + done, size - done, room) : 0;
        done += used;
        if (is_full(builder)) {
            decoder.materialize();
            if (!is_full(builder)) continue;  // a filter made room
            cover_through(job, used_before + done);
            export_builder(builder, &call.batches);
            // Room for the next one, which will be alike, is made at once.
            builder.full_bytes = builder.bytes + (used_before + done - job.bytes_exported);
            builder.bytes = 0;
            job.bytes_exported = used_before + done;
            if (builder.large) decoder.expect(builder.full_bytes);
        } else if (used == 0) {
            break;  // the rest is no complete record
        }
    }
    return done;
}

// A buffer belongs to the batch in which the last of its own records stands.
void StreamEngine::cover_through(Job& job, uint64_t used) {
    if (job.pieces.empty()) return;
    if (!job.lead_covered) job.builder->cover(job.run_first, job.piece_position - 1);
    job.lead_covered = true;
    for (; job.pieces_covered < job.pieces.size(); job.pieces_covered++) {
        const uint64_t end = job.bytes_covered + job.pieces[job.pieces_covered].size;
        if (end > used) return;
        job.bytes_covered = end;
        if (job.pieces_covered < job.pieces_before) continue;
        const uint64_t position = job.piece_position + (job.pieces_covered - job.pieces_before);
        job.builder->cover(position, position);
    }
}

// The same as parse_run, where a record of these bytes may be longer than the stream allows.
void StreamEngine::parse_with_limit(Job& job, Call& call) {
    const Framing& framing = options_.format.framing;
    RecordDecoder& decoder = *job.builder->decoder;
    const uint8_t* data = job.pieces[0].data;
    if (job.pieces.size() > 1) {
        OwnedBytes whole;
        for (const Piece& piece : job.pieces) whole.append(piece.data, piece.size);
        data = whole.data();
        call.owners.push_back(std::move(whole));
    }
    const uint64_t base = job.merged ? 0 : after_spanning;
    size_t begin = 0, at = 0;
    const auto index_up_to = [&](size_t end) {
        if (end == begin) return;
        decoder.place(
            Place{job.run_first, job.offset + int64_t(begin), base + job.records, job.stream_start && begin == 0});
        index_all(job, data + begin, end - begin, begin, call);
        job.records += decoder.records_placed();
    };
    while (at < job.bytes) {
        uint64_t size;
        if (at == 0 && job.stream_start && options_.format.has_header) {
            PreambleScan preamble;
            size = preamble.advance(framing, data, job.bytes);
        } else {
            ScanState state;
            if (at == 0 && job.stream_start) state.mark = 0;
            size = framing.record_size(data + at, job.bytes - at, &state);
        }
        if (size == FrameEnds::none) break;  // cannot be: a run's own records end where it says
        if (size - framing.record_end_size() > options_.max_record_bytes) {
            index_up_to(at);
            too_long_or_lost(job, data + at, size, job.offset + int64_t(at), base + job.records);
            job.records++;
            begin = at + size;
        }
        at += size;
    }
    index_up_to(job.bytes);
}

// One record whose pieces stand apart.
void StreamEngine::parse_spanning(Job& job, Call& call) {
    Builder& builder = *job.builder;
    RecordDecoder& decoder = *builder.decoder;
    if (job.bytes + job.let_go == 0 && !(job.unterminated && options_.format.framing.checks_end())) return;
    OwnedBytes stitched;
    const uint8_t* bytes = job.pieces.empty() ? nullptr : job.pieces[0].data;
    if (job.pieces.size() > 1) {
        stitched.reserve(job.bytes, 0);
        for (const Piece& piece : job.pieces) stitched.append(piece.data, piece.size);
        bytes = stitched.data();
    }
    const uint64_t record_end = job.unterminated ? 0 : options_.format.framing.record_end_size();
    if (job.lost || job.reported ||
        job.bytes + job.let_go - std::min(record_end, job.bytes) > options_.max_record_bytes) {
        if (!job.reported) too_long_or_lost(job, bytes, job.bytes, job.offset, 0);
        job.records = 1;
        return;
    }
    if (is_full(builder)) {
        decoder.materialize();
        if (is_full(builder)) export_builder(builder, &call.batches);
    }
    decoder.place(Place{job.position, job.offset, 0, job.stream_start});
    if (job.unterminated)
        decoder.index_unterminated(bytes, job.bytes);
    else
        decoder.index(bytes, job.bytes, options_.max_rows - decoder.rows());
    job.records = decoder.records_placed();
    if (stitched.size) call.owners.push_back(std::move(stitched));  // until the builder has materialized
}

void StreamEngine::too_long_or_lost(const Job& job, const uint8_t* bytes, size_t size, int64_t offset,
                                    uint64_t record) {
    RowError error;
    error.code = job.lost ? ErrorCode::lost : ErrorCode::record_too_long;
    error.sequence = job.spanning ? job.position : job.run_first;
    error.byte_offset = offset;
    error.record = record;
    // As much as is there for every chunking.
    const size_t most = job.lost ? raw_most : std::min<size_t>(raw_most, options_.max_record_bytes);
    if (size) error.raw.assign(reinterpret_cast<const char*>(bytes), std::min(size, most));
    error.found = error.raw.substr(0, 200);
    job.builder->decoder->counters.records++;
    job.builder->decoder->counters.rejected++;
    job.builder->decoder->errors.push_back(std::move(error));
}

// Errors name the buffer their record ends in; those of a run that was parsed as one know the run's first buffer only.
void StreamEngine::name_buffers(Call& call) {
    const Framing& framing = options_.format.framing;
    for (auto& entry : call.builders) {
        for (RowError& error : entry.second->decoder->errors) {
            const auto found = std::find_if(call.jobs.begin(), call.jobs.end(), [&](const Job& job) {
                return job.builder == entry.second && !job.spanning && job.run_first == error.sequence &&
                       (job.merged || error.record & after_spanning);
            });
            if (found == call.jobs.end() || found->run_first == found->run_last) continue;
            const Job& job = *found;
            uint64_t skip = uint64_t(error.byte_offset - job.offset);  // from here the record goes on to its end
            if (error.record_end >= 0) skip = uint64_t(error.record_end - 1 - job.offset);
            ScanState state;
            state.at_record_start = error.column < 0;
            for (size_t i = 0; i < job.pieces.size(); i++) {
                const Piece& piece = job.pieces[i];
                if (skip >= piece.size) {
                    skip -= piece.size;
                    continue;
                }
                const uint64_t end =
                    error.record_end >= 0 ? 0 : framing.record_size(piece.data + skip, piece.size - skip, &state);
                skip = 0;
                if (end == FrameEnds::none) continue;
                error.sequence = job.piece_position + (i - job.pieces_before);
                break;
            }
        }
    }
}

}  // namespace formatter
