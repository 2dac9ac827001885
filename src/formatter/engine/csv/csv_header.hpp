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

// Finds the header behind a byte order mark, comments and blank lines. False if it is not complete.
bool find_header(const CsvFormat&, const uint8_t* data, size_t size, size_t* begin, RecordShape* shape);

class CsvHeader : public HeaderReader {
  public:
    // `source`: the dialect as it stands in one-byte encodings; `scanner` follows records in the encoding.
    CsvHeader(std::shared_ptr<const CsvFormat> csv, std::shared_ptr<const CsvFormat> source,
              std::shared_ptr<const RecordScanner> scanner, TextEncoding encoding)
        : csv_(std::move(csv)), source_(std::move(source)), scanner_(std::move(scanner)), encoding_(encoding) {}

    uint64_t find_end(const uint8_t* data, size_t size, PreambleScan*) const override;
    Preamble read(const uint8_t* data, size_t size) const override;

  private:
    bool is_utf16() const { return encoding_ == TextEncoding::utf16_le || encoding_ == TextEncoding::utf16_be; }
    Preamble read_text(const uint8_t* text, size_t size) const;

    std::shared_ptr<const CsvFormat> csv_, source_;
    std::shared_ptr<const RecordScanner> scanner_;
    TextEncoding encoding_;
};

}  // namespace formatter
