// Where the fields of a block of records lie. Written by the index, read by the value loops. In: stops. Out: fields.
// Refuses to know what is in them.
//
// The records of a block may lie in many buffers. A segment is a run of records behind one base pointer; stops are the
// positions of the separators that bound wanted fields, relative to that base, `stride` entries a record:
//
//     base:   7 , T E X T , 2 . 5 \n 8 , N O \n ...
//     stops: -1   1         6        10 ...            entry -1 is the sentinel: one separator before the first record
//
// The field of a column lies between the entry `begin_stop` (exclusive, plus `begin_skip` separator bytes) and the entry
// `end_stop` (exclusive) of its record. `begin_stop` of the first column is -1: the last entry of the record before, or
// the sentinel. Offsets are unsigned 32 bit and may wrap: base + uint32_t(stop + skip) is always inside the segment.
#pragma once

#include <cstddef>
#include <cstdint>

namespace formatter {

struct Segment {
    const uint8_t* base;
    const uint8_t* readable_begin;  // loads may touch [readable_begin, readable_end) and nothing else
    const uint8_t* readable_end;
    size_t first_stop;  // index of the first record's entry 0 in `stops`; first_stop - 1 is the sentinel
    uint32_t rows;
};

struct FieldView {
    const Segment* segments;
    size_t segment_count;
    const uint32_t* stops;
    uint32_t stride;
    int32_t begin_stop;
    int32_t end_stop;
    uint32_t begin_skip;
    uint32_t rows;  // sum of the segments' rows
    bool drop_carriage_return;  // last column where "\r\n" may end a record: a final '\r' is not part of the field
};

// Calls visit(row, segment, entry 0 of the row) for each row of a view.
template <typename Visit>
void each_row(const FieldView& v, Visit visit) {
    uint32_t row = 0;
    for (size_t s = 0; s < v.segment_count; s++) {
        const Segment& segment = v.segments[s];
        const uint32_t* stops = v.stops + segment.first_stop;
        for (const uint32_t end = row + segment.rows; row < end; row++, stops += v.stride) visit(row, segment, stops);
    }
}

}  // namespace formatter
