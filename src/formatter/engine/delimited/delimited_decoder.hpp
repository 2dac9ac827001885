// Records of a declared format to columns. In: bytes that begin at a record. Out: rows in a ColumnSet, findings, counters.
// Values are read as CSV's are, by the same code; only how a record is cut differs. Refuses to know where records begin
// across buffers.
//
// A value that had to be rewritten stands behind a copy of its record.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/delimited/plain_splitter.hpp"
#include "engine/delimited/record_splitter.hpp"
#include "engine/delimited/span_decoder.hpp"

namespace formatter {

class DelimitedDecoder : public SpanDecoder {
  public:
    explicit DelimitedDecoder(std::shared_ptr<const DelimitedFormat> format);

    size_t index(const uint8_t* data, size_t size, uint64_t row_limit) override;
    size_t index_unterminated(const uint8_t* data, size_t size) override;

  private:
    struct Window {  // bytes whose separators are known
        const uint8_t* data;
        const uint8_t* readable_begin;
        const uint8_t* readable_end;
        size_t size;
        int64_t offset;  // of its first byte past the place
        uint32_t* stops = nullptr;  // of the next row of a segment that is open
    };
    struct Moved {  // a value that stands elsewhere than in its record
        uint32_t row, column, bytes;
    };

    PartBounds& splitter() { return plain_ ? static_cast<PartBounds&>(*plain_) : splitter_; }
    void find_separators(const uint8_t* data, size_t size);
    // The next byte, from `begin` on, that may end the record that begins there.
    bool find_end(uint32_t begin, uint32_t* end);
    bool add_record(Window*, uint32_t begin, uint32_t record_end);
    bool split_record(const Window&, uint32_t begin, uint32_t end, uint32_t* stops);
    void add_resolved(const Window&, uint32_t begin, uint32_t record_end, const uint32_t* stops);
    bool holds_record(const Window&, uint32_t begin, uint32_t end) const;
    void end_block(uint64_t bytes) override;
    PlacePosition value_position(const RowBlock::Location&, const uint8_t* field, size_t column,
                                 uint32_t row) const override;

    std::shared_ptr<const DelimitedFormat> declared_;
    RecordSplitter splitter_;
    std::optional<PlainSplitter> plain_;  // in its place, where it can
    const std::string& ending_;

    // Of the window: for the plain splitter bits, for the other one positions.
    std::vector<uint64_t> bits_;
    size_t stride_ = 0;
    uint64_t ends_left_ = 0;  // bits of the word, those of record ends not met yet
    size_t word_ = 0;
    std::vector<uint32_t> positions_, ends_;
    BytePositions found_{};
    size_t ends_met_ = 0;
    const uint32_t *first_ = nullptr, *end_ = nullptr;  // of the positions, those in the record that ends next

    std::vector<Moved> moved_;
    std::string resolved_;
};

}  // namespace formatter
