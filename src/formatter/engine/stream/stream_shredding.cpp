// The second part of a push, still under the lock: buffers form runs, the ring says which records are now complete, and
// the pieces of those are taken out of what earlier buffers left behind.
#include <algorithm>

#include "engine/stream/stream_call.hpp"

namespace formatter {
namespace {

constexpr size_t joined_buffer = 1 << 20;  // smaller ones form runs: parsing has a price per piece
constexpr size_t joined_tail = 64 << 10;  // fragments that follow each other are kept as one up to here

}  // namespace

void StreamEngine::extend_run(Origin& origin, uint64_t position, Piece buffer, const FrameEnds& ends, bool lost,
                              Call& call) {
    Run& run = call.run;
    const bool joins = run.origin == &origin && position == run.last + 1 && !lost && !run.lost &&
                       buffer.size < joined_buffer && run.buffers.back().size < joined_buffer;
    if (!joins) {
        close_run(call);
        origin.work();  // unfolded before the ring moves on
        run.origin = &origin;
        run.first = position;
        run.prefix_before = origin.ring.prefix();
        run.lost = lost;
    }
    const size_t index = run.buffers.size();
    const bool delimited = ends.any() || lost;
    if (delimited) {
        if (!run.delimited) {
            run.first_delimited = index;
            run.head_end = ends.any() ? ends.first : 0;
        }
        run.last_delimited = index;
        run.tail_begin = ends.any() ? ends.last : 0;
        run.inside_after = origin.state.inside;
        run.delimited = true;
    }
    run.last = position;
    run.bytes += buffer.size;
    run.buffers.push_back(buffer);
    call.admitted++;
    call.admitted_bytes += buffer.size;
    Claims claims{};
    origin.ring.process(position, delimited, claims);  // admission has excluded every refusal
    // Of those within the run the record ends here; it spans if something was open. The others are looked at when the
    // run is closed.
    for (uint32_t i = 0; i < claims.count; i++) {
        const bool within = claims.spans[i].first >= run.first && claims.spans[i].last <= run.last;
        if (within)
            counts_.spanning += run.open;
        else
            run.claims.push_back(claims.spans[i]);
    }
    if (!delimited)
        run.open |= buffer.size > 0;
    else if (ends.last == FrameEnds::later)
        run.open = run.inside_after || buffer.data[buffer.size - 1] != options_.format.framing.record_end;
    else
        run.open = ends.any() && ends.last != buffer.size;
}

void StreamEngine::close_run(Call& call) {
    Run& run = call.run;
    if (!run.origin) return;
    Origin& origin = *run.origin;
    Outstanding& work = origin.work();
    if (run.delimited && run.tail_begin == FrameEnds::later) {
        const Piece& last = run.buffers[run.last_delimited];
        run.tail_begin = options_.format.framing.last_end(last.data, last.size, run.inside_after);
    }
    const bool starts_stream = run.first == 1 && !run.lost;
    const bool has_own = run.delimited;
    const bool has_head = run.delimited && run.first != 1;
    Tally& tally = work.tallies[run.first];
    tally_count_++;
    tally.last = run.last;
    tally.bytes = run.bytes;
    tally.waits = uint32_t(has_own) + uint32_t(has_head);

    Job own;
    own.origin = &origin;
    own.run_first = run.first;
    own.run_last = run.last;
    bool head_claimed = !has_head, tail_claimed = false;
    Job behind;
    bool has_behind = false;
    for (const SequenceSpan& span : run.claims) {
        Job job;
        const bool is_head = span.last <= run.last;
        claim(origin, span, &run, false, call, &job);
        counts_.spanning += job.spans;
        if (!is_head) {
            tail_claimed = true;
            behind = std::move(job);
            has_behind = true;
            continue;
        }
        head_claimed = true;
        // Parsed in one go with the run's own records, if it is nothing special.
        const bool fits =
            job.bytes + run.bytes <= options_.max_record_bytes && !job.let_go && !job.lost && !job.reported;
        if (fits && run.buffers.back().size < joined_buffer) {
            own = std::move(job);
            own.spanning = false;
            own.merged = true;
        } else {
            call.jobs.push_back(std::move(job));
        }
    }
    own.parts = uint32_t(has_own) + uint32_t(own.merged);
    if (run.delimited && !run.lost) {
        // From the run's first byte if the spanning record is with it or the stream begins here, else behind it.
        const bool whole = own.merged || starts_stream;
        size_t index = whole ? 0 : run.first_delimited;
        if (!own.merged) {
            own.stream_start = starts_stream;
            uint64_t before = 0;
            for (size_t i = 0; i < index; i++) before += run.buffers[i].size;
            own.offset = int64_t(whole ? 0 : before + run.head_end);
        } else {
            index = run.first_delimited + 1;  // up to the first record end the bytes are there already
        }
        if (own.merged) {
            const Piece& cut = run.buffers[run.first_delimited];
            const uint64_t end = run.last_delimited == run.first_delimited ? run.tail_begin : cut.size;
            own.pieces.back().size += end - run.head_end;
            own.bytes += end - run.head_end;
        } else {
            own.pieces_before = 0;
            own.piece_position = run.first + index;
        }
        for (; index <= run.last_delimited; index++) {
            const bool cut_front = !own.merged && !whole && index == run.first_delimited;
            const uint64_t begin = cut_front ? run.head_end : 0;
            const uint64_t end = index == run.last_delimited ? run.tail_begin : run.buffers[index].size;
            const size_t before = begin ? 0 : run.buffers[index].before;
            own.pieces.push_back(Piece{run.buffers[index].data + begin, size_t(end - begin), before});
            own.bytes += end - begin;
        }
    } else {
        own.piece_position = run.last + 1;
    }
    call.jobs.push_back(std::move(own));
    if (has_behind) call.jobs.push_back(std::move(behind));
    keep_fragments(origin, run, !head_claimed, !tail_claimed);
    follow_open_record(origin, run);
    run.origin = nullptr;
    run.delimited = run.lost = run.open = false;
    run.bytes = 0;
    run.buffers.clear();
    run.claims.clear();
}

// Takes the pieces of a complete record: those in `run` are referred to in place. The last piece is the one in the
// buffer the record ends in, so that a run's own records can be put behind it.
void StreamEngine::claim(Origin& origin, const SequenceSpan& span, const Run* run, bool unterminated, Call& call,
                         Job* job) {
    job->origin = &origin;
    job->position = job->run_first = span.last;
    job->spanning = true;
    job->parts = unterminated ? 0 : 1;
    job->unterminated = unterminated;
    const auto add = [&](const uint8_t* data, size_t size, size_t before) {
        job->pieces.push_back(Piece{data, size, before});
        job->bytes += size;
    };
    if (!run) {
        take_fragments(origin, span.first, span.last, !unterminated, job, call);
        return;
    }
    const bool begins_before = span.first < run->first;
    const bool ends_behind = span.last > run->last;
    job->lost |= run->lost;
    if (begins_before) take_fragments(origin, span.first, run->first - 1, false, job, call);
    if (!begins_before && run->first == 1 && !run->delimited) job->stream_start = true;
    size_t index = begins_before || !run->delimited ? 0 : run->last_delimited;
    const size_t end = ends_behind ? run->buffers.size() : run->first_delimited + 1;
    if (!ends_behind) {
        job->run_first = run->first;
        job->run_last = run->last;
        job->offset = -int64_t(job->bytes + job->let_go);
        job->pieces_before = job->pieces.size();
        job->piece_position = run->first;
    }
    for (; index < end; index++) {
        const Piece& buffer = run->buffers[index];
        const size_t begin = !begins_before && run->delimited && index == run->last_delimited ? run->tail_begin : 0;
        const size_t stop = !ends_behind && index == run->first_delimited ? run->head_end : buffer.size;
        add(buffer.data + begin, stop - begin, begin ? 0 : buffer.before);
    }
    job->spans |= ends_behind ? job->bytes > 0 : job->lost || job->bytes + job->let_go > run->head_end;
    if (ends_behind) take_fragments(origin, run->last + 1, span.last, true, job, call);
}

// Moves the fragments of a record at these positions into a job; the one at `to` is the record's end if `to_head`.
void StreamEngine::take_fragments(Origin& origin, uint64_t from, uint64_t to, bool to_head, Job* job, Call& call) {
    auto& fragments = origin.outstanding->fragments;
    for (auto next = fragments.lower_bound(from); next != fragments.end() && next->first <= to;) {
        Fragments& f = next->second;
        const bool as_head = to_head && next->first == to;
        OwnedBytes& bytes = as_head ? f.head : f.tail;
        if (as_head) {
            // Positions count from the first buffer that the head has bytes of, which its tally knows.
            auto tally = origin.outstanding->tallies.upper_bound(to);
            job->run_first = (--tally)->first;
            job->run_last = tally->second.last;
            job->offset = -int64_t(job->bytes + job->let_go);
            job->spans |= f.head_spans;
        } else {
            job->spans |= bytes.size + f.let_go > 0;
            job->let_go += f.let_go;
            job->reported |= f.reported;
            job->stream_start |= f.from_start;
        }
        job->lost |= f.lost;
        counts_.pending_bytes -= bytes.size;
        job->bytes += bytes.size;
        if (bytes.size) {
            job->pieces.push_back(Piece{bytes.data(), bytes.size});
            call.owners.push_back(std::move(bytes));
        }
        bytes = OwnedBytes{};
        (as_head ? f.has_head : f.has_tail) = false;
        if (f.has_head || f.has_tail) {
            ++next;
        } else {
            next = fragments.erase(next);
            counts_.pending_buffers--;
        }
    }
}

// The caller's buffers are free when the call returns: what stays is copied.
void StreamEngine::keep_fragments(Origin& origin, const Run& run, bool head, bool tail) {
    auto& fragments = origin.outstanding->fragments;
    const auto entry = [&](uint64_t position) -> Fragments& {
        const size_t before = fragments.size();
        Fragments& kept = fragments[position];
        counts_.pending_buffers += fragments.size() - before;
        return kept;
    };
    if (head) {
        Fragments& kept = entry(run.first + run.first_delimited);
        kept.has_head = true;
        kept.lost = run.lost;
        if (!run.lost) {
            for (size_t i = 0; i < run.first_delimited; i++) kept.head.append(run.buffers[i].data, run.buffers[i].size);
            kept.head.append(run.buffers[run.first_delimited].data, run.head_end);
            kept.head_spans = kept.head.size > run.head_end;
        }
        counts_.pending_bytes += kept.head.size;
    }
    if (!tail) return;
    const bool follows = !run.delimited && run.first == run.prefix_before + 1;
    Fragments* before = nullptr;
    if (follows && !fragments.empty()) {
        auto at = fragments.lower_bound(run.first);
        if (at != fragments.begin() && (--at)->second.has_tail) before = &at->second;
    }
    // A record that is too long already is only counted on, so that it cannot grow without bound.
    if (before && !run.lost && origin.outstanding->open_bytes >= too_many_bytes()) {
        before->let_go += run.bytes;
        return;
    }
    const bool joins =
        before && !before->lost && before->tail.size + run.bytes <= joined_tail && !before->let_go && !run.lost;
    Fragments& kept = joins ? *before : entry(run.delimited ? run.first + run.last_delimited : run.first);
    kept.has_tail = true;
    kept.lost |= run.lost;
    kept.from_start |= run.first == 1 && !run.delimited;
    const size_t size_before = kept.tail.size;
    if (!run.lost) {
        for (size_t i = run.delimited ? run.last_delimited : 0; i < run.buffers.size(); i++) {
            const size_t begin = run.delimited && i == run.last_delimited ? run.tail_begin : 0;
            kept.tail.append(run.buffers[i].data + begin, run.buffers[i].size - begin);
        }
    }
    counts_.pending_bytes += kept.tail.size - size_before;
}

// How long the record has become that is open behind the prefix; every fragment is passed once.
void StreamEngine::follow_open_record(Origin& origin, const Run& run) {
    Outstanding& work = *origin.outstanding;
    const uint64_t prefix = origin.ring.prefix(), delimiter = origin.ring.last_delimiter();
    if (prefix == run.prefix_before) return;  // else the run is what it went on with
    const bool anew = delimiter > run.prefix_before;
    work.open_bytes = anew ? 0 : work.open_bytes + run.bytes;
    auto at = anew ? work.fragments.lower_bound(delimiter) : work.fragments.upper_bound(run.last);
    for (; at != work.fragments.end() && at->first <= prefix; ++at)
        if (at->second.has_tail) work.open_bytes += at->second.tail.size + at->second.let_go;
    if (work.open_bytes >= too_many_bytes()) report_open_record(origin);
}

// The open record is too long, however it goes on: that is said now, and its bytes are let go.
void StreamEngine::report_open_record(Origin& origin) {
    Outstanding& work = *origin.outstanding;
    const uint64_t since = origin.ring.last_delimiter() ? origin.ring.last_delimiter() : 1;
    const auto begin = work.fragments.lower_bound(since), end = work.fragments.upper_bound(origin.ring.prefix());
    if (begin == end) return;
    for (auto at = begin; at != end; ++at)
        if (at->second.lost || at->second.reported) return;  // of a lost buffer's record only the loss is reported
    RowError error;
    error.code = ErrorCode::record_too_long;
    error.sequence = origin.ring.prefix();
    error.byte_offset = -int64_t(work.open_bytes);
    error.record = at_run_end;
    const size_t most = std::min<uint64_t>(raw_most, options_.max_record_bytes);
    Fragments& kept = begin->second;
    for (auto at = begin; at != end;) {
        Fragments& f = at->second;
        const size_t more = std::min(f.tail.size, most - error.raw.size());
        error.raw.append(reinterpret_cast<const char*>(f.tail.data()), more);
        counts_.pending_bytes -= f.tail.size;
        if (&f != &kept) kept.let_go += f.let_go;
        kept.let_go += f.tail.size;
        f.tail = OwnedBytes{};
        if (&f == &kept) {
            ++at;
        } else {
            at = work.fragments.erase(at);
            counts_.pending_buffers--;
        }
    }
    kept.reported = true;
    error.found = error.raw.substr(0, 200);
    counts_.decode.records++;
    counts_.decode.rejected++;
    (--work.tallies.upper_bound(origin.ring.prefix()))->second.errors.push_back(std::move(error));
}

}  // namespace formatter
