// Following CSV records over buffers by the full dialect, byte by byte. In: bytes and the state at their start. Out: where
// records end, and the header's end. Refuses to know fields beyond a header's names.
#pragma once

#include <memory>

#include "engine/csv/csv_format.hpp"
#include "engine/records/record_scanner.hpp"
#include "engine/records/text_encoding.hpp"

namespace formatter {

RecordEnds scan_csv(const CsvFormat&, const uint8_t* data, size_t size, ScanState*, bool first_only);

// In one-byte encodings separators are looked for as the source has them.
class CsvScanner : public RecordScanner {
  public:
    explicit CsvScanner(std::shared_ptr<const CsvFormat> csv) : csv_(std::move(csv)) {}
    RecordEnds scan(const uint8_t* data, size_t size, ScanState* state, bool first_only) const override {
        return scan_csv(*csv_, data, size, state, first_only);
    }
    std::vector<ScanState> possible_states() const override;

  private:
    std::shared_ptr<const CsvFormat> csv_;
};

// By the text of UTF-16. A character that a buffer's end cuts is carried into the next one: `count` bytes, `carried`.
class Utf16CsvScanner : public RecordScanner {
  public:
    Utf16CsvScanner(std::shared_ptr<const CsvFormat> csv, TextEncoding encoding)
        : csv_(std::move(csv)), encoding_(encoding) {}
    RecordEnds scan(const uint8_t* data, size_t size, ScanState*, bool first_only) const override;

  private:
    std::shared_ptr<const CsvFormat> csv_;
    TextEncoding encoding_;
};

}  // namespace formatter
