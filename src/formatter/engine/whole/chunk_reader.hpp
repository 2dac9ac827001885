// Chunks whose neighbourhood is known, many at once: each gives the records that end in it. In: chunks with the state they
// begin in and the bytes of the record that is open there. Out: batches of their records, in order.
// Knows nothing of who found that out, and keeps nothing from one call to the next.
#pragma once

#include <vector>

#include "engine/records/record_format.hpp"

namespace formatter {

struct PlacedChunk {
    static constexpr int64_t carried = -1;
    const uint8_t* data = nullptr;
    size_t size = 0;
    const uint8_t* carry = nullptr;  // of the record that began in earlier chunks
    size_t carry_size = 0;
    uint16_t state = 0;  // at the chunk's start (chunk_survey.hpp)
    int64_t begin = carried;  // else: a record begins here, and what is before is none
    bool stream_start = false;  // the first record here is the origin's first
    bool ends_stream = false;  // what is left at the end is a record, too
    int64_t byte_offset = 0;  // of data[0] in its origin
};

struct ChunkFinding {
    size_t chunk;  // of those given: the one its record ends in
    FindingAt<StretchPosition> what;
};

struct ChunkRows {
    std::vector<ArrowArray> batches;
    std::vector<ChunkFinding> findings;
    DecodeCounters counters;
    std::vector<uint64_t> rows_through;  // each chunk, if asked for
    uint64_t spanning = 0;  // of the records, those that began in an earlier chunk
};

struct ChunkLimits {
    uint64_t max_rows = 65536;
    uint64_t max_batch_bytes = 64 << 20;
    bool count_rows = false;
};

void read_chunks(const RecordFormat&, RecordDecoder&, const PlacedChunk*, size_t count, const ChunkLimits&, ChunkRows*);

}  // namespace formatter
