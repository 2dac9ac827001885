// The next buffers in order, parsed where they lie. In: buffers of one origin, the first of which is the next one, from
// a call that is alone in the stream. Out: what four steps of a push make of them otherwise. Knows dialects by parity only.
//
// Where quotes matter, all others have to know the state behind these buffers before they can use theirs, so quotes are
// counted ahead of the parse, which takes a pass over the bytes. If there are no others, nobody waits for that: parsing
// itself finds where records end, and the ring is told afterwards. Calls that come meanwhile leave their buffers to
// wait, as behind any gap, and this one hands them on when it is through.
#include <algorithm>

#include "engine/threads/patient_lock.hpp"
#include "engine/stream/stream_call.hpp"

namespace formatter {
namespace {

constexpr size_t smallest = 16 << 10;  // below, buffers are better copied together
constexpr uint64_t least_records = 64;  // a buffer; columns are decoded stretch by stretch, and each has its price
constexpr size_t least_bytes = 128 << 10;
constexpr size_t most_bytes = 1 << 20;  // others' buffers wait so long
constexpr uint64_t longest_open = 64 << 10;  // a record that goes on and on is not looked at again each time

}  // namespace

// How many of these buffers, from the first on, follow each other and are large enough; 0 if that is not worth it.
size_t StreamEngine::leading_buffers(const PushedBuffer* buffers, const uint32_t* order, size_t count) const {
    if (options_.format.framing.kind != FramingKind::parity || options_.ordered || options_.max_sequence) return 0;
    const PushedBuffer& first = buffers[order[0]];
    size_t bytes = 0, i = 0;
    for (; i < count && bytes < most_bytes; i++) {
        const PushedBuffer& b = buffers[order[i]];
        if (b.origin != first.origin || b.sequence != first.sequence + i || b.size < smallest) break;
        bytes += b.size;
    }
    return bytes < least_bytes || bytes > options_.max_record_bytes / 2 ? 0 : i;
}

// Under the lock: takes the open record's bytes and makes a job of them and the buffers, if all is as it has to be.
bool StreamEngine::begin_leading(const PushedBuffer* buffers, const uint32_t* order, size_t count, Call& call) {
    const PushedBuffer& first = buffers[order[0]];
    Origin& origin = origin_of(first.origin);
    const uint64_t prefix = origin.ring.prefix();
    if (pushing_.load() != 1 || origin.finished || origin.preamble_open) return false;
    if (prefix == 0 || first.sequence != prefix + 1 || origin.ring.last_delimiter() == 0) return false;
    const RecordFormat& format = origin.format ? *origin.format : plan_->format;
    if (format.framing.csv && format.framing.csv->unreadable) return false;
    if (first.size < least_records * (counts_.bytes / std::max<uint64_t>(counts_.decode.records, 1))) return false;
    Outstanding& work = origin.work();
    if (!work.held.empty() || work.led_to || work.open_bytes > longest_open) return false;
    for (const auto& entry : work.fragments) {
        const Fragments& f = entry.second;
        if (f.has_head || f.lost || f.let_go || f.reported || f.from_start) return false;
    }
    Job job;
    job.origin = &origin;
    job.led = std::make_shared<Led>();
    job.run_first = job.piece_position = first.sequence;
    job.run_last = work.led_to = first.sequence + count - 1;
    job.merged = true;
    job.parts = 1;
    for (auto& entry : work.fragments) {
        OwnedBytes& tail = entry.second.tail;
        if (!tail.size) continue;
        job.bytes += tail.size;
        job.pieces.push_back(Piece{tail.data(), tail.size});
        call.owners.push_back(std::move(tail));
    }
    counts_.pending_buffers -= work.fragments.size();
    counts_.pending_bytes -= job.bytes;
    work.fragments.clear();
    job.offset = -int64_t(job.bytes);
    job.pieces_before = job.pieces.size();
    Tally& tally = work.tallies[job.run_first];
    tally_count_++;
    tally.last = job.run_last;
    tally.waits = 1;
    for (size_t i = 0; i < count; i++) {
        const PushedBuffer& b = buffers[order[i]];
        job.pieces.push_back(Piece{b.data, b.size});
        tally.bytes += b.size;
    }
    job.bytes += tally.bytes;
    counts_.buffers += count;
    counts_.bytes += tally.bytes;
    call.touch(origin);
    job.builder = builder_for(origin, call);
    call.jobs.push_back(std::move(job));
    return true;
}

// Without the lock.
void StreamEngine::parse_leading(Job& job, Call& call) {
    RecordDecoder& decoder = *job.builder->decoder;
    Led& led = *job.led;
    decoder.place(Place{job.run_first, job.offset, 0, false, job.bytes});
    parse_pieces(job, call, &led);
    job.records = decoder.records_placed();
    cover_through(job, job.bytes);
    led.inside = options_.format.framing.count_quotes(led.tail.data(), led.tail.size) & 1;
}

// Under the lock again: the ring hears of the buffers, and the record that is open behind them waits.
void StreamEngine::end_leading(Job& job) {
    Origin& origin = *job.origin;
    Outstanding& work = *origin.outstanding;
    Led& led = *job.led;
    uint64_t through = 0;  // the bytes of the pieces so far
    for (size_t i = 0; i < job.pieces_before; i++) through += job.pieces[i].size;
    bool open = through > 0;
    for (size_t i = job.pieces_before; i < job.pieces.size(); i++) {
        const bool delimited = led.used[i] > through;
        through += job.pieces[i].size;
        counts_.spanning += delimited && open;
        if (delimited)
            open = led.used[i] < through;
        else
            open |= job.pieces[i].size > 0;
        Claims claims{};  // all of records that have been parsed with the buffers
        origin.ring.process(job.piece_position + (i - job.pieces_before), delimited, claims);
    }
    origin.state.inside = led.inside;
    Fragments& kept = work.fragments[origin.ring.last_delimiter()];
    kept.has_tail = true;
    kept.tail = std::move(led.tail);
    counts_.pending_buffers++;
    counts_.pending_bytes += kept.tail.size;
    work.open_bytes = kept.tail.size;
    work.led_to = 0;
}

// False if it is not this call's turn, or not alone: then nothing was done.
bool StreamEngine::push_leading(const PushedBuffer* buffers, const uint32_t* order, size_t count, Call& call,
                                PushResult* result) {
    std::unique_lock<std::mutex> guard(lock_, std::defer_lock);
    take_soon(guard);
    quiet_.wait(guard, [this] { return !closed_gate_; });
    if (!begin_leading(buffers, order, count, call)) return false;
    Origin& origin = *call.jobs[0].origin;
    origin.in_flight++;
    in_flight_++;
    guard.unlock();
    parse(call);
    take_soon(guard);
    origin.in_flight--;
    in_flight_--;
    end_leading(call.jobs[0]);
    settle(call, result);
    call.jobs.clear();
    call.owners.clear();
    run(call, guard, result);
    return true;
}

}  // namespace formatter
