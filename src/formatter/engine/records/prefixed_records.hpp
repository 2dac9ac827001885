// Records of known length: rows of one width, or records behind a number that tells their length. In: bytes. Out: where
// records end. Refuses to know what is in them.
#pragma once

#include "engine/records/record_scanner.hpp"

namespace formatter {

// The number in front of each record that says how many bytes follow it.
struct LengthPrefix {
    static constexpr uint8_t varint = 255;
    uint8_t width = 0;  // in bytes; 0: records have none; or varint: seven bits a byte, the lowest first
    bool big_endian = false;
};

struct PrefixedRecord {
    const uint8_t* data = nullptr;  // null: its length has not come as a whole
    uint64_t size = 0;  // that the length tells
    size_t prefix = 0;  // bytes of the length
    bool complete = false;
};
PrefixedRecord prefixed_record_at(const LengthPrefix&, const uint8_t* data, size_t size);

class FixedRows : public RecordScanner {
  public:
    explicit FixedRows(uint32_t width) : width_(width) {}
    // In the state: `count` bytes of the open row that have come.
    RecordEnds scan(const uint8_t* data, size_t size, ScanState*, bool first_only) const override;
    bool can_be(const ScanState& state) const override { return state.count < width_; }
    size_t fixed_size() const override { return width_; }

  private:
    uint64_t width_;
};

class PrefixedRecords : public RecordScanner {
  public:
    explicit PrefixedRecords(LengthPrefix length) : length_(length) {}
    // In the state: `matched` bytes of the length have come and are `carried`; `inside` the record, `count` are to come.
    RecordEnds scan(const uint8_t* data, size_t size, ScanState*, bool first_only) const override;
    bool can_be(const ScanState&) const override;

  private:
    LengthPrefix length_;
};

}  // namespace formatter
