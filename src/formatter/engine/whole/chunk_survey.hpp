// What a chunk tells before anyone knows how it begins: for each state it could begin in, the state it ends in and where
// its last record ends. In: bytes that begin anywhere. Out: a few numbers a chunk; they compose over chunks in order.
// Knows no fields, no values and no neighbours.
#pragma once

#include <vector>

#include "engine/records/record_ending.hpp"

namespace formatter {

// The state at a place of an input in 16 bits, so that it can travel as a number: inside 1, escaped 2, comment 4, record start 8,
// matched 16 to 64, mark 128 and 256, fresh 512, closing 1024, matched of a delimiter 2048 to 8192. Where the dialect's
// state is quote parity only the first bit is used.
uint16_t packed_state(const RecordEnding&, const ScanState&);
ScanState unpacked_state(const RecordEnding&, uint16_t packed);
uint16_t first_state(const RecordEnding&);  // at the start of an origin
std::vector<uint16_t> part_states(const RecordEnding&);  // at the start of a part that is not the first

struct ChunkCourse {
    static constexpr uint32_t none = ~uint32_t(0);
    uint16_t start;
    uint16_t end;
    uint32_t last_end;  // behind the last record end, or `none`
};

struct ChunkSurvey {
    std::vector<ChunkCourse> courses;  // one for each state the chunk could begin in
    size_t likely = 0;  // of these, by what stands around the quotes
};

// Of at most 4 GiB - 2. The survey's memory is used again.
void survey_chunk(const RecordEnding&, const uint8_t* data, size_t size, ChunkSurvey*);

// Whether `at` lies inside quotes, by the first quote behind it whose neighbours leave no doubt in well-formed input:
// a separator before and text behind opens, text before and a separator behind closes. No quote near: outside.
bool guess_inside(const RecordEnding&, const uint8_t* data, size_t size, size_t at);

}  // namespace formatter
