// Values that hold several records each: payloads that wrap an array. In: values. Out: the rows of all, and which value each record
// is from. Refuses to know streams.
#pragma once

#include <vector>

#include "engine/columns/owned_array.hpp"
#include "engine/records/record_format.hpp"
#include "engine/whole/record_array.hpp"

namespace formatter {

struct ExplodedPosition {
    size_t value = 0;  // of the array
    uint64_t record = 0;  // of all values' records
    int64_t bytes = 0;  // from the value's begin
};

struct ExplodedValues {
    bool too_large = false;  // a column has more text than its offsets can count: there is nothing else
    OwnedArray batch;
    std::vector<int64_t> value_of_record;
    std::vector<int64_t> row_of_record;  // as RecordArrayResult says it
    std::vector<FindingAt<ExplodedPosition>> findings;
    std::vector<uint64_t> values_decoded;
};

ExplodedValues explode_values(const RecordFormat&, const RecordValues& values);

}  // namespace formatter
