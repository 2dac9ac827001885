// One record per value: payload columns, as messages carry them. In: values. Out: at most one row for each, and which.
// Refuses to know streams.
#pragma once

#include <vector>

#include "engine/records/record_format.hpp"

namespace formatter {

struct RecordValue {
    const uint8_t* data;
    size_t size;
    bool null;
};

struct ValuePosition {
    size_t value = 0;  // of the array
    int64_t bytes = 0;  // from its begin
};

struct RecordArrayResult {
    static constexpr int64_t no_row = -1;    // null, blank or rejected
    static constexpr int64_t filtered = -2;  // read, and dropped by the filter

    bool too_large = false;  // a column has more text than its offsets can count: there is nothing else
    ArrowArray batch{};
    std::vector<int64_t> row_of_value;
    bool in_order = false;              // row i is value i, for all values
    std::vector<FindingAt<ValuePosition>> findings;
    DecodeCounters counters;
    std::vector<uint64_t> values_decoded;
};

RecordArrayResult read_record_array(const RecordFormat&, const RecordValue* values, size_t count,
                                    const std::string& record_end);

}  // namespace formatter
