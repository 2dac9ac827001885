// One record per value: payload columns, as messages carry them. In: values. Out: at most one row for each, and which.
// Refuses to know streams.
#pragma once

#include <vector>

#include "engine/columns/owned_array.hpp"
#include "engine/records/record_format.hpp"

namespace formatter {

struct RecordValue {
    const uint8_t* data;
    size_t size;
    bool null;
};

// Values by address; who hands them in keeps them.
class RecordValues {
  public:
    RecordValues(const uint64_t* addresses, const uint64_t* sizes, const uint8_t* valid, size_t count)
        : addresses_(addresses), sizes_(sizes), valid_(valid), count_(count) {}
    size_t count() const { return count_; }
    RecordValue operator[](size_t i) const {
        return {reinterpret_cast<const uint8_t*>(addresses_[i]), size_t(sizes_[i]), valid_[i] == 0};
    }

  private:
    const uint64_t *addresses_, *sizes_;
    const uint8_t* valid_;
    size_t count_;
};

struct ValuePosition {
    size_t value = 0;  // of the array
    int64_t bytes = 0;  // from its begin
};

struct RecordArrayResult {
    static constexpr int64_t no_row = -1;    // null, blank or rejected
    static constexpr int64_t filtered = -2;  // read, and dropped by the filter

    bool too_large = false;  // a column has more text than its offsets can count: there is nothing else
    OwnedArray batch;
    bool in_order = false;              // row i is value i, for all values
    std::vector<int64_t> row_of_value;  // if not
    std::vector<FindingAt<ValuePosition>> findings;
    DecodeCounters counters;
    std::vector<uint64_t> values_decoded;
};

RecordArrayResult read_record_array(const RecordFormat&, const RecordValues&, const std::string& record_end);

}  // namespace formatter
