// The second part of a push, still under the lock. In: admitted buffers, in the order of the stream. Out: jobs: the records
// that end in runs of them, and the spanning records that are now complete, with their pieces taken out of what earlier
// buffers left behind. Refuses to know what is in a record.
#include <algorithm>

#include "engine/stream/stream_engine.hpp"

namespace formatter {
namespace {

constexpr size_t joined_buffer = sized<size_t>(1 << 20, 6);  // smaller ones form runs: parsing has a price per piece
constexpr size_t joined_tail =
    sized<size_t>(64 << 10, 6);  // fragments that follow each other are kept as one up to here

}  // namespace

void StreamEngine::extend_run(Origin& origin, uint64_t position, Piece buffer, const RecordEnds& ends, bool lost,
                              StreamCall& call) {
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
        if (!run.delimited) run.head_end = {index, ends.any() ? ends.first : 0};
        run.tail_begin = {index, ends.any() ? ends.last : 0};
        run.inside_after = origin.state.inside;
        run.delimited = true;
    }
    run.last = position;
    run.by_parity &= ends.by_parity;
    run.bytes += buffer.size;
    run.buffers.push_back(buffer);
    Claims claims{};
    if (origin.ring.process(position, delimited, claims) != ShredRing::Status::ok)
        out_of_memory();  // admission has excluded every other refusal
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
    else if (ends.last == RecordEnds::later)
        run.open = run.inside_after || buffer.data[buffer.size - 1] != options_.format.ending.bytes.record_end;
    else
        run.open = ends.any() && ends.last != buffer.size;
}

// Jobs in the order of the stream: the spanning record that ends in the run, its own records, the one that begins there.
void StreamEngine::close_run(StreamCall& call) {
    Run& run = call.run;
    if (!run.origin) return;
    Origin& origin = *run.origin;
    if (run.delimited && run.tail_begin.offset == RecordEnds::later) {
        const Piece& last = run.buffers[run.tail_begin.buffer];
        run.tail_begin.offset = options_.format.ending.last_end(last.data, last.size, run.inside_after);
    }
    auto own = std::make_unique<RunJob>();
    own->origin = &origin;
    own->run_first = run.first;
    own->run_last = run.last;
    own->by_parity = run.by_parity;
    own->parts = run.delimited;
    const bool has_head = run.delimited && run.first != 1;
    bool head_claimed = !has_head;
    std::unique_ptr<SpanningJob> behind;
    for (const SequenceSpan& span : run.claims) {
        if (span.last > run.last) {
            behind = claim_behind(run, span, call);
        } else {
            claim_head(run, span, own.get(), call);
            head_claimed = true;
        }
    }
    add_own_records(run, own.get());
    open_tally(run, uint32_t(run.delimited) + uint32_t(has_head));
    call.jobs.push_back(std::move(own));
    keep_fragments(origin, run, !head_claimed, !behind);
    if (behind) call.jobs.push_back(std::move(behind));
    follow_open_record(origin, run);
    run.origin = nullptr;
    run.delimited = run.lost = run.open = false;
    run.by_parity = true;
    run.bytes = 0;
    run.buffers.clear();
    run.claims.clear();
}

void StreamEngine::open_tally(const Run& run, uint32_t waits) {
    Tally& tally = run.origin->outstanding->tallies[run.first];
    tally_count_++;
    tally.last = run.last;
    tally.bytes = run.bytes;
    tally.waits = waits;
}

// The record that ends in the run: in one go with the run's own records if it is nothing special, else a job by itself.
void StreamEngine::claim_head(const Run& run, const SequenceSpan& span, RunJob* own, StreamCall& call) {
    auto head = std::make_unique<SpanningJob>();
    head->origin = run.origin;
    head->run_first = run.first;
    head->run_last = run.last;
    head->position = span.last;
    head->parts = 1;
    head->lost = run.lost;
    take_tails(span.first, run.first - 1, head.get(), call);
    head->offset = -int64_t(head->whole_bytes());
    const uint64_t size = head->whole_bytes() + run.bytes_before(run.head_end);
    counts_.spanning += head->spans || head->lost || size > run.head_end.offset;
    const bool fits = size + run.bytes <= options_.max_record_bytes && !head->let_go && !head->lost && !head->reported;
    if (fits && run.buffers.back().size < joined_buffer) {
        own->records_from = RunPosition::From::start;
        own->pieces = std::move(head->pieces);
        own->by_parity &= head->by_parity;
        own->bytes = head->bytes;
        own->offset = head->offset;
        own->stream_start = head->stream_start;
        own->parts++;
        return;
    }
    run.each_between(run.begin(), run.head_end, [&](const Piece& piece) { head->add(piece); });
    head->by_parity &= run.by_parity;
    call.jobs.push_back(std::move(head));
}

// The pieces of the run's own records: from its first byte if the spanning record is with them or the stream begins here,
// else behind that.
void StreamEngine::add_own_records(const Run& run, RunJob* own) const {
    own->pieces_before = own->pieces.size();
    own->piece_position = run.last + 1;
    if (!run.delimited || run.lost) return;
    const bool merged = own->records_from == RunPosition::From::start;
    const Run::Point from = merged || run.first == 1 ? run.begin() : run.head_end;
    if (!merged) {
        own->stream_start = run.first == 1;
        own->offset = int64_t(run.bytes_before(from));
    }
    own->piece_position = run.first + from.buffer;
    run.each_between(from, run.tail_begin, [own](const Piece& piece) { own->add(piece); });
}

// The record that goes on behind the run to a buffer that came earlier.
std::unique_ptr<SpanningJob> StreamEngine::claim_behind(const Run& run, const SequenceSpan& span, StreamCall& call) {
    auto job = std::make_unique<SpanningJob>();
    job->origin = run.origin;
    job->position = span.last;
    job->parts = 1;
    job->lost = run.lost;
    if (span.first < run.first)
        take_tails(span.first, run.first - 1, job.get(), call);
    else if (run.first == 1 && !run.delimited)
        job->stream_start = true;
    const Run::Point from = span.first < run.first ? run.begin() : run.open_begin();
    run.each_between(from, run.end(), [&](const Piece& piece) { job->add(piece); });
    job->by_parity &= run.by_parity;
    job->spans |= job->bytes > 0;
    take_tails(run.last + 1, span.last - 1, job.get(), call);
    take_head(span.last, job.get(), call);
    counts_.spanning += job->spans;
    return job;
}

// The record that the stream's end ends.
std::unique_ptr<SpanningJob> StreamEngine::claim_unterminated(Origin& origin, const SequenceSpan& span,
                                                              StreamCall& call) {
    auto job = std::make_unique<SpanningJob>();
    job->origin = &origin;
    job->position = job->run_first = span.last;
    job->unterminated = true;
    take_tails(span.first, span.last, job.get(), call);
    job->offset = -int64_t(job->whole_bytes());
    return job;
}

// Moves what buffers at these positions left behind for the record that follows them into a job.
void StreamEngine::take_tails(uint64_t from, uint64_t to, SpanningJob* job, StreamCall& call) {
    auto& fragments = job->origin->outstanding->fragments;
    for (auto next = fragments.lower_bound(from); next != fragments.end() && next->first <= to;) {
        Fragments& f = next->second;
        job->spans |= f.tail.size + f.let_go > 0;
        job->let_go += f.let_go;
        job->reported |= f.reported;
        job->stream_start |= f.from_start;
        job->lost |= f.lost;
        job->by_parity &= f.by_parity;
        f.has_tail = false;
        take_bytes(&f.tail, job, call);
        next = erase_if_empty(fragments, next);
    }
}

// The end of a record that a buffer kept for it. Positions count from the first buffer that the head has bytes of, which
// its tally knows.
void StreamEngine::take_head(uint64_t position, SpanningJob* job, StreamCall& call) {
    Outstanding& work = *job->origin->outstanding;
    const auto tally = std::prev(work.tallies.upper_bound(position));
    job->run_first = tally->first;
    job->run_last = tally->second.last;
    job->offset = -int64_t(job->whole_bytes());
    const auto at = work.fragments.find(position);
    Fragments& f = at->second;
    job->spans |= f.head_spans;
    job->lost |= f.lost;
    job->by_parity &= f.by_parity;
    f.has_head = false;
    take_bytes(&f.head, job, call);
    erase_if_empty(work.fragments, at);
}

void StreamEngine::take_bytes(OwnedBytes* bytes, SpanningJob* job, StreamCall& call) {
    counts_.pending_bytes -= bytes->size;
    if (!bytes->size) return;
    job->add(Piece{bytes->data(), bytes->size});
    call.owners.push_back(bytes->take());
}

StreamEngine::FragmentsAt StreamEngine::erase_if_empty(std::map<uint64_t, Fragments>& fragments, FragmentsAt at) {
    if (at->second.has_head || at->second.has_tail) return std::next(at);
    counts_.pending_buffers--;
    return fragments.erase(at);
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
    const auto keep = [&](const Run::Point& from, const Run::Point& to, OwnedBytes* kept) {
        const size_t size_before = kept->size;
        run.each_between(from, to, [kept](const Piece& piece) { kept->append(piece.data, piece.size); });
        counts_.pending_bytes += kept->size - size_before;
    };
    if (head) {
        Fragments& kept = entry(run.first + run.head_end.buffer);
        kept.has_head = true;
        kept.lost = run.lost;
        kept.by_parity &= run.by_parity;
        if (!run.lost) keep(run.begin(), run.head_end, &kept.head);
        kept.head_spans = kept.head.size > run.head_end.offset;
    }
    if (!tail) return;
    const bool follows = !run.delimited && run.first == run.prefix_before + 1;
    Fragments* before = nullptr;
    if (follows && !fragments.empty()) {
        auto at = fragments.lower_bound(run.first);
        if (at != fragments.begin() && (--at)->second.has_tail) before = &at->second;
    }
    // A record that is too long already is only counted on, so that it cannot grow without bound.
    if (before && !run.lost && origin.outstanding->open_bytes >= options_.too_many_bytes()) {
        before->let_go += run.bytes;
        return;
    }
    const bool joins =
        before && !before->lost && before->tail.size + run.bytes <= joined_tail && !before->let_go && !run.lost;
    Fragments& kept = joins ? *before : entry(run.first + run.open_begin().buffer);
    kept.has_tail = true;
    kept.lost |= run.lost;
    kept.by_parity &= run.by_parity;
    kept.from_start |= run.first == 1 && !run.delimited;
    if (!run.lost) keep(run.open_begin(), run.end(), &kept.tail);
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
    if (work.open_bytes >= options_.too_many_bytes()) report_open_record(origin);
}

// The open record is too long, however it goes on: that is said now, and its bytes are let go.
void StreamEngine::report_open_record(Origin& origin) {
    Outstanding& work = *origin.outstanding;
    const uint64_t since = origin.ring.last_delimiter() ? origin.ring.last_delimiter() : 1;
    const auto begin = work.fragments.lower_bound(since), end = work.fragments.upper_bound(origin.ring.prefix());
    if (begin == end) return;
    for (auto at = begin; at != end; ++at)
        if (at->second.lost || at->second.reported) return;  // of a lost buffer's record only the loss is reported
    const size_t most = std::min<uint64_t>(partial_raw_most, options_.max_record_bytes);
    std::string raw;
    uint64_t let_go = 0;
    for (auto at = begin; at != end;) {
        Fragments& f = at->second;
        raw.append(reinterpret_cast<const char*>(f.tail.data()), std::min(f.tail.size, most - raw.size()));
        counts_.pending_bytes -= f.tail.size;
        let_go += f.let_go + f.tail.size;
        f.tail = OwnedBytes{};
        f.has_tail = at == begin;
        at = erase_if_empty(work.fragments, at);
    }
    begin->second.let_go = let_go;
    begin->second.reported = true;
    counts_.decode.records++;
    counts_.decode.rejected++;
    // Behind a header that long no column can be found.
    const bool header = origin.preamble_open && work.preamble.too_long;
    const ErrorCode code = header ? ErrorCode::header : ErrorCode::record_too_long;
    std::prev(work.tallies.upper_bound(origin.ring.prefix()))
        ->second.findings.emplace_back(
            Finding::of_record(code, reinterpret_cast<const uint8_t*>(raw.data()), raw.size()),
            RunPosition{RunPosition::From::end, -int64_t(work.open_bytes), 0, origin.ring.prefix()});
}

}  // namespace formatter
