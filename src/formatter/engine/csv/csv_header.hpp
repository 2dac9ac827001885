// What stands before the first record of a CSV: a byte order mark, lines of anything, comments, blank lines, a header of one
// or several lines, records to pass over. In: bytes from the stream's first on. Out: where all that ends, and the format
// with its columns where the header names them. Refuses to know the records behind it, and buffers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/csv/csv_structure.hpp"
#include "engine/records/record_format.hpp"
#include "engine/records/text_encoding.hpp"

namespace formatter {

struct PreambleLines {
    size_t size = 0;  // through the end of the last one
    size_t header = 0;  // where the first one that names fields begins, or would
    std::vector<Bytes> names;  // the lines that name fields, without their ends
};

// Follows the preamble that begins there. False if it is not complete in these bytes. `whole`: they are all there is.
bool follow_preamble(const CsvFormat&, const uint8_t* data, size_t size, bool whole, PreambleLines* out);

class CsvHeader : public HeaderReader {
  public:
    // `source`: the dialect as it stands in one-byte encodings; `scanner` follows records in the encoding, `lines` what may
    // be anything but for its end.
    CsvHeader(std::shared_ptr<const CsvFormat> csv, std::shared_ptr<const CsvFormat> source,
              std::shared_ptr<const RecordScanner> scanner, std::shared_ptr<const RecordScanner> lines,
              TextEncoding encoding)
        : csv_(std::move(csv)),
          source_(std::move(source)),
          scanner_(std::move(scanner)),
          lines_(std::move(lines)),
          encoding_(encoding) {}

    uint64_t find_end(const uint8_t* data, size_t size, uint64_t most, PreambleScan*) const override;
    bool end(PreambleScan*) const override;
    Preamble read(const uint8_t* data, size_t size, Extent) const override;

  private:
    bool is_utf16() const { return encoding_ == TextEncoding::utf16_le || encoding_ == TextEncoding::utf16_be; }
    bool take_line(PreambleScan*) const;
    size_t damaged_line(PreambleScan*) const;
    // The line as UTF-8. A byte order mark in front of it is let go.
    std::string take_text(PreambleScan*) const;
    Preamble read_text(const uint8_t* text, size_t size, Extent) const;

    std::shared_ptr<const CsvFormat> csv_, source_;
    std::shared_ptr<const RecordScanner> scanner_, lines_;
    TextEncoding encoding_;
};

}  // namespace formatter
