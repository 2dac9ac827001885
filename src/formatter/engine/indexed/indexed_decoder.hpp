// Records that code of others finds, to columns. In: bytes that begin at a record. Out: rows in a ColumnSet, findings, counters.
// Values are read as CSV's are, by the same code. What the indexer says is looked at before it is believed. Refuses to know where
// records begin across buffers.
#pragma once

#include <memory>
#include <string>

#include "engine/delimited/span_decoder.hpp"
#include "engine/indexed/indexed_format.hpp"

namespace formatter {

class IndexedDecoder : public SpanDecoder {
  public:
    explicit IndexedDecoder(std::shared_ptr<const IndexedFormat> format);

    size_t index(const uint8_t* data, size_t size, uint64_t row_limit) override;
    size_t index_unterminated(const uint8_t* data, size_t size) override;

  private:
    struct Room : formatter_records {  // and its memory
        std::unique_ptr<uint32_t[]> positions;
        std::unique_ptr<uint8_t[]> kind_bytes;
        uint32_t most = 0;
        bool starved = false;
    };
    struct Stretch {  // bytes that were indexed
        const uint8_t* data;
        const uint8_t* readable_begin;
        const uint8_t* readable_end;
        int64_t offset;  // of its first byte past the place
    };

    static int reserve(formatter_records*, uint32_t capacity);
    bool ask(const uint8_t* data, size_t size, uint32_t* count);
    bool is_possible(const uint8_t* data, size_t size, uint32_t count);
    size_t add_records(const Stretch&, uint32_t count, uint64_t* row_limit);
    void skip_mark(const uint8_t* data, size_t size, size_t* at);
    size_t fail(const uint8_t* data, size_t size);
    PlacePosition value_position(const RowBlock::Location&, const uint8_t* field, size_t column,
                                 uint32_t row) const override;
    PlacePosition here_to(size_t record_bytes) const;
    size_t behind_last_end(const uint8_t* data, size_t size) const;

    std::shared_ptr<const IndexedFormat> indexed_;
    const std::string& ending_;
    Room room_{};
};

}  // namespace formatter
