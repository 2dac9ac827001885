// The first, locked part of a push: what has come, which records are now complete, which pieces belong to them.
#include <algorithm>

#include "engine/stream_call.hpp"

namespace formatter {

constexpr size_t header_most = 1 << 20;  // bytes in which a header must end

Origin& StreamEngine::origin_of(uint64_t id) { return origins_.try_emplace(id, id).first->second; }

// Sequences may wrap; positions never do. Of the positions a sequence can mean, the one nearest to the prefix is meant.
uint64_t StreamEngine::position_of(const Origin& origin, uint64_t sequence) const {
    const uint64_t period = options_.max_sequence;
    if (period == 0) return sequence;
    const uint64_t next = origin.ring.prefix() + 1;
    const uint64_t next_sequence = (next - 1) % period + 1;
    uint64_t ahead = (sequence + period - next_sequence) % period;
    if (ahead < (period + 1) / 2 || next <= period - ahead) return next + ahead;
    return next - (period - ahead);
}

uint64_t StreamEngine::sequence_of(uint64_t position) const {
    return options_.max_sequence && position ? (position - 1) % options_.max_sequence + 1 : position;
}

bool StreamEngine::waits_for_room(const Origin& origin, uint64_t position, size_t size) const {
    // The next buffer in order is always taken: it is what frees the others.
    return position != origin.ring.prefix() + 1 && counts_.pending_bytes + size > options_.max_pending_bytes;
}

PushStatus StreamEngine::admit(const PushedBuffer& buffer, const QuoteSummary& summary, const FrameEnds& ends, bool lost,
                               Call& call) {
    if (buffer.sequence == 0) return PushStatus::zero;
    if (options_.max_sequence && buffer.sequence > options_.max_sequence) return PushStatus::out_of_range;
    Origin& origin = origin_of(buffer.origin);
    const uint64_t position = position_of(origin, buffer.sequence);
    const bool held = origin.outstanding && origin.outstanding->held.count(position);
    if (position <= origin.ring.prefix() || held || origin.ring.seen(position)) return PushStatus::duplicate;
    if (origin.finished) return PushStatus::finished;
    if (position - origin.ring.prefix() > ShredRing::max_slots) return PushStatus::out_of_range;
    if (waits_for_room(origin, position, buffer.size)) return PushStatus::pending_limit;
    call.touch(origin);
    counts_.buffers++;
    counts_.bytes += buffer.size;
    counts_.lost += lost;
    Held arrived;
    arrived.data = buffer.data;
    arrived.size = buffer.size;
    arrived.summary = summary;
    arrived.lost = lost;
    if (gated()) {
        counts_.pending_bytes += buffer.size;
        origin.work().held.emplace(position, std::move(arrived));
    } else {
        shred(origin, position, arrived, ends, call);
    }
    return PushStatus::ok;
}

// Whether the origin's header has come. Until then its buffers wait: nothing can be decoded without the columns' places.
bool StreamEngine::header_known(Origin& origin, bool ends, Call& call) {
    if (!options_.format.has_header || origin.header_read) return true;
    std::string begin;
    uint64_t position = 1;
    for (const auto& entry : origin.outstanding->held) {
        if (entry.first != position++ || entry.second.lost) break;
        begin.append(reinterpret_cast<const char*>(entry.second.data), entry.second.size);
        if (begin.size() > header_most) break;
    }
    if (ends) begin += std::string(1, char(options_.format.framing.record_end));
    const Preamble preamble = options_.format.read_preamble(reinterpret_cast<const uint8_t*>(begin.data()), begin.size());
    const bool lost = position > 1 && origin.outstanding->held.begin()->second.lost;
    if (!preamble.complete && !ends && !lost && begin.size() <= header_most) return false;
    origin.header_read = true;
    if (preamble.complete && preamble.missing.empty()) {
        origin.preamble_bytes = preamble.size;
        auto& known = formats_[preamble.header];
        if (!known) known = preamble.format;
        origin.format = known;
        return true;
    }
    origin.preamble_bytes = ~uint64_t(0);  // without its columns nothing of the origin can be read
    if (ends && begin.size() <= 1) return true;
    RowError error;
    error.code = ErrorCode::header;
    error.sequence = 1;
    error.found = preamble.complete ? preamble.header.substr(0, 200) : begin.substr(0, 200);
    call.add_error(&origin, std::move(error));
    return true;
}

// Hands on the buffers whose start state is now certain, in order.
void StreamEngine::release_held(Origin& origin, Call& call) {
    if (!origin.outstanding || (options_.ordered && origin.busy) || origin.outstanding->held.empty()) return;
    if (!header_known(origin, false, call)) return;
    std::map<uint64_t, Held>& held = origin.outstanding->held;
    bool released = false;
    while (!held.empty() && held.begin()->first == origin.ring.prefix() + 1) {
        const uint64_t position = held.begin()->first;
        Held buffer = std::move(held.begin()->second);
        held.erase(held.begin());
        counts_.pending_bytes -= buffer.size;
        FrameEnds ends;
        // Nothing is known of a lost buffer; what follows is read as if it began outside quotes.
        if (buffer.lost) origin.state = ScanState{};
        else ends = options_.format.framing.ends_after(buffer.data, buffer.size, buffer.summary, &origin.state);
        shred(origin, position, buffer, ends, call);
        origin.released_bytes += buffer.size;
        if (buffer.owned.data) call.owners.push_back(std::move(buffer.owned));
        released = true;
    }
    if (released && options_.ordered) origin.busy = true;
    if (released) call.touch(origin);
}

// The caller's buffers are free when the call returns: what stays is copied.
void StreamEngine::own_held(Origin& origin) {
    if (!origin.outstanding) return;
    for (auto& entry : origin.outstanding->held) {
        Held& held = entry.second;
        if (held.owned.data || held.size == 0) continue;
        held.owned = OwnedBytes::copy_of(held.data, held.size);
        held.data = held.owned.data.get();
    }
}

void StreamEngine::shred(Origin& origin, uint64_t position, const Held& buffer, const FrameEnds& ends, Call& call) {
    const uint64_t prefix_before = origin.ring.prefix();
    const bool delimited = ends.any() || buffer.lost;
    Claims claims{};
    origin.ring.process(position, delimited, claims);  // admission has excluded every refusal
    const bool first = position == 1;
    Tally tally;
    tally.bytes = buffer.size;
    tally.waits = (delimited ? 1 : 0) + (delimited && !(first && !buffer.lost) ? 1 : 0);
    origin.work().tallies.emplace(position, tally);
    bool head_claimed = first && !buffer.lost, tail_claimed = false;
    Job own;
    own.origin = &origin;
    own.position = position;
    own.completes_buffer = true;
    if (ends.any()) {
        own.offset = first ? 0 : ends.first;
        own.stream_start = first;
        own.data = buffer.data + own.offset;
        own.size = ends.last - own.offset;
        const uint64_t begin = origin.released_bytes + own.offset;
        if (begin < origin.preamble_bytes) {  // the header and what stands before it
            const size_t skipped = size_t(std::min<uint64_t>(own.size, origin.preamble_bytes - begin));
            own.stream_start = false;
            own.data += skipped;
            own.offset += skipped;
            own.size -= skipped;
        }
    }
    uint32_t next = 0;
    if (delimited) {
        for (; next < claims.count && claims.spans[next].last == position; next++) {
            claim(origin, claims.spans[next], position, buffer, ends, false, call);
            head_claimed = true;
        }
    }
    if (!delimited) {
        for (; next < claims.count; next++) {
            claim(origin, claims.spans[next], position, buffer, ends, false, call);
            tail_claimed = true;
        }
    }
    call.jobs.push_back(std::move(own));
    for (; next < claims.count; next++) {
        claim(origin, claims.spans[next], position, buffer, ends, false, call);
        tail_claimed = true;
    }
    keep_fragments(origin, position, buffer, ends, delimited && !head_claimed, !tail_claimed);
    // How long the record has become that is open behind the prefix; every position is passed once.
    for (uint64_t p = prefix_before + 1; p <= origin.ring.prefix(); p++) {
        const auto& fragments = origin.outstanding->fragments;
        const auto found = fragments.find(p);
        if (p == position ? delimited : found == fragments.end() || found->second.delimited) origin.open_bytes = 0;
        if (found != fragments.end() && found->second.has_tail) origin.open_bytes += found->second.tail.size + found->second.let_go;
    }
}

void StreamEngine::keep_fragments(Origin& origin, uint64_t position, const Held& buffer, const FrameEnds& ends, bool head,
                                  bool tail) {
    if (!head && !tail) return;
    Fragments kept;
    kept.lost = buffer.lost;
    kept.delimited = ends.any() || buffer.lost;
    kept.has_head = head;
    kept.has_tail = tail;
    kept.from_start = position == 1 && !kept.delimited;
    if (head && !buffer.lost) kept.head = OwnedBytes::copy_of(buffer.data, ends.first);
    if (tail && !buffer.lost) {
        const size_t begin = ends.any() ? ends.last : 0;
        // A record that is too long already is only counted on, so that it cannot grow without bound.
        const bool too_long = !kept.delimited && position == origin.ring.prefix() && origin.open_bytes > options_.max_record_bytes;
        if (too_long) kept.let_go = buffer.size;
        else kept.tail = OwnedBytes::copy_of(buffer.data + begin, buffer.size - begin);
    }
    counts_.pending_bytes += kept.head.size + kept.tail.size;
    origin.work().fragments.emplace(position, std::move(kept));
}

// Takes the pieces of a complete record out of the fragments; those in the buffer at hand are referred to in place.
void StreamEngine::claim(Origin& origin, const SequenceSpan& span, uint64_t position, const Held& buffer,
                         const FrameEnds& ends, bool unterminated, Call& call) {
    Job job;
    job.origin = &origin;
    job.position = span.last;
    job.spanning = true;
    job.unterminated = unterminated;
    counts_.spanning++;
    auto& fragments = origin.outstanding->fragments;
    auto next = fragments.lower_bound(span.first);
    for (uint64_t p = span.first; p <= span.last; p++) {
        size_t size = 0;
        if (p == position) {
            const size_t begin = p == span.first && ends.any() ? ends.last : 0;
            const size_t end = p == span.last && ends.any() ? ends.first : buffer.size;
            size = end - begin;
            if (size) job.pieces.emplace_back(buffer.data + begin, size);
            job.lost |= buffer.lost;
            job.stream_start |= p == 1 && span.first == 1 && !ends.any() && !buffer.lost;
        } else {
            while (next->first < p) ++next;  // the buffer at hand has no entry yet
            Fragments& f = next->second;
            const bool as_head = p == span.last && !unterminated;
            OwnedBytes& bytes = as_head ? f.head : f.tail;
            size = bytes.size + (as_head ? 0 : f.let_go);
            job.let_go += as_head ? 0 : f.let_go;
            job.lost |= f.lost;
            job.stream_start |= p == span.first && f.from_start;
            counts_.pending_bytes -= bytes.size;
            if (bytes.size) job.pieces.emplace_back(bytes.data.get(), bytes.size);
            if (bytes.data) call.owners.push_back(std::move(bytes));
            bytes = OwnedBytes{};
            (as_head ? f.has_head : f.has_tail) = false;
            if (!f.has_head && !f.has_tail) next = fragments.erase(next);
        }
        if (p < span.last) job.bytes_in_earlier += size;
    }
    if (gated()) {
        // In order, so the record's last buffer is the one being released, or the last one of all.
        uint64_t size = 0;
        for (const auto& piece : job.pieces) size += piece.second;
        const uint64_t begin = origin.released_bytes - (unterminated ? size : job.bytes_in_earlier);
        if (begin < origin.preamble_bytes) job.pieces.clear();
    }
    call.jobs.push_back(std::move(job));
}

std::vector<SequenceSpan> StreamEngine::missing(Origin& origin, uint64_t last_position) {
    std::vector<SequenceSpan> spans;
    const auto add = [&](uint64_t first, uint64_t last) {
        if (first <= last) spans.push_back({sequence_of(first), sequence_of(last)});
    };
    if (!gated()) {
        SequenceSpan found[16];
        const size_t count = std::min<size_t>(16, origin.ring.holes(found, 16, last_position));
        spans.assign(found, found + count);
        for (SequenceSpan& s : spans) s = {sequence_of(s.first), sequence_of(s.last)};
        return spans;
    }
    uint64_t next = origin.ring.prefix() + 1;
    if (origin.outstanding)
        for (const auto& held : origin.outstanding->held) {
            if (spans.size() >= 16) return spans;
            add(next, held.first - 1);
            next = held.first + 1;
        }
    add(next, last_position);
    return spans;
}

}  // namespace formatter
