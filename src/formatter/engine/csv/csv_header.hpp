// What stands before the first record of a CSV: a byte order mark, comments, blank lines, a header. In: bytes from the
// stream's first on. Out: where the header ends, and the format with its columns where it names them. Refuses to know
// records and buffers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/csv/csv_structure.hpp"
#include "engine/records/record_format.hpp"
#include "engine/records/text_encoding.hpp"

namespace formatter {

// Finds the header behind comments and blank lines, which begin at `begin`. False if it is not complete, or not there;
// `begin` is then where it would be.
bool find_header(const CsvFormat&, const uint8_t* data, size_t size, size_t* begin, RecordShape* shape);

class CsvHeader : public HeaderReader {
  public:
    // `source`: the dialect as it stands in one-byte encodings; `scanner` follows records in the encoding.
    CsvHeader(std::shared_ptr<const CsvFormat> csv, std::shared_ptr<const CsvFormat> source,
              std::shared_ptr<const RecordScanner> scanner, TextEncoding encoding)
        : csv_(std::move(csv)), source_(std::move(source)), scanner_(std::move(scanner)), encoding_(encoding) {}

    uint64_t find_end(const uint8_t* data, size_t size, uint64_t most, PreambleScan*) const override;
    bool has_last_line(PreambleScan* scan) const override { return !take_text(scan).empty(); }
    Preamble read(const uint8_t* data, size_t size, Extent) const override;

  private:
    bool is_utf16() const { return encoding_ == TextEncoding::utf16_le || encoding_ == TextEncoding::utf16_be; }
    // The line as UTF-8. A byte order mark in front of it is let go.
    std::string take_text(PreambleScan*) const;
    Preamble read_text(const uint8_t* text, size_t size, Extent) const;

    std::shared_ptr<const CsvFormat> csv_, source_;
    std::shared_ptr<const RecordScanner> scanner_;
    TextEncoding encoding_;
};

}  // namespace formatter
