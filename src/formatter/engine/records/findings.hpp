// What is wrong with a record, and where. In: what decoders met. Out: findings, each with a position in the terms of whoever
// holds it; one kind of position becomes another only by naming what it is counted from. Refuses to know words.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "engine/columns/error_codes.hpp"

namespace formatter {

constexpr size_t shown_most = 200;  // bytes of what was found: more than a message shows
constexpr size_t partial_raw_most = 4096;  // bytes of a record that is not there as a whole

struct Finding {
    ErrorCode code = ErrorCode::none;
    bool row_kept = false;  // the value became null, the row came out
    int32_t column = -1;  // index into the format's columns; -1: the record as a whole
    uint32_t expected_fields = 0, found_fields = 0;  // for the arity codes
    uint64_t opened = 0;  // for a quote that is never closed: its bytes from the record's begin
    std::string found;  // the value's bytes, or the record's first ones
    std::string raw;  // the record's bytes

    static Finding of_record(ErrorCode code, const uint8_t* data, size_t size) {
        Finding finding{code};
        finding.set_found(data, size);
        finding.set_raw(data, size);
        return finding;
    }
    void set_found(const uint8_t* data, size_t size) {
        if (size) found.assign(reinterpret_cast<const char*>(data), std::min(size, shown_most));
    }
    void set_raw(const uint8_t* data, size_t size) {
        if (size) raw.assign(reinterpret_cast<const char*>(data), size);
    }
};

template <typename Position>
struct FindingAt : Finding {
    Position at;
    FindingAt(Finding&& finding, const Position& at) : Finding(std::move(finding)), at(at) {}
};

// Counted from one of the places that a decoder was told of.
struct PlaceRecord {
    uint32_t place = 0;  // its number
    uint64_t records = 0;
    bool operator==(const PlaceRecord& other) const { return place == other.place && records == other.records; }
};
struct RecordRun {  // records that follow each other
    PlaceRecord first;
    uint64_t count = 0;
};
struct PlacePosition {
    PlaceRecord record;
    int64_t bytes = 0;
    int64_t record_end = -1;  // behind the record, if its decoder had to know; else -1
};

// Of a range or a chunk, many of which are read at once: bytes are known from the input's first, records are counted from the
// range's or chunk's own first.
struct StretchPosition {
    int64_t bytes = 0;
    uint64_t records = 0;
};

// Counted from the first byte and record of an origin or a whole input: where things stand for the rest of the world.
struct OriginPosition {
    uint64_t sequence = 0;  // of the buffer the record ends in; 0: there are no buffers
    int64_t bytes = 0;
    uint64_t records = 0;
};

}  // namespace formatter
