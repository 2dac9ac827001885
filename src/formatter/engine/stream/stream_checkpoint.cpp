// A stream's state as bytes and back: rings, fragments, held buffers, counts, unplaced errors. Open batches are handed
// out first, so rows are never inside the image. In: a stream between calls, or bytes from anywhere. Out: bytes, or the
// stream again. Refuses to know formats.
#include <algorithm>
#include <utility>

#include "engine/stream/state_image.hpp"
#include "engine/stream/stream_change.hpp"

namespace formatter {
namespace {

constexpr char stream_magic[] = "fmstrm06";

// What is saved is described once: an ImageWriter takes the same walk as an ImageReader.

template <typename Image>
void walk(Image& image, StreamCounts& counts) {
    DecodeCounters& decode = counts.decode;
    image.numbers(counts.buffers, counts.bytes, counts.spanning, counts.duplicates, counts.lost, decode.records,
                  decode.rows, decode.filtered, decode.rejected, decode.nulled);
}

template <typename Image>
void walk(Image& image, ScanState& state) {
    image.flags(state.inside, state.escaped, state.in_comment, state.at_record_start, state.fresh, state.closing);
    image.numbers(state.matched, state.mark, state.delimiter_matched, state.count, state.carried);
}

template <typename Image>
void walk(Image& image, PreambleScan& preamble) {
    walk(image, preamble.state);
    image.text(preamble.line);
    image.text(preamble.header);
    image.numbers(preamble.lines, preamble.records);
    image.flags(preamble.first_line, preamble.too_long);
}

void walk(ImageWriter& image, const OwnedBytes& owned, size_t before = 0) {
    image.bytes(owned.data() + before, owned.size - before);
}
void walk(ImageReader& image, OwnedBytes& owned, size_t = 0) {
    const std::string bytes = image.bytes();
    owned.append(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

template <typename Image>
void walk(Image& image, Fragments& f) {
    image.flags(f.has_head, f.has_tail, f.from_start, f.lost, f.reported, f.head_spans, f.by_parity);
    image.numbers(f.let_go);
    walk(image, f.head);
    walk(image, f.tail);
}

template <typename Image>
void walk(Image& image, Held& held) {
    image.flags(held.lost);
    image.numbers(held.preamble);
    walk(image, held.bytes, held.before);
}

template <typename Image>
void walk(Image& image, RunFinding& finding) {
    RunPosition& at = finding.at;
    image.numbers(finding.code, finding.column, finding.expected_fields, finding.found_fields, finding.opened);
    image.numbers(at.from, at.bytes, at.records, at.buffer);
    image.text(finding.found);
    image.text(finding.raw);
}

template <typename Image>
void walk(Image& image, Tally& tally) {
    image.numbers(tally.last, tally.bytes, tally.records, tally.span_records, tally.waits);
    uint64_t left = tally.findings.size();
    image.numbers(left);
    for (size_t i = 0; i < left && image.fine(); i++) {
        if (Image::reads) tally.findings.emplace_back(Finding(), RunPosition());
        walk(image, tally.findings[i]);
    }
}

template <typename Item>
void walk(ImageWriter& image, std::map<uint64_t, Item>& items) {
    image.number(items.size());
    for (auto& entry : items) {
        image.number(entry.first);
        walk(image, entry.second);
    }
}
template <typename Item>
void walk(ImageReader& image, std::map<uint64_t, Item>& items) {
    for (uint64_t left = image.number(); left && image.fine(); left--) walk(image, items[image.number()]);
}

template <typename Image>
void walk(Image& image, Outstanding& work) {
    image.numbers(work.tallied, work.open_bytes);
    walk(image, work.preamble);
    walk(image, work.fragments);
    walk(image, work.held);
    walk(image, work.tallies);
}

template <typename Image>
void walk(Image& image, Origin& origin) {
    image.numbers(origin.bytes_before, origin.records_before, origin.finished, origin.preamble_open);
    walk(image, origin.state);
    bool waits = origin.outstanding != nullptr;
    image.flags(waits);
    if (waits) walk(image, origin.work());
}

// What the ring will claim is taken out without a look: a buffer that ends a record which began before a missing one has left
// the end of that record, and its run a tally.
bool has_heads(const Origin& origin) {
    if (origin.ring.pending() == 0) return true;
    if (!origin.outstanding) return false;
    const Outstanding& work = *origin.outstanding;
    bool begun_before = false;
    for (uint64_t position = origin.ring.prefix() + 1; position <= origin.ring.highest(); position++) {
        if (!origin.ring.seen(position)) {
            begun_before = true;
        } else if (origin.ring.delimited(position) && std::exchange(begun_before, false)) {
            const auto kept = work.fragments.find(position);
            if (kept == work.fragments.end() || !kept->second.has_head) return false;
            if (work.tallies.empty() || work.tallies.begin()->first > position) return false;
        }
    }
    return true;
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
    walk(out, counts_);
    out.number(origins_.size());
    std::string ring;
    for (auto& entry : origins_) {
        Origin& o = entry.second;
        const bool folded = !o.outstanding && o.has_tail;
        if (folded) o.work();
        out.number(o.id);
        ring.resize(o.ring.serialized_size());
        o.ring.serialize(reinterpret_cast<uint8_t*>(&ring[0]));
        out.text(ring);
        out.bytes(o.header ? o.header->data() : nullptr, o.header ? o.header->size() : 0);
        walk(out, o);
        if (folded) o.fold();
    }
    return out.finish();
}

// Into a new engine only. False: the image is not one of ours, or damaged; the engine is then unusable.
bool StreamEngine::restore(const std::string& image) {
    std::lock_guard<Mutex> guard(lock_);
    ImageReader in(image, stream_magic);
    if (!in.fine()) return false;
    walk(in, counts_);
    for (uint64_t n = in.number(); n && in.fine(); n--) {
        Origin& o = origin_of(in.number());
        const std::string ring = in.bytes();
        if (ShredRing::restore(reinterpret_cast<const uint8_t*>(ring.data()), ring.size(), o.ring) !=
            ShredRing::RestoreStatus::ok)
            return false;
        const std::string header = in.bytes();
        if (!header.empty() && options_.format.header) use_header(o, header);
        walk(in, o);
        counts_.finished += o.finished;
        if (o.preamble_open && !options_.format.header) return false;
        const RecordEnding& ending = options_.format.ending;
        const bool open = o.state.inside || o.state.closing;
        if (!ending.can_be(o.state)) return false;
        if (ending.looks_ahead() && open && !o.state.count) return false;  // it says how far back that began
        if (!has_heads(o)) return false;
        if (!o.outstanding) continue;
        Outstanding& work = *o.outstanding;
        if (!ending.can_be(work.preamble.state)) return false;
        for (auto& entry : work.fragments) counts_.pending_bytes += entry.second.head.size + entry.second.tail.size;
        for (auto& entry : work.held) {
            Held& held = entry.second;
            ending.note(held.data(), held.size(), &held.notes);
            counts_.pending_bytes += held.size();
        }
        counts_.pending_buffers += work.fragments.size() + work.held.size();
        tally_count_ += work.tallies.size();
        counts_.pending_buffers -= o.fold();
    }
    return in.at_end();
}

}  // namespace formatter
