// One record per value: payload columns, as messages carry them. In: values. Out: at most one row for each, and which.
#pragma once

#include <vector>

#include "engine/records/framing.hpp"

namespace formatter {

struct RecordValue {
    const uint8_t* data;
    size_t size;
    bool null;
};

struct RecordArrayResult {
    static constexpr int64_t no_row = -1;    // null, blank or rejected
    static constexpr int64_t filtered = -2;  // read, and dropped by the filter

    ArrowArray batch{};
    std::vector<int64_t> row_of_value;
    bool in_order = false;              // row i is value i, for all values
    std::vector<uint64_t> value_of_error;
    std::vector<RowError> errors;       // `byte_offset` counts from the value's start
    DecodeCounters counters;
    std::vector<uint64_t> values_decoded;
};

RecordArrayResult read_record_array(const RecordFormat&, const RecordValue* values, size_t count,
                                    const std::string& record_end);

}  // namespace formatter
