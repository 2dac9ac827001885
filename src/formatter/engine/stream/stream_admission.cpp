// The first part of a push, under the lock. In: a buffer, with what is known of it by itself. Out: it is refused, joins the
// call's run, or waits until its start state is certain. Refuses to know what its records become.
#include <algorithm>

#include "engine/stream/stream_engine.hpp"

namespace formatter {

Origin& StreamEngine::origin_of(uint64_t id) {
    return origins_.try_emplace(id, id, options_.format.header != nullptr).first->second;
}

// Sequences may wrap; positions never do. Of the positions a sequence can mean, the one nearest to the prefix is meant.
uint64_t StreamEngine::position_of(const Origin& origin, uint64_t sequence) const {
    const uint64_t period = options_.max_sequence;
    if (period == 0) return sequence;
    const uint64_t next = origin.ring.prefix() + 1;
    const uint64_t next_sequence = (next - 1) % period + 1;
    const uint64_t ahead = sequence >= next_sequence ? sequence - next_sequence : sequence + (period - next_sequence);
    if (ahead < (period + 1) / 2 || next <= period - ahead) return next + ahead;
    return next - (period - ahead);
}

PushStatus StreamEngine::locate(uint64_t id, uint64_t sequence, uint64_t* position) {
    if (sequence == 0) return PushStatus::zero;
    if (options_.max_sequence && sequence > options_.max_sequence) return PushStatus::out_of_range;
    *position = position_of(origin_of(id), sequence);
    return PushStatus::ok;
}

uint64_t StreamEngine::next_position(const Origin& origin) const {
    uint64_t highest = origin.ring.highest();
    if (!origin.outstanding) return highest + 1;
    if (!origin.outstanding->held.empty()) highest = std::max(highest, origin.outstanding->held.rbegin()->first);
    return std::max(highest, origin.outstanding->led_to) + 1;
}

PushStatus StreamEngine::admit(const ArrivedBuffer& arrived, uint64_t position, bool lost, StreamCall& call) {
    const PushedBuffer& buffer = arrived.buffer;
    const RecordEnds& ends = arrived.ends;
    Origin& origin = origin_of(buffer.origin);
    const uint64_t prefix = origin.ring.prefix();
    const bool waiting = origin.outstanding && origin.outstanding->held.count(position);
    const bool looks_ahead = options_.format.ending.looks_ahead();
    uint64_t taken = std::max(prefix, origin.outstanding ? origin.outstanding->led_to : 0);
    if (looks_ahead && origin.outstanding && origin.outstanding->ahead.buffer)
        taken = std::max(taken, origin.outstanding->ahead.buffer - 1);
    if (position <= taken || waiting || origin.ring.seen(position)) return PushStatus::duplicate;
    if (origin.finished) return PushStatus::finished;
    if (position - prefix > ShredRing::max_slots) return PushStatus::out_of_range;
    const bool next = position == taken + 1;
    // The next buffer in order is always taken: it is what frees the others.
    const uint64_t kept = waits(origin) || !ends.any() ? buffer.size : ends.first + (buffer.size - ends.last);
    const uint64_t undecided = call.run.origin && !call.run.delimited ? call.run.bytes : 0;
    if (!next && (counts_.pending_bytes + undecided + kept > options_.max_pending_bytes || too_many_notes()))
        return PushStatus::pending_limit;
    call.touch(origin);
    counts_.buffers++;
    counts_.bytes += buffer.size;
    counts_.lost += lost;
    const Piece piece{buffer.data, buffer.size, buffer.before};
    if (!waits(origin))
        extend_run(origin, position, piece, ends, lost, call);
    else if (next && !looks_ahead && may_decode(origin, call))
        follow(origin, position, piece, arrived.notes, lost, call);
    else
        hold(origin, position, arrived, lost, call);
    if (next && looks_ahead) look_ahead(origin, false);
    return PushStatus::ok;
}

// Its start state is not certain yet.
void StreamEngine::hold(Origin& origin, uint64_t position, const ArrivedBuffer& arrived, bool lost, StreamCall& call) {
    Held& held = origin.work().held[position];
    if (call.alone) {  // copied already, before the lock was taken
        held.bytes = call.block.take();
        held.before = arrived.buffer.before;
    } else {
        held.bytes.append(arrived.buffer.data, arrived.buffer.size);
    }
    held.notes = arrived.notes;
    held.lost = lost;
    counts_.pending_bytes += arrived.buffer.size;
    counts_.pending_buffers++;
}

// Whether this call may hand on buffers of the origin: unless another one is ahead of it, and in ordered streams one call
// at a time.
bool StreamEngine::may_decode(Origin& origin, StreamCall& call) const {
    if (origin.outstanding && origin.outstanding->led_to) return false;
    if (!options_.ordered || call.decodes(origin)) return true;
    if (origin.busy) return false;
    origin.busy = true;
    call.decoding.push_back(&origin);
    return true;
}

// From here on the origin's records are read with the columns where its header names them.
void StreamEngine::use_header(Origin& origin, const std::string& header) {
    const auto entry = formats_.try_emplace(header).first;
    if (!entry->second)
        entry->second =
            plan_->format.header->read(reinterpret_cast<const uint8_t*>(header.data()), header.size(), Extent::header)
                .format;
    origin.header = &entry->first;
    origin.format = entry->second.get();
}

// What came last may be the header, if it has begun: the stream's end is its line's.
void StreamEngine::end_preamble(Origin& origin) {
    PreambleScan& preamble = origin.outstanding->preamble;
    origin.preamble_open = false;
    if (options_.format.header->end(&preamble)) use_header(origin, preamble.header);
}

// All up to the preamble's end counts as one record: which of its lines is the header is known only there, and quotes in
// those before it may mean nothing.
RecordEnds StreamEngine::follow_preamble(Origin& origin, const Piece& buffer) {
    const RecordEnding& ending = options_.format.ending;
    PreambleScan& preamble = origin.work().preamble;
    const uint64_t end =
        options_.format.header->find_end(buffer.data, buffer.size, options_.too_many_bytes(), &preamble);
    if (end == RecordEnds::none) return {};
    origin.preamble_open = false;
    if (!preamble.header.empty()) use_header(origin, preamble.header);
    origin.state = ScanState();
    const uint8_t* const behind = buffer.data + end;
    RecordEnds ends = ending.ends_after(behind, buffer.size - end, &origin.state);
    if (ends.last == RecordEnds::later) ends.last = ending.last_end(behind, buffer.size - end, origin.state.inside);
    return {end, ends.any() ? end + ends.last : end};
}

// The next buffer in order: its start state is certain.
void StreamEngine::follow(Origin& origin, uint64_t position, Piece buffer, const QuoteNotes& notes, bool lost,
                          StreamCall& call) {
    RecordEnds ends;
    if (lost) {
        // Nothing is known of a lost buffer: what follows is read as if it began outside quotes, behind the header.
        origin.state = ScanState{};
        origin.preamble_open = false;
    } else if (origin.preamble_open) {
        ends = follow_preamble(origin, buffer);
    } else {
        ends = options_.format.ending.ends_after(buffer.data, buffer.size, notes, &origin.state);
    }
    extend_run(origin, position, buffer, ends, lost, call);
}

// Hands on the held buffers whose start state is now certain, a share at a time: calls that only brought buffers to wait
// take the next one meanwhile.
void StreamEngine::release_held(Origin& origin, StreamCall& call) {
    constexpr uint64_t share_bytes = sized<uint64_t>(256 << 10, 4);
    const bool looks_ahead = options_.format.ending.looks_ahead();
    uint64_t taken = 0;
    while (taken < share_bytes && origin.outstanding && !origin.outstanding->held.empty()) {
        const auto at = origin.outstanding->held.begin();
        if (waits(origin) && at->first != origin.ring.prefix() + 1) return;
        if (looks_ahead && at->first >= origin.outstanding->ahead.settled_before()) return;
        if (waits(origin) && !may_decode(origin, call)) return;
        call.touch(origin);
        taken += at->second.size() + 1;
        release(origin, at, call);
    }
}

void StreamEngine::release(Origin& origin, std::map<uint64_t, Held>::iterator at, StreamCall& call) {
    Held buffer = std::move(at->second);
    const uint64_t position = at->first;
    origin.outstanding->held.erase(at);
    const Piece piece{buffer.data(), buffer.size(), buffer.before};
    counts_.pending_bytes -= piece.size;
    counts_.pending_buffers--;
    const RecordEnding& ending = options_.format.ending;
    if (ending.looks_ahead()) {
        origin.state = buffer.state;
        extend_run(origin, position, piece, buffer.ends, buffer.lost, call);
    } else if (waits(origin)) {
        follow(origin, position, piece, buffer.notes, buffer.lost, call);
    } else {
        extend_run(origin, position, piece, ending.ends_anywhere(piece.data, piece.size), buffer.lost, call);
    }
    if (buffer.bytes.size) call.owners.push_back(std::move(buffer.bytes));
}

std::vector<SequenceSpan> StreamEngine::missing(Origin& origin, uint64_t last_position) {
    constexpr size_t named_most = 16;
    std::vector<SequenceSpan> spans;
    if (!waits(origin)) {
        spans.resize(named_most);
        spans.resize(std::min(named_most, origin.ring.holes(spans.data(), named_most, last_position)));
    } else {
        uint64_t next = origin.ring.prefix() + 1;
        const auto add = [&](uint64_t first, uint64_t last) {
            if (first <= last && spans.size() < named_most) spans.push_back({first, last});
        };
        if (origin.outstanding)
            for (const auto& held : origin.outstanding->held) {
                add(next, held.first - 1);
                next = held.first + 1;
            }
        add(next, last_position);
    }
    for (SequenceSpan& span : spans) span = {options_.sequence_of(span.first), options_.sequence_of(span.last)};
    return spans;
}

}  // namespace formatter
