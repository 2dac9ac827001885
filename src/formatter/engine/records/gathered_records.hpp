// Few records of many, copied to stand together, so that they are indexed and decoded as a run and not one by one. In: records,
// and where they stand. Out: their bytes behind each other, and where a byte of the copy was. Refuses to know what is in them.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/columns/buffer_pool.hpp"
#include "engine/records/findings.hpp"

namespace formatter {

class GatheredRecords {
  public:
    static constexpr size_t most_bytes = 64 << 10;  // the copy and what is decoded of it stay in the second-level cache
    static constexpr size_t record_most = 4 << 10;  // a longer one is worth a run of its own

    bool has_room(size_t size) const { return used_ + size <= most_bytes; }
    void add(const uint8_t* record, size_t size, const PlacePosition& at) {
        if (copy_.capacity() == 0) {
            copy_.reserve(most_bytes + slack, 0);
            std::memset(copy_.data(), 0, copy_.capacity());
        }
        records_.push_back({used_, at});
        std::memcpy(copy_.data() + used_, record, size);
        used_ += size;
    }
    void clear() {
        records_.clear();
        used_ = 0;
    }

    const uint8_t* data() const { return copy_.data(); }
    size_t size() const { return used_; }
    const uint8_t* readable_end() const { return copy_.data() + copy_.capacity(); }

    // The record that a byte of the copy belongs to.
    size_t record_at(size_t byte) const {
        const auto behind = std::upper_bound(records_.begin(), records_.end(), byte,
                                             [](size_t wanted, const Record& record) { return wanted < record.begin; });
        return size_t(behind - records_.begin()) - 1;
    }
    const PlaceRecord& place_of(size_t record) const { return records_[record].at.record; }
    // Where the copy's first byte would stand if this record's neighbours in it were its neighbours there.
    int64_t shift_of(size_t record) const { return records_[record].at.bytes - int64_t(records_[record].begin); }
    PlacePosition position_at(size_t byte) const {
        const size_t record = record_at(byte);
        return {place_of(record), shift_of(record) + int64_t(byte)};
    }

  private:
    static constexpr size_t slack = 64;

    struct Record {
        size_t begin;  // in the copy
        PlacePosition at;
    };
    PoolBuffer copy_;
    size_t used_ = 0;
    std::vector<Record> records_;
};

}  // namespace formatter
