// The seam between formats and everything above them (whole-input readers, streams, record arrays). In: bytes that
// begin at a record. Out: rows of a batch, findings, counts. Refuses to know where records begin across buffers, and
// what its places are.
#pragma once

#include <vector>

#include "engine/columns/columns.hpp"
#include "engine/records/findings.hpp"

namespace formatter {

// Where bytes stand, for positions: only whoever decodes knows what its number means.
struct Place {
    uint32_t number = 0;
    bool stream_start = false;  // nothing came before: a byte order mark and a header may stand here
    uint64_t bytes = 0;  // that will be indexed from here on, as far as that is known, by however many calls
};

struct DecodeCounters {
    uint64_t records = 0;  // complete records met (headers, comments and blank lines are not records)
    uint64_t rows = 0;  // rows that came out
    uint64_t filtered = 0;  // records a filter dropped
    uint64_t rejected = 0;  // records dropped for an error
    uint64_t nulled = 0;  // fields made null for an error

    void take(DecodeCounters* more) {  // and leaves nothing
        records += more->records;
        rows += more->rows;
        filtered += more->filtered;
        rejected += more->rejected;
        nulled += more->nulled;
        *more = DecodeCounters{};
    }
};

class RecordDecoder {
  public:
    virtual ~RecordDecoder() = default;

    // Tells where the bytes of the next index() stand. Positions then follow by themselves until the next place().
    virtual void place(const Place&) = 0;
    // Notes the complete records of [data, data + size), at most `row_limit` of them and as many as fit, and returns the
    // bytes consumed. The bytes must stay readable until materialize(). Works off full blocks on the way.
    virtual size_t index(const uint8_t* data, size_t size, uint64_t row_limit) = 0;
    // [data, data + size) is one record that the end of the stream terminates. It fits, or the batch is empty. Returns the
    // bytes consumed: fewer than all if something in the record was never closed, and what is behind it is to be read yet.
    virtual size_t index_unterminated(const uint8_t* data, size_t size) = 0;
    // Whether all that so many bytes can hold has room in the batch: offsets of 32 bits end at 2 GiB of text.
    virtual bool fits(uint64_t bytes) const = 0;
    // Decodes everything indexed so far into columns(). Afterwards no caller's bytes are referred to.
    virtual void materialize() = 0;

    // About how many more bytes will be indexed before the batch leaves: columns are then made large enough at once.
    virtual void expect(uint64_t bytes) { (void)bytes; }

    // Whether each quote of the bytes indexed from here on counts, whatever the dialect's rule: that is quicker to index.
    virtual void count_all_quotes(bool all) { (void)all; }

    virtual uint64_t rows() const = 0;  // in columns() plus indexed and not yet decoded
    virtual uint64_t records_placed() const = 0;  // records met since place()
    virtual uint64_t byte_count() const = 0;
    virtual void export_batch(ArrowArray* out) = 0;

    DecodeCounters counters;
    std::vector<FindingAt<PlacePosition>> findings;
    std::vector<RecordRun>* row_records = nullptr;  // where wanted: the records behind the rows of columns()
    std::vector<uint64_t> values_decoded;  // per column of the plan: what projection and filters really cost
};

}  // namespace formatter
