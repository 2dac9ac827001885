// How an idle origin stays small: one short tail is kept in the origin itself, everything else beside it. In: an origin
// at rest. Out: the same, in fewer bytes. Refuses to know records.
#include "engine/stream/origin.hpp"

namespace formatter {
namespace {

constexpr size_t folded_fragments_most = 8;  // more are rare, and then the copy would cost more than it saves
constexpr size_t folded_bytes_most = 4096;

// The buffer whose last record end the open record follows.
uint64_t open_since(const ShredRing& ring) { return ring.last_delimiter() ? ring.last_delimiter() : 1; }

}  // namespace

Outstanding& Origin::work() {
    if (outstanding) return *outstanding;
    std::unique_ptr<Outstanding> unfolded(new Outstanding);
    unfolded->tallied = ring.prefix();
    unfolded->open_bytes = tail_size;
    if (has_tail) {
        Fragments& kept = unfolded->fragments[open_since(ring)];
        kept.has_tail = true;
        kept.from_start = ring.last_delimiter() == 0;
        kept.by_parity = tail_by_parity;
        kept.tail.append(tail.get(), tail_size);
    }
    tail.reset();
    has_tail = false;
    tail_size = 0;
    outstanding = std::move(unfolded);
    return *outstanding;
}

size_t Origin::fold() {
    if (!outstanding || in_flight || preamble_open) return 0;
    const Outstanding& w = *outstanding;
    const size_t count = w.fragments.size();
    if (!w.tallies.empty() || !w.held.empty() || !w.last_findings.empty() || count > folded_fragments_most) return 0;
    size_t size = 0;
    for (const auto& entry : w.fragments) {
        const Fragments& f = entry.second;
        if (f.has_head || f.lost || f.let_go || f.reported || entry.first > ring.prefix()) return 0;
        size += f.tail.size;
    }
    if (size > folded_bytes_most) return 0;
    if (size) tail.reset(new uint8_t[size]);
    has_tail = count > 0;
    tail_by_parity = true;
    for (const auto& entry : w.fragments) tail_by_parity &= entry.second.by_parity;
    tail_size = uint32_t(size);
    if (size) {
        size_t at = 0;
        for (const auto& entry : w.fragments) {
            if (entry.second.tail.size) std::memcpy(tail.get() + at, entry.second.tail.data(), entry.second.tail.size);
            at += entry.second.tail.size;
        }
    }
    outstanding.reset();
    return count > 1 ? count - 1 : 0;
}

}  // namespace formatter
