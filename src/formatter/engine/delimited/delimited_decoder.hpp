// Records of a declared format to columns. In: bytes that begin at a record. Out: rows in a ColumnSet, findings, counters.
// Values are read as CSV's are, by the same code; only how a record is cut differs. Refuses to know where records begin
// across buffers.
//
// A value that had to be rewritten stands behind a copy of its record.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/delimited/record_splitter.hpp"
#include "engine/delimited/span_decoder.hpp"

namespace formatter {

class DelimitedDecoder : public SpanDecoder {
  public:
    explicit DelimitedDecoder(std::shared_ptr<const DelimitedFormat> format);

    size_t index(const uint8_t* data, size_t size, uint64_t row_limit) override;
    size_t index_unterminated(const uint8_t* data, size_t size) override;

  private:
    struct Window {  // bytes whose positions are known
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

    void find_positions(const uint8_t* data, size_t size);
    bool add_record(Window*, uint32_t begin, uint32_t record_end, RecordSplitter::Positions);
    void add_resolved(const Window&, uint32_t begin, uint32_t record_end, const uint32_t* stops);
    bool holds_record(const Window&, uint32_t begin, uint32_t end) const;
    void end_block(uint64_t bytes) override;
    PlacePosition value_position(const RowBlock::Location&, const uint8_t* field, size_t column,
                                 uint32_t row) const override;

    std::shared_ptr<const DelimitedFormat> declared_;
    RecordSplitter splitter_;
    const std::string& ending_;
    std::vector<uint32_t> positions_, ends_;
    BytePositions found_{};
    std::vector<Moved> moved_;
    std::string resolved_;
};

}  // namespace formatter
