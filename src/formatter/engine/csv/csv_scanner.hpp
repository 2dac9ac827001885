// Following CSV records over buffers by the full dialect, byte by byte. In: bytes and the state at their start. Out: where
// records end, and the header's end. Refuses to know fields beyond a header's names.
#pragma once

#include <array>
#include <memory>

#include "engine/csv/csv_format.hpp"
#include "engine/records/record_scanner.hpp"
#include "engine/records/text_encoding.hpp"

namespace formatter {

// What is noted of one record while it is followed from its begin.
struct RecordScan {
    static constexpr size_t none = ~size_t(0) >> 1;
    std::vector<uint32_t>* separators = nullptr;  // if wanted: where delimiters stand
    size_t quote = none;  // that opened the last quoted part
    size_t closed = none;  // the last quote that closed it, for now: doubled, it did not
    uint64_t lines = 0;  // record ends in that part
    bool damaged = false;  // it passes a bound
    size_t damaged_at = none;  // the byte that shows it
    uint8_t line_matched = 0;  // bytes of a record end already met behind the quote, whatever they mean there
    size_t line_end = none;  // the position behind the first one; both are followed by `look` alone

    void meet_quote(size_t at, bool opens) {
        if (!opens) closed = at;
        if (!opens || (closed != none && closed + 1 == at)) return;
        quote = at;
        lines = line_matched = 0;
        line_end = none;
    }
    // With the byte there inside quotes, too.
    bool passes_bound(const CsvFormat& format, size_t at) const {
        return (format.max_quoted_lines && lines >= format.max_quoted_lines) ||
               (format.max_quoted_bytes && at - quote > format.max_quoted_bytes + 1);
    }
};

// Whether a separator may begin with the byte.
bool begins_separator(const CsvFormat&, uint8_t c);

RecordEnds scan_csv(const CsvFormat&, const uint8_t* data, size_t size, ScanState*, bool first_only,
                    RecordScan* = nullptr);

using DecidingBytes = std::array<bool, 256>;

// In one-byte encodings separators are looked for as the source has them.
class CsvScanner : public RecordScanner {
  public:
    explicit CsvScanner(std::shared_ptr<const CsvFormat>);
    RecordEnds scan(const uint8_t* data, size_t size, ScanState* state, bool first_only) const override;
    std::vector<ScanState> possible_states() const override;
    bool can_be(const ScanState&) const override;
    bool looks_ahead() const override { return csv_->bounded() && csv_->newlines_in_quotes; }
    LookStep look(const uint8_t* data, size_t size, ScanState*) const override;
    uint64_t size_of_first(const uint8_t* data, size_t size, ScanState*) const override;

  private:
    std::shared_ptr<const CsvFormat> csv_;
    DecidingBytes deciding_{};
};

// By the text of UTF-16. A character that a buffer's end cuts is carried into the next one: `count` bytes, `carried`.
class Utf16CsvScanner : public RecordScanner {
  public:
    Utf16CsvScanner(std::shared_ptr<const CsvFormat> csv, TextEncoding encoding)
        : csv_(std::move(csv)), encoding_(encoding) {}
    RecordEnds scan(const uint8_t* data, size_t size, ScanState*, bool first_only) const override;
    bool can_be(const ScanState&) const override;

  private:
    static constexpr size_t carried_most = 3;  // bytes of a character that was cut

    std::shared_ptr<const CsvFormat> csv_;
    TextEncoding encoding_;
};

}  // namespace formatter
