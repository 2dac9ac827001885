// Binary rows to columns. In: bytes that begin at a row, or at the length of one. Out: rows in columns, errors,
// counters. One decoder belongs to one thread at a time; the format it reads is shared and never written. Refuses to
// know where rows begin across buffers.
//
// Rows are decoded where they stand, a few thousand at a time, so that the next column finds them in the cache. A column
// is one loop with a fixed stride where rows follow each other, and over their addresses where they do not.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/binary/binary_format.hpp"
#include "engine/records/record_decoder.hpp"

namespace formatter {

class BinaryDecoder : public RecordDecoder {
  public:
    explicit BinaryDecoder(std::shared_ptr<const BinaryFormat> format);

    void place(const Place&) override;
    size_t index(const uint8_t* data, size_t size, uint64_t row_limit) override;
    size_t index_unterminated(const uint8_t* data, size_t size) override;
    void materialize() override {}  // nothing waits
    void expect(uint64_t bytes) override;
    uint64_t rows() const override { return columns_.rows(); }
    uint64_t records_placed() const override { return records_; }
    bool fits(uint64_t bytes) const override { return bytes <= columns_.text_room(); }
    uint64_t byte_count() const override { return columns_.byte_count(); }
    void export_batch(ArrowArray* out) override;

  private:
    struct Row {
        const uint8_t* data;
        uint64_t record;  // ordinal past place_
        uint32_t size;
    };

    size_t index_prefixed(const uint8_t* data, size_t size, uint64_t row_limit);
    void read_block(uint64_t size);
    // Drops rows whose values no column can hold; `wanted` says which columns are looked at.
    void check(bool filter_columns);
    size_t next_wrong(size_t column, size_t from, ErrorCode* why) const;
    bool may_null(size_t column) const;
    bool is_checked(size_t i) const { return format_->columns[i].type->next_wrong || format_->fields[i].is_rest(); }
    void drop(const std::vector<uint64_t>& dropped);
    void decode_columns(bool filter_columns_only);
    void begin_fields();
    PackedFields packed(size_t column) const;
    void decode_text(size_t column);
    void note(ErrorCode, int32_t column, const uint8_t* at, size_t size, uint64_t record, const uint8_t* raw,
              size_t raw_size, bool row_kept);

    std::shared_ptr<const BinaryFormat> format_;
    std::vector<bool> is_filter_column_;
    ColumnSet columns_;
    std::vector<size_t> checked_;  // columns with values that no column can hold, by their place in a row
    std::vector<Row> rows_;  // of the block, as far as they are not dropped
    std::vector<const uint8_t*> row_begins_;  // where rows_ begin, as far as stride_ does not tell
    size_t stride_ = 0;  // from row to row, or 0: it differs
    const uint8_t* base_ = nullptr;  // of the block
    int64_t base_offset_ = 0;  // past place_
    Place place_;
    int64_t offset_ = 0;  // bytes past place_
    uint64_t records_ = 0;  // records past place_
    std::vector<uint64_t> bits_, valid_;
};

}  // namespace formatter
