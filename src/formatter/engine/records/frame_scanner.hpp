// A format's own way of following records over the buffers of a stream, where neither one byte nor a CSV dialect tells
// them apart. In: bytes and the state at their start. Out: where records end, and the state at their end.
#pragma once

#include <string>

#include "engine/csv/csv_structure.hpp"

namespace formatter {

class FrameScanner {
  public:
    virtual ~FrameScanner() = default;

    // As scan_buffer(): a fresh state is that of a record's start, one with `mark` 0 that of the stream's.
    virtual BufferScan scan(const uint8_t* data, size_t size, ScanState*, bool first_only) const = 0;
    // Bytes of a record that only end it.
    virtual size_t record_end_size() const { return 0; }
    // Whether something is wrong if the input ends behind this record end: the decoder is then told of the end, even
    // though no bytes are left.
    virtual bool checks_end() const { return false; }
    // Whether anything but white space has come, so that the end matters.
    virtual bool has_begun(const ScanState& state) const { return state.mark == 3; }
    // Bytes of a header as UTF-8 text.
    virtual std::string text_of(const std::string& bytes) const { return bytes; }
    // Fixed size of every record, so that a range of the input can find its own first one; 0: none.
    virtual size_t fixed_size() const { return 0; }
};

}  // namespace formatter
