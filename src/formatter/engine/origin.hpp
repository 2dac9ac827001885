// One source of buffers inside a stream: which have come, what they left behind, and how far positions are certain.
// Guarded by the stream's lock; nothing here locks, parses or calls out.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "engine/framing.hpp"
#include "engine/row_errors.hpp"
#include "engine/shred_ring.hpp"

namespace formatter {

struct OwnedBytes {
    std::unique_ptr<uint8_t[]> data;
    size_t size = 0;
    static OwnedBytes copy_of(const uint8_t* bytes, size_t size) {
        OwnedBytes owned;
        owned.size = size;
        if (size) {
            owned.data.reset(new uint8_t[size]);
            __builtin_memcpy(owned.data.get(), bytes, size);
        }
        return owned;
    }
};

// What a buffer left behind for the records that span its edges. Without a record end the whole of it is `tail`.
struct Fragments {
    OwnedBytes head;
    OwnedBytes tail;
    bool has_head = false;
    bool has_tail = false;
    bool from_start = false;  // `tail` begins with the stream's first byte
    bool delimited = false;
    bool lost = false;      // the buffer will never come: records over it cannot be read
    uint64_t let_go = 0;    // bytes not kept, of a record that is too long anyway
};

// A buffer that came before its start state was certain.
struct Held {
    const uint8_t* data = nullptr;  // the caller's, during the call that brought it; then owned.data
    size_t size = 0;
    OwnedBytes owned;
    QuoteSummary summary{};
    bool lost = false;
};

// What a buffer contributes to the positions of those behind it, until every part of it has been parsed.
struct Tally {
    uint64_t bytes = 0;
    uint64_t records = 0;       // that end in this buffer
    uint64_t span_records = 0;  // 1 if a spanning record ended here and was a record (not a blank line)
    uint32_t waits = 0;         // parts not parsed yet
};

// Exists only while something is outstanding.
struct Outstanding {
    std::map<uint64_t, Fragments> fragments;  // by position
    std::map<uint64_t, Held> held;
    std::map<uint64_t, Tally> tallies;
    std::vector<RowError> errors;             // not yet placed
    bool empty() const { return fragments.empty() && held.empty() && tallies.empty() && errors.empty(); }
};

struct Builder;

struct Origin {
    explicit Origin(uint64_t id) : id(id) {}

    Outstanding& work() {
        if (!outstanding) outstanding.reset(new Outstanding);
        return *outstanding;
    }

    uint64_t id;
    ShredRing ring;                // in positions: it never wraps
    uint64_t tallied = 0;          // every position up to here is parsed and counted
    uint64_t bytes_before = 0;     // sums over those
    uint64_t records_before = 0;
    uint64_t open_bytes = 0;       // of the record that is open behind the prefix
    ScanState state;               // at the end of the prefix
    uint64_t released_bytes = 0;   // in the buffers of the prefix (gated streams)
    uint64_t preamble_bytes = 0;   // records that start before here are none: header, comments before it
    std::shared_ptr<const RecordFormat> format;  // as the origin's header has it
    std::unique_ptr<Outstanding> outstanding;
    Builder* builder = nullptr;    // open and idle
    uint32_t in_flight = 0;        // pushes that are parsing
    bool finished = false;
    bool header_read = false;
    bool busy = false;             // ordered: one thread at a time decodes this origin
};

}  // namespace formatter
