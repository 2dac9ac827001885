// Records of known length: rows of one width, or records behind a number that tells their length. In: bytes. Out: where
// records end. Knows nothing of what is in them.
#pragma once

#include "engine/records/frame_scanner.hpp"
#include "engine/binary/native_format.hpp"

namespace formatter {

class FixedRows : public FrameScanner {
  public:
    explicit FixedRows(uint32_t width) : width_(width) {}
    // In the state: `count` bytes of the open row that have come.
    BufferScan scan(const uint8_t* data, size_t size, ScanState*, bool first_only) const override;
    size_t fixed_size() const override { return width_; }

  private:
    uint64_t width_;
};

// A record behind its length.
struct Frame {
    const uint8_t* record = nullptr;  // null: its length has not come as a whole
    uint64_t size = 0;  // that the length tells
    size_t prefix = 0;  // bytes of the length
    bool complete = false;
};
Frame frame_at(const FrameLength&, const uint8_t* data, size_t size);

class LengthFrames : public FrameScanner {
  public:
    explicit LengthFrames(FrameLength length) : length_(length) {}
    // In the state: `matched` bytes of the length have come and are `carried`; `inside` the record, `count` are to come.
    BufferScan scan(const uint8_t* data, size_t size, ScanState*, bool first_only) const override;

  private:
    FrameLength length_;
};

}  // namespace formatter
