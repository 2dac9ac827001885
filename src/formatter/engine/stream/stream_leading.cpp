// The next buffers in order, parsed where they lie. In: buffers of one origin, the first of which is the next one, from
// a call that is alone in the stream. Out: what four steps of a push make of them otherwise. Refuses to know
// more of a dialect than its quotes.
//
// Where quotes matter, all others have to know the state behind these buffers before they can use theirs, so quotes are
// counted ahead of the parse, which takes a pass over the bytes. If there are no others, nobody waits for that: parsing
// itself finds where records end, and the ring is told afterwards. Calls that come meanwhile leave their buffers to
// wait, as behind any gap, and this one hands them on when it is through.
#include <algorithm>

#include "engine/stream/stream_engine.hpp"
#include "engine/threads/patient_lock.hpp"

namespace formatter {
namespace {

constexpr size_t smallest = sized<size_t>(16 << 10, 2);  // below, buffers are better copied together
constexpr uint64_t least_records =
    sized<uint64_t>(64, 0);  // a buffer; columns are decoded stretch by stretch, and each has its price
constexpr size_t least_bytes = sized<size_t>(128 << 10, 4);
constexpr size_t most_bytes = sized<size_t>(1 << 20, 12);  // others' buffers wait so long
constexpr uint64_t longest_open = 64 << 10;  // a record that goes on and on is not looked at again each time

}  // namespace

// How many of these buffers, from the first on, follow each other and are large enough; 0 if that is not worth it.
size_t StreamEngine::leading_buffers(const PushedBuffer* buffers, const uint32_t* order, size_t count) const {
    const EndingKind kind = options_.format.ending.kind;
    const bool by_quotes = kind == EndingKind::parity || kind == EndingKind::courses;
    if (!by_quotes || options_.ordered || options_.max_sequence || options_.format.ending.looks_ahead()) return 0;
    const PushedBuffer& first = buffers[order[0]];
    size_t bytes = 0, i = 0;
    for (; i < count && bytes < most_bytes; i++) {
        const PushedBuffer& b = buffers[order[i]];
        if (b.origin != first.origin || b.sequence != first.sequence + i || b.size < smallest) break;
        bytes += b.size;
    }
    return bytes < least_bytes || bytes > options_.max_record_bytes / 2 ? 0 : i;
}

// Under the lock: whether nothing stands against it.
bool StreamEngine::may_lead(Origin& origin, const PushedBuffer& first) {
    const uint64_t prefix = origin.ring.prefix();
    if (pushing_.load() != 1 || origin.finished || origin.preamble_open) return false;
    if (prefix == 0 || first.sequence != prefix + 1 || origin.ring.last_delimiter() == 0) return false;
    if (!(origin.format ? *origin.format : plan_->format).readable) return false;
    if (first.size < least_records * (counts_.bytes / std::max<uint64_t>(counts_.decode.records, 1))) return false;
    const Outstanding& work = origin.work();
    if (!work.held.empty() || work.led_to || work.open_bytes > longest_open) return false;
    return std::all_of(work.fragments.begin(), work.fragments.end(), [](const auto& entry) {
        const Fragments& f = entry.second;
        return !f.has_head && !f.lost && !f.let_go && !f.reported && !f.from_start;
    });
}

// A job of the open record's bytes and the buffers.
std::unique_ptr<LeadingJob> StreamEngine::begin_leading(Origin& origin, const PushedBuffer* buffers,
                                                        const uint32_t* order, size_t count, StreamCall& call) {
    Outstanding& work = *origin.outstanding;
    auto job = std::make_unique<LeadingJob>();
    job->origin = &origin;
    job->run_first = job->piece_position = buffers[order[0]].sequence;
    job->run_last = work.led_to = job->run_first + count - 1;
    job->records_from = RunPosition::From::start;
    job->parts = 1;
    for (auto& entry : work.fragments) {
        OwnedBytes& tail = entry.second.tail;
        if (!tail.size) continue;
        job->add(Piece{tail.data(), tail.size});
        call.owners.push_back(std::move(tail));
    }
    counts_.pending_buffers -= work.fragments.size();
    counts_.pending_bytes -= job->bytes;
    work.fragments.clear();
    job->offset = -int64_t(job->bytes);
    job->pieces_before = job->pieces.size();
    Tally& tally = work.tallies[job->run_first];
    tally_count_++;
    tally.last = job->run_last;
    tally.waits = 1;
    for (size_t i = 0; i < count; i++) {
        const PushedBuffer& b = buffers[order[i]];
        job->add(Piece{b.data, b.size});
        tally.bytes += b.size;
    }
    counts_.buffers += count;
    counts_.bytes += tally.bytes;
    call.touch(origin);
    return job;
}

// Under the lock again: the ring hears of the buffers, and the record that is open behind them waits.
void StreamEngine::end_leading(LeadingJob& job) {
    Origin& origin = *job.origin;
    Outstanding& work = *origin.outstanding;
    uint64_t through = 0;  // the bytes of the pieces so far
    for (size_t i = 0; i < job.pieces_before; i++) through += job.pieces[i].size;
    bool open = through > 0;
    for (size_t i = job.pieces_before; i < job.pieces.size(); i++) {
        const bool delimited = job.used[i] > through;
        through += job.pieces[i].size;
        counts_.spanning += delimited && open;
        if (delimited)
            open = job.used[i] < through;
        else
            open |= job.pieces[i].size > 0;
        Claims claims{};  // all of records that have been parsed with the buffers
        if (origin.ring.process(job.piece_position + (i - job.pieces_before), delimited, claims) !=
            ShredRing::Status::ok)
            out_of_memory();
    }
    origin.state.take(job.state.quotes());
    Fragments& kept = work.fragments[origin.ring.last_delimiter()];
    kept.has_tail = true;
    kept.by_parity = false;
    kept.tail = std::move(job.tail);
    counts_.pending_buffers++;
    counts_.pending_bytes += kept.tail.size;
    work.open_bytes = kept.tail.size;
    work.led_to = 0;
}

// False if it is not this call's turn, or not alone: then nothing was done, and the lock is open. Else it is held.
bool StreamEngine::push_leading(const PushedBuffer* buffers, const uint32_t* order, size_t count, StreamCall& call,
                                Guard& guard, PushResult* result) {
    lock_open(guard);
    wait_until(guard, [this] { return !closed_gate_; });
    Origin& origin = origin_of(buffers[order[0]].origin);
    if (!may_lead(origin, buffers[order[0]])) return guard.unlock(), false;
    auto leading = begin_leading(origin, buffers, order, count, call);
    LeadingJob& job = *leading;
    call.jobs.push_back(std::move(leading));
    parse_unlocked(call, guard);
    end_leading(job);
    settle(call, result);
    run(call, guard, result);
    return true;
}

}  // namespace formatter
