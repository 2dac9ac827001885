// A stream's state as bytes and back: rings, fragments, held buffers, counts, unplaced errors. Open batches are handed
// out first, so rows are never inside the image. In: a stream between calls, or bytes from anywhere. Out: bytes, or the
// stream again. Refuses to know formats.
#include <algorithm>

#include "engine/stream/state_image.hpp"
#include "engine/stream/stream_change.hpp"

namespace formatter {
namespace {

constexpr char stream_magic[] = "fmstrm04";

void write_owned(ImageWriter& out, const OwnedBytes& bytes) { out.bytes(bytes.data(), bytes.size); }

OwnedBytes read_owned(ImageReader& in) {
    const std::string bytes = in.bytes();
    OwnedBytes owned;
    owned.append(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    return owned;
}

void write_finding(ImageWriter& out, const RunFinding& f) {
    for (uint64_t value : {uint64_t(f.code), uint64_t(int64_t(f.column)), uint64_t(f.found_fields), f.opened,
                           uint64_t(f.at.from), uint64_t(f.at.bytes), f.at.records, f.at.buffer})
        out.number(value);
    out.bytes(f.found.data(), f.found.size());
    out.bytes(f.raw.data(), f.raw.size());
}

RunFinding read_finding(ImageReader& in) {
    Finding finding;
    finding.code = ErrorCode(in.number());
    finding.column = int32_t(int64_t(in.number()));
    finding.found_fields = uint32_t(in.number());
    finding.opened = in.number();
    RunPosition position;
    position.from = RunPosition::From(in.number());
    position.bytes = int64_t(in.number());
    position.records = in.number();
    position.buffer = in.number();
    finding.found = in.bytes();
    finding.raw = in.bytes();
    return {std::move(finding), position};
}

void write_state(ImageWriter& out, const ScanState& s) {
    out.number(uint64_t(s.inside) | uint64_t(s.escaped) << 1 | uint64_t(s.in_comment) << 2 |
               uint64_t(s.at_record_start) << 3 | uint64_t(s.fresh) << 4 | uint64_t(s.closing) << 5 |
               uint64_t(s.matched) << 8 | uint64_t(s.mark) << 16 | uint64_t(s.delimiter_matched) << 24);
    out.number(s.count);
    out.number(s.carried);
}

ScanState read_state(ImageReader& in) {
    const uint64_t flags = in.number();
    ScanState s;
    s.inside = flags & 1;
    s.escaped = flags >> 1 & 1;
    s.in_comment = flags >> 2 & 1;
    s.at_record_start = flags >> 3 & 1;
    s.fresh = flags >> 4 & 1;
    s.closing = flags >> 5 & 1;
    s.matched = uint8_t(flags >> 8);
    s.mark = uint8_t(flags >> 16);
    s.delimiter_matched = uint8_t(flags >> 24);
    s.count = in.number();
    s.carried = in.number();
    return s;
}

void write_outstanding(ImageWriter& out, const Outstanding& work) {
    out.number(work.tallied);
    out.number(work.open_bytes);
    write_state(out, work.preamble.state);
    out.bytes(work.preamble.line.data(), work.preamble.line.size());
    out.bytes(work.preamble.header.data(), work.preamble.header.size());
    out.number(work.preamble.lines);
    out.number(work.preamble.records);
    out.number(uint64_t(work.preamble.first_line) | uint64_t(work.preamble.too_long) << 1);
    out.number(work.fragments.size());
    for (const auto& entry : work.fragments) {
        const Fragments& f = entry.second;
        out.number(entry.first);
        out.number(uint64_t(f.has_head) | uint64_t(f.has_tail) << 1 | uint64_t(f.from_start) << 2 |
                   uint64_t(f.lost) << 3 | uint64_t(f.reported) << 4 | uint64_t(f.head_spans) << 5 |
                   uint64_t(f.by_parity) << 6);
        out.number(f.let_go);
        write_owned(out, f.head);
        write_owned(out, f.tail);
    }
    out.number(work.held.size());
    for (const auto& entry : work.held) {
        out.number(entry.first);
        out.number(uint64_t(entry.second.lost) | uint64_t(entry.second.preamble) << 1);
        out.bytes(entry.second.data(), entry.second.size());
    }
    out.number(work.tallies.size());
    for (const auto& entry : work.tallies) {
        const Tally& t = entry.second;
        for (uint64_t value : {entry.first, t.last, t.bytes, t.records, t.span_records, uint64_t(t.waits)})
            out.number(value);
        out.number(t.findings.size());
        for (const RunFinding& finding : t.findings) write_finding(out, finding);
    }
}

// The bytes that wait.
uint64_t read_outstanding(ImageReader& in, Outstanding& work, const RecordEnding& ending) {
    uint64_t pending = 0;
    work.tallied = in.number();
    work.open_bytes = in.number();
    work.preamble.state = read_state(in);
    work.preamble.line = in.bytes();
    work.preamble.header = in.bytes();
    work.preamble.lines = in.number();
    work.preamble.records = in.number();
    const uint64_t flags = in.number();
    work.preamble.first_line = flags & 1;
    work.preamble.too_long = flags >> 1 & 1;
    for (uint64_t n = in.number(); n && in.fine(); n--) {
        Fragments& f = work.fragments[in.number()];
        const uint64_t flags = in.number();
        f.has_head = flags & 1;
        f.has_tail = flags >> 1 & 1;
        f.from_start = flags >> 2 & 1;
        f.lost = flags >> 3 & 1;
        f.reported = flags >> 4 & 1;
        f.head_spans = flags >> 5 & 1;
        f.by_parity = flags >> 6 & 1;
        f.let_go = in.number();
        f.head = read_owned(in);
        f.tail = read_owned(in);
        pending += f.head.size + f.tail.size;
    }
    for (uint64_t n = in.number(); n && in.fine(); n--) {
        Held& held = work.held[in.number()];
        const uint64_t told = in.number();
        held.lost = told & 1;
        held.preamble = size_t(told >> 1);
        held.bytes = read_owned(in);
        ending.note(held.bytes.data(), held.bytes.size, &held.notes);
        pending += held.bytes.size;
    }
    for (uint64_t n = in.number(); n && in.fine(); n--) {
        Tally& t = work.tallies[in.number()];
        for (uint64_t* value : {&t.last, &t.bytes, &t.records, &t.span_records}) *value = in.number();
        t.waits = uint32_t(in.number());
        for (uint64_t k = in.number(); k && in.fine(); k--) t.findings.push_back(read_finding(in));
    }
    return pending;
}

}  // namespace

std::string StreamEngine::checkpoint(PushResult* result) {
    Guard guard(lock_);
    wait_until(guard, [this] { return !closed_gate_; });  // one checkpoint at a time
    struct Gate {  // other calls wait in front of it, also where the image takes more memory than there is
        StreamEngine& stream;
        explicit Gate(StreamEngine& stream) : stream(stream) { stream.closed_gate_ = true; }
        ~Gate() {
            stream.closed_gate_ = false;
            stream.quiet_.notify_all();
        }
    } gate(*this);
    wait_until(guard, [this] { return in_flight_ == 0; });
    {
        Change change(*this, guard);
        change.begin();
        flush_idle(Flush::all, result);
        number_batches(result);
    }
    ImageWriter out(stream_magic);
    const DecodeCounters& d = counts_.decode;
    for (uint64_t count : {counts_.buffers, counts_.bytes, counts_.spanning, counts_.duplicates, counts_.lost,
                           d.records, d.rows, d.filtered, d.rejected, d.nulled})
        out.number(count);
    out.number(origins_.size());
    std::string ring;
    for (auto& entry : origins_) {
        Origin& o = entry.second;
        const bool folded = !o.outstanding && o.has_tail;
        if (folded) o.work();
        out.number(o.id);
        ring.resize(o.ring.serialized_size());
        o.ring.serialize(reinterpret_cast<uint8_t*>(&ring[0]));
        out.bytes(ring.data(), ring.size());
        out.bytes(o.header ? o.header->data() : nullptr, o.header ? o.header->size() : 0);
        for (uint64_t value : {o.bytes_before, o.records_before, uint64_t(o.finished), uint64_t(o.preamble_open)})
            out.number(value);
        write_state(out, o.state);
        out.number(o.outstanding != nullptr);
        if (o.outstanding) write_outstanding(out, *o.outstanding);
        if (folded) o.fold();
    }
    return out.finish();
}

// Into a new engine only. False: the image is not one of ours, or damaged; the engine is then unusable.
bool StreamEngine::restore(const std::string& image) {
    std::lock_guard<std::mutex> guard(lock_);
    ImageReader in(image, stream_magic);
    if (!in.fine()) return false;
    DecodeCounters& d = counts_.decode;
    for (uint64_t* count : {&counts_.buffers, &counts_.bytes, &counts_.spanning, &counts_.duplicates, &counts_.lost,
                            &d.records, &d.rows, &d.filtered, &d.rejected, &d.nulled})
        *count = in.number();
    for (uint64_t n = in.number(); n && in.fine(); n--) {
        Origin& o = origin_of(in.number());
        const std::string ring = in.bytes();
        if (ShredRing::restore(reinterpret_cast<const uint8_t*>(ring.data()), ring.size(), o.ring) !=
            ShredRing::RestoreStatus::ok)
            return false;
        const std::string header = in.bytes();
        if (!header.empty() && options_.format.header) use_header(o, header);
        for (uint64_t* value : {&o.bytes_before, &o.records_before}) *value = in.number();
        o.finished = in.number();
        counts_.finished += o.finished;
        o.preamble_open = in.number();
        if (o.preamble_open && !options_.format.header) return false;
        o.state = read_state(in);
        const RecordEnding& ending = options_.format.ending;
        const bool open = o.state.inside || o.state.closing;
        if (!ending.can_be(o.state)) return false;
        if (ending.looks_ahead() && open && !o.state.count) return false;  // it says how far back that began
        if (!in.number()) continue;
        Outstanding& work = o.work();
        counts_.pending_bytes += read_outstanding(in, work, ending);
        if (!ending.can_be(work.preamble.state)) return false;
        counts_.pending_buffers += work.fragments.size() + work.held.size();
        tally_count_ += work.tallies.size();
        counts_.pending_buffers -= o.fold();
    }
    return in.at_end();
}

}  // namespace formatter
