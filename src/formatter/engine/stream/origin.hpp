// One source of buffers inside a stream: which have come, what they left behind, and how far positions are certain.
// Guarded by the stream's lock; nothing here locks, parses or calls out. In: buffers' numbers, fragments, tallies. Out:
// claims, and positions once they are certain. Refuses to know formats.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/columns/buffer_pool.hpp"
#include "engine/records/record_format.hpp"
#include "engine/shred/shred_ring.hpp"

namespace formatter {

// Bytes that one place owns. Large ones come from the pool of result memory: threads bring and free them in turn, and
// the system would take the pages back and hand out fresh ones each time.
class OwnedBytes {
  public:
    size_t size = 0;

    uint8_t* data() const { return data_.get(); }
    size_t capacity() const { return capacity_; }
    // Room for `wanted` bytes, the first `kept` of which stay.
    void reserve(size_t wanted, size_t kept) {
        if (wanted <= capacity_) return;
        Memory larger(nullptr, Release{0});
        if (wanted >= pooled_from) {
            uint8_t* block = pool_acquire(wanted, &capacity_);
            larger = Memory(block, Release{capacity_});
        } else {
            larger.reset(new uint8_t[wanted]);
            capacity_ = wanted;
        }
        if (kept) std::memcpy(larger.get(), data_.get(), kept);
        data_ = std::move(larger);
    }
    void append(const uint8_t* bytes, size_t count) {
        if (!count) return;
        if (size + count > capacity_) reserve(size ? 2 * (size + count) : count, size);  // most never grow
        std::memcpy(data_.get() + size, bytes, count);
        size += count;
    }
    OwnedBytes take() {  // and leaves nothing
        OwnedBytes taken = std::move(*this);
        *this = OwnedBytes{};
        return taken;
    }

  private:
    static constexpr size_t pooled_from = 16 << 10;
    struct Release {
        size_t pooled;  // capacity as the pool knows it; 0: not from there
        void operator()(uint8_t* block) const { pooled ? pool_release(block, pooled) : delete[] block; }
    };
    using Memory = std::unique_ptr<uint8_t[], Release>;

    Memory data_{nullptr, Release{0}};
    size_t capacity_ = 0;
};

// What buffers left behind for the records that span their edges. `head`: the bytes up to a buffer's first record end,
// with those of the buffers before it that came in the same call. `tail`: the bytes behind a buffer's last record end,
// or buffers without one.
struct Fragments {
    OwnedBytes head;
    OwnedBytes tail;
    bool has_head = false;
    bool has_tail = false;
    bool head_spans = false;  // `head` has bytes of several buffers
    bool from_start = false;  // `tail` begins with the stream's first byte
    bool lost = false;  // the buffer will never come: records over it cannot be read
    bool by_parity = true;  // of each buffer that has bytes here
    bool reported = false;  // `tail` belongs to a record that was found to be too long, and rejected, already
    uint64_t let_go = 0;  // bytes behind `tail` that are not kept, of a record that is too long anyway
};

// A buffer that came before its start state was certain. Its bytes are ours: the caller's are free after the call.
struct Held {
    OwnedBytes bytes;
    size_t before = 0;  // of `bytes`, in front of the buffer's own
    QuoteNotes notes;
    bool lost = false;
    size_t preamble = 0;  // of its own bytes, where what stands before the first record ends in it
    RecordEnds ends;  // so far as they were looked for ahead
    ScanState state;  // at its end, as it was met last

    size_t size() const { return bytes.size - before; }
    const uint8_t* data() const { return bytes.data() + before; }
};

// How far record ends were looked for among held buffers, and where that may have to go back to.
struct LookAhead {
    uint64_t buffer =
        0;  // the position of the next one; all before are known, but those from `line_buffer` on may change
    ScanState state;  // at its begin
    uint64_t line_buffer = 0;  // with the first line end behind an open quote, if there is one
    size_t line_end = 0;  // in that buffer

    uint64_t settled_before() const { return line_buffer ? line_buffer : buffer; }
};

// Of a run of buffers. What it is in its origin is certain once everything before the run has been counted.
struct RunPosition {
    enum class From : uint8_t {
        start,  // the run's first byte and record
        behind_spanning,  // its first byte, and the record behind the spanning one that ends in it and is parsed by itself
        end,  // what is behind its last byte and record
    };
    From from = From::start;
    int64_t bytes = 0;
    uint64_t records = 0;
    uint64_t buffer = 0;  // position of the one the record ends in
};
using RunFinding = FindingAt<RunPosition>;

// What a run of buffers contributes to the positions of those behind it, until every part of it has been parsed.
struct Tally {
    uint64_t last = 0;  // buffer of the run
    uint64_t bytes = 0;
    uint64_t records = 0;  // that end in the run
    uint64_t span_records = 0;  // 1 if a spanning record was parsed by itself and was a record (not a blank line)
    uint32_t waits = 0;  // parts not parsed yet
    std::vector<RunFinding> findings;
};

// Exists only while something is outstanding that Origin has no room for.
struct Outstanding {
    std::map<uint64_t, Fragments> fragments;  // by position of the buffer
    std::map<uint64_t, Held> held;
    std::map<uint64_t, Tally> tallies;  // by position of the run's first buffer
    std::vector<RunFinding> last_findings;  // of the unterminated record, from the end of all
    PreambleScan preamble;
    LookAhead ahead;
    uint64_t led_to = 0;  // a call parses the next buffers up to here, and nobody else takes any
    uint64_t tallied = 0;  // every position up to here is parsed and counted
    uint64_t open_bytes = 0;  // of the record that is open behind the prefix
};

struct Builder;

struct Origin {
    Origin(uint64_t id, bool expects_preamble) : id(id), preamble_open(expects_preamble) {}

    Outstanding& work();
    // Moves what is outstanding back in here if there is room: most idle origins wait with one short tail at most.
    // Returns by how many the fragments became fewer.
    size_t fold();

    uint64_t id;
    ShredRing ring;  // in positions: it never wraps
    uint64_t bytes_before = 0;  // sums over the positions tallied: all in the prefix while nothing is outstanding
    uint64_t records_before = 0;
    std::unique_ptr<Outstanding> outstanding;
    const std::string* header = nullptr;  // as the origin's first record has it
    const RecordFormat* format = nullptr;  // with the columns where that header says; null: the stream's own
    Builder* builder = nullptr;  // open and idle
    std::unique_ptr<uint8_t[]> tail;  // the open record, while nothing else is outstanding
    uint32_t tail_size = 0;
    uint32_t in_flight = 0;  // jobs being parsed
    ScanState state = ScanState::of_stream_start();  // at the end of the prefix
    bool has_tail = false;
    bool tail_by_parity = true;
    bool preamble_open;  // the header has not come yet
    bool finished = false;
    bool busy = false;  // ordered: one call at a time decodes this origin
};

}  // namespace formatter
