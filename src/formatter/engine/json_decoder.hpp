// JSON records to columns. In: bytes that begin at a record; a record is a line. Out: rows in columns, errors, counters.
// One decoder belongs to one thread at a time; the format it reads is shared and never written.
//
// Two halves: json_decoder.cpp notes where the wanted values of each record stand, json_values.cpp reads them a column
// at a time. The stops of a row, relative to its segment: begin and end of each column's value, then those of the record.
// A value in quotes has its stops inside them if its column expects a string. A missing value has both stops at the line
// end, where no value can stand.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/json_format.hpp"
#include "engine/json_nested.hpp"
#include "engine/json_record.hpp"
#include "engine/record_decoder.hpp"
#include "engine/row_block.hpp"

namespace formatter {

class JsonDecoder : public RecordDecoder {
  public:
    explicit JsonDecoder(std::shared_ptr<const JsonFormat> format);

    void place(const Place&) override;
    size_t index(const uint8_t* data, size_t size, uint64_t row_limit) override;
    void index_unterminated(const uint8_t* data, size_t size) override;
    void materialize() override;
    uint64_t rows() const override { return columns_.rows() + block_.rows(); }
    uint64_t records_placed() const override { return records_; }
    uint64_t byte_count() const override;
    void export_batch(ArrowArray* out) override;

  private:
    struct Layout {  // how a column of the plan is kept
        bool nested = false;
        bool quoted = false;   // expects a string: stops lie inside its quotes
        uint32_t position = 0;  // among the flat columns or the nested ones
    };

    // json_decoder.cpp
    void read_line(const uint8_t* line, const uint8_t* end, const uint8_t* readable_begin, const uint8_t* readable_end,
                   bool utf8_known);
    void write_stops(uint32_t* out, const uint8_t* base, const uint8_t* line, const uint8_t* end) const;
    void open_segment(const uint8_t* base, const uint8_t* readable_begin, const uint8_t* readable_end);
    void reject(ErrorCode, const uint8_t* at, const uint8_t* line, const uint8_t* end);
    Place here() const;

    // json_values.cpp
    void decode_columns(bool filter_columns, bool other_columns);
    void decode_flat(size_t column);
    void decode_fixed(size_t column, const FieldView&, ValueMarks*);
    void decode_text(size_t column);
    void decode_nested(size_t column);
    void read_exactly(size_t column, uint32_t row);
    void mark_leading_zeros(size_t column, ValueMarks*);
    void value_error(size_t column, uint32_t row, ErrorCode, const uint8_t* at, bool may_null);
    const ColumnSpec& spec(size_t column) const { return format_->columns[column].node.scalar; }
    void begin_attempt();
    void forget_attempt();
    void drop_marked(const std::vector<uint64_t>& dropped);
    void ready_scratch();

    std::shared_ptr<const JsonFormat> format_;
    const Kernel* kernel_;
    JsonRecordReader reader_;
    std::vector<Layout> layout_;
    std::vector<ColumnSpec> flat_specs_;
    std::vector<bool> is_filter_column_;
    RowFilter filter_;  // by flat column
    RowBlock block_;
    ColumnSet columns_;
    std::vector<JsonBuilder> nested_;
    JsonNestedReader nested_reader_;
    std::vector<ValueSpan> spans_;
    const uint8_t* segment_base_ = nullptr;

    Place place_;
    size_t offset_ = 0;
    uint64_t records_ = 0;
    uint64_t reserved_ = 0;

    // Scratch for one block, one bit or value a row.
    std::vector<uint64_t> valid_, empty_, odd_, rejected_;
    bool any_rejected_ = false;
    size_t errors_before_ = 0;
    uint64_t nulled_ = 0;
    std::vector<int64_t> wide_;
    std::vector<uint64_t> text_before_, nulls_before_;
    JsonScalar scalar_;
};

}  // namespace formatter
