// JSON records to columns. In: bytes that begin at a record; a record is a line. Out: rows in columns, errors,
// counters. One decoder belongs to one thread at a time; the format it reads is shared and never written. Refuses to
// know where records begin across buffers.
//
// Two halves: json_lines.cpp and json_decoder.cpp note where the wanted values of each record stand, json_values.cpp reads
// them a column at a time, nested ones from the spaces of the walk. The stops of a row, relative to its segment: begin and
// end of each column's value, then those of the record.
// A value in quotes has its stops inside them if its column expects a string. A missing value has both stops at the line
// end, where no value can stand.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/json/json_filler.hpp"
#include "engine/json_text/json_format.hpp"
#include "engine/json/json_loops.hpp"
#include "engine/json/json_nested.hpp"
#include "engine/json/json_record.hpp"
#include "engine/json/json_rescue.hpp"
#include "engine/json/json_shapes.hpp"
#include "engine/json/json_walk.hpp"
#include "engine/records/block_decoder.hpp"

namespace formatter {

class JsonDecoder : public BlockDecoder {
  public:
    explicit JsonDecoder(const std::shared_ptr<const JsonFormat>& format);

    size_t index(const uint8_t* data, size_t size, uint64_t row_limit) override;
    size_t index_unterminated(const uint8_t* data, size_t size) override;
    uint64_t byte_count() const override;
    void export_batch(ArrowArray* out) override;

  protected:
    // A byte order mark. Always true: its end is never missed.
    bool skip_preamble(const uint8_t* data, size_t size, size_t* skipped);
    size_t size_given_up(const uint8_t*, size_t) const { return 0; }  // a line is a record, whatever is open in it

  private:
    struct Layout {  // how a column of the plan is kept
        bool nested = false;
        bool whole = false;  // all of the record, in front of which may be nothing that can be looked at
        bool quoted = false;  // expects a string: stops lie inside its quotes
        uint32_t position = 0;  // among the flat columns or the nested ones
    };

    struct Lines {  // lines that are being indexed
        const uint8_t* begin;
        const uint8_t* end;
        const uint8_t* readable_begin;
        const uint8_t* readable_end;
        bool utf8_known;
    };

    // json_lines.cpp
    // Reads the lines, at most `row_limit` records; returns where it stopped and lowers the limit.
    const uint8_t* read_lines(const Lines&, uint64_t* row_limit);
    const uint32_t* read_known_line(const Lines&, const uint8_t* line, const uint32_t* at, const uint32_t* end);
    const uint32_t* read_lines_alike(const Lines&, const uint8_t** line, const uint32_t* at, const uint32_t* end,
                                     uint64_t* row_limit);
    bool read_shape(const JsonShape&, const uint8_t* base, const uint32_t* at);
    void learn_shape(const uint8_t* base, const uint32_t* at, const uint32_t* end);
    bool level_lines(const Lines&, const uint32_t* at, const uint32_t* end);
    void begin_line(const uint8_t* line, const Lines&, bool by_text);

    // json_decoder.cpp
    void read_line(const uint8_t* line, const uint8_t* end, const Lines&);
    Skipped read_spans(const uint8_t* at, const uint8_t* end);
    void write_stops(const uint8_t* line, const uint8_t* end);
    void write_span(uint32_t* out, size_t column, const uint8_t* begin, const uint8_t* end) {
        if (layout_[column].quoted) {
            if (*begin == '"' && end - begin >= 2 && end[-1] == '"') begin++, end--;
        } else if (*begin == '0' || *begin == '-') {
            leading_zeros_[column] |= has_leading_zero(begin);
        }
        out[0] = uint32_t(begin - segment_base_);
        out[1] = uint32_t(end - segment_base_);
    }
    uint64_t text_room() const override;
    void open_segment(const uint8_t* base, const Lines&);
    void reject(ErrorCode, const uint8_t* at, const uint8_t* line, const uint8_t* end);

    // json_values.cpp
    struct FlatRows {  // a column that is not nested, and what the block has of it
        size_t index;
        const JsonNodeSpec& node;
        Column& column;
        uint64_t at;  // the row of the column that the block's first one becomes
        FieldView fields;
        RowMarks& marks;
    };
    void make_room(uint64_t bytes) override;
    void begin_more() override;
    void forget_more() override;
    void compact_more(const std::vector<uint64_t>& keep) override { walk_.compact(keep); }
    uint64_t nulled_more() const override { return format_->rescues ? 0 : nested_reader_.nulled; }
    void end_block(uint64_t bytes) override;
    bool filter_rows() override;
    void decode_columns() override;
    void decode_column(size_t column);
    void decode_flat(size_t column);
    void decode_rest(FlatRows&);
    void decode_text(FlatRows&);
    void decode_text_exactly(FlatRows&);
    void decode_nested(size_t column);
    void decode_rescued(size_t column);
    void read_exactly(FlatRows&, uint32_t row);
    // `marks`: of a column that is not nested.
    void value_error(size_t column, uint32_t row, ErrorCode, const uint8_t* at, bool may_null, RowMarks* marks);
    void note_error(size_t column, uint32_t row, ErrorCode, const uint8_t* at, bool row_kept);

    std::shared_ptr<const JsonFormat> format_;
    const Kernel* kernel_;
    JsonRecordReader reader_;
    JsonWalk walk_;
    std::vector<Layout> layout_;
    std::vector<bool> is_filter_column_;
    JsonRescue rescue_;
    bool filter_columns_decoded_ = false;  // in this attempt
    RowFilter filter_;  // by flat column
    std::vector<JsonBuilder> nested_;
    JsonNestedReader nested_reader_;
    JsonLoops loops_;
    JsonFiller filler_;
    bool by_text_ = false;  // the block's records were read by their text: the walk's spaces do not have them
    std::vector<ValueSpan> spans_;
    const uint8_t* segment_base_ = nullptr;
    // The structure of the lines that were indexed last, and how far it is known to be in order.
    std::unique_ptr<uint32_t[]> positions_;
    std::unique_ptr<uint8_t[]> kinds_, depths_;
    std::unique_ptr<JsonValued[]> valued_;
    size_t positions_room_ = 0;
    bool has_kinds_ = false, checked_ = false;
    const uint32_t* leveled_end_ = nullptr;
    std::unique_ptr<uint32_t[]> line_ends_;  // of what is levelled, among the positions
    const uint32_t* line_end_ = nullptr;  // of them, that of the line that was walked last
    std::vector<JsonShape> shapes_;
    size_t likely_shape_ = 0;
    bool in_a_row_ = false;  // the last two records had that one
    std::vector<uint8_t> leading_zeros_;  // per column: some value of the block has one
    uint32_t misses_ = 0;  // records in a row that had no known shape

    std::vector<uint64_t> usual_text_bytes_;  // of a batch, by flat column

    JsonScalar scalar_;
};

}  // namespace formatter
