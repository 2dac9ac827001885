// One record per value: payload columns, as messages carry them. In: values. Out: at most one row for each, and which.
#pragma once

#include <vector>

#include "engine/framing.hpp"

namespace formatter {

struct RecordValue {
    const uint8_t* data;
    size_t size;
    bool null;
};

struct RecordArrayResult {
    ArrowArray batch{};
    std::vector<int64_t> row_of_value;  // -1: null, blank or rejected
    std::vector<uint64_t> value_of_error;
    std::vector<RowError> errors;       // `byte_offset` counts from the value's start
    DecodeCounters counters;
};

RecordArrayResult read_record_array(RecordDecoder&, const RecordValue* values, size_t count,
                                    const std::string& record_end);

}  // namespace formatter
