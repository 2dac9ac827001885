// Whole inputs in pieces that several threads can read at once. In: contiguous bytes and a range of them. Out: batches
// of the records the range owns, and where it found its first and its next record. Refuses to know fields and values.
//
// A range owns the records that start in (begin, end]. Where its first record starts is a guess when quotes are about:
// the guess is proven when the range before it ends exactly there, and the range is read again when not.
#pragma once

#include <string>
#include <vector>

#include "engine/columns/owned_array.hpp"
#include "engine/records/record_format.hpp"

namespace formatter {

struct RangeRequest {
    const uint8_t* data = nullptr;
    size_t size = 0;
    size_t begin = 0;
    size_t end = 0;
    bool begins_record = false;  // a record is known to start at `begin`
    bool input_ends = false;     // nothing follows `size`
    bool stream_start = false;
    int64_t byte_offset = 0;     // of data[0] in the whole input
    uint64_t max_rows = 65536;
    uint64_t max_batch_bytes = 64 << 20;
};

struct RangeResult {
    size_t first_record = 0;  // where the first owned record starts
    size_t next_record = 0;   // where the first record after the owned ones starts
    bool open = false;  // no later one does: the record there does not end within the bytes, or ends with the input
    uint64_t records = 0;
    std::vector<OwnedArray> batches;
    std::vector<FindingAt<StretchPosition>> findings;
    DecodeCounters counters;
};

RangeResult read_range(const RecordFormat&, RecordDecoder&, const RangeRequest&);

}  // namespace formatter
