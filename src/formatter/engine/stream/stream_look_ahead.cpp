// Record ends where an open quote may turn out never to be closed. In: held buffers, in order. Out: the record ends of each, as
// soon as no byte that is still to come can change them. Refuses to know what a quote is: the scanner says what is open.
//
// A quote that passes its bound, or is open at the end of all, costs the line it stands on. Until then a line end behind it is
// one or none. So the scanner runs ahead, remembers the first line end behind what is open, and goes back there if that is given
// up; buffers leave when they lie before that place.
#include "engine/stream/stream_engine.hpp"

namespace formatter {

void StreamEngine::look_ahead(Origin& origin, bool at_end) {
    Outstanding& work = origin.work();
    LookAhead& ahead = work.ahead;
    if (!ahead.buffer) {
        ahead.buffer = origin.ring.prefix() + 1;
        ahead.state = origin.state;
    }
    while (true) {
        const auto next = work.held.find(ahead.buffer);
        if (next != work.held.end()) {
            Held& held = next->second;
            held.ends = {};
            const size_t from = look_at_preamble(origin, held);
            bool through = look_at(work, held, from);
            while (!through) through = go_back(work);
        } else if (at_end && ahead.line_buffer && ahead.state.inside) {
            while (!go_back(work)) continue;
        } else {
            return;
        }
    }
}

// Where its records begin.
size_t StreamEngine::look_at_preamble(Origin& origin, Held& held) {
    if (held.lost) {
        origin.preamble_open = false;
    } else if (origin.preamble_open) {
        PreambleScan& preamble = origin.outstanding->preamble;
        const uint64_t end =
            options_.format.header->find_end(held.data(), held.size(), options_.too_many_bytes(), &preamble);
        if (end == RecordEnds::none) return held.size();
        origin.preamble_open = false;
        if (!preamble.header.empty()) use_header(origin, preamble.header);
        held.preamble = size_t(end);
    }
    if (held.preamble) {
        origin.outstanding->ahead.state = ScanState();
        held.ends.add(held.preamble);
    }
    return held.preamble;
}

// Through the buffer, from there on. False: something is given up whose line ended before.
bool StreamEngine::look_at(Outstanding& work, Held& held, size_t from) const {
    LookAhead& ahead = work.ahead;
    if (held.lost) {  // what follows is read as if it began outside quotes
        ahead.state = ScanState();
        ahead.line_buffer = 0;
    }
    for (size_t at = from; at < held.size();) {
        const LookStep step = options_.format.ending.scanner->look(held.data() + at, held.size() - at, &ahead.state);
        if (step.anew) ahead.line_buffer = 0;
        if (step.open && !ahead.line_buffer && step.line_end != LookStep::none) {
            ahead.line_buffer = ahead.buffer;
            ahead.line_end = at + size_t(step.line_end);
        }
        if (step.given_up && ahead.line_buffer) return false;
        at += size_t(step.used);
        if (step.ended) held.ends.add(at);
    }
    held.state = ahead.state;
    ahead.buffer++;
    return true;
}

// The line that has the open quote was a record: what is behind it is looked at again.
bool StreamEngine::go_back(Outstanding& work) const {
    LookAhead& ahead = work.ahead;
    Held& held = work.held[ahead.line_buffer];
    ahead.buffer = ahead.line_buffer;
    ahead.line_buffer = 0;
    ahead.state = ScanState();
    held.ends.add(ahead.line_end);
    return look_at(work, held, ahead.line_end);
}

// The origin's end: what is still open is given up, and all held buffers leave.
void StreamEngine::settle_rest(Origin& origin, StreamCall& call, Guard& guard, PushResult* result) {
    look_ahead(origin, true);
    origin.outstanding->ahead.line_buffer = 0;
    call.touch(origin);
    run(call, guard, result);
}

}  // namespace formatter
