// CSV records to columns. In: bytes that begin at a record. Out: rows in a ColumnSet, findings, counters. Refuses to know
// where records begin across buffers. One decoder belongs to one thread at a time; the format it reads is shared and never
// written.
//
// The files, in the order in which records meet them: csv_decoder (indexed into a block), csv_block (the block is decoded),
// csv_filter, then for each column csv_fixed, csv_text or csv_codes, and csv_undecided;
// csv_rescue at last.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "engine/csv/csv_format.hpp"
#include "engine/csv/csv_structure.hpp"
#include "engine/csv/field_tokens.hpp"
#include "engine/records/block_decoder.hpp"

namespace formatter {

class CsvDecoder : public BlockDecoder {
  public:
    explicit CsvDecoder(const std::shared_ptr<const CsvFormat>& format);

    size_t index(const uint8_t* data, size_t size, uint64_t row_limit) override;
    size_t index_unterminated(const uint8_t* data, size_t size) override;
    void expect(uint64_t bytes) override { expected_bytes_ = bytes; }
    void count_all_quotes(bool all) override { all_quotes_ = all; }
    uint64_t byte_count() const override { return columns_.byte_count(); }
    void export_batch(ArrowArray* out) override;

  protected:
    struct Access {  // where a column's field lies in the stops of a row
        int32_t begin_stop;
        int32_t end_stop;
        uint32_t begin_skip;
        bool last;
    };

    CsvDecoder(const std::shared_ptr<const CsvFormat>& format, std::vector<uint32_t> stops);
    void align_block();
    size_t index_by_kernel(const uint8_t* data, size_t size, uint64_t row_limit);
    size_t index_general(const uint8_t* data, size_t size, uint64_t row_limit);
    bool split_next(const uint8_t* data, size_t size, RecordShape* shape, size_t* passed);
    void pass_damaged(const uint8_t* data, const RecordShape&);
    // Bytes of the line that an open quote costs, if these are followed by nothing; 0: all is closed.
    size_t size_given_up(const uint8_t* data, size_t size) const;
    bool is_header_again(const uint8_t* data, size_t size) const;
    bool is_record(const uint8_t* data, const RecordShape&) const;
    void stop_at_odd_record(const uint8_t* data, const StopChoice&, CsvIndex*);
    size_t pass_endless(const uint8_t* data, size_t size);
    size_t size_of_comments(const uint8_t* data, size_t size) const;
    bool skip_preamble(const uint8_t* data, size_t size, size_t* skipped, bool whole = false);
    bool leaves_preamble_open(const uint8_t* data, size_t size) const;
    void header_error(const uint8_t* header, size_t size);
    void add_record(const uint8_t* data, const RecordShape&, const PlacePosition&, const uint8_t* readable_begin,
                    const uint8_t* readable_end);
    void add_irregular(const uint8_t* data, const RecordShape&, const PlacePosition&);
    void write_stops(uint32_t* out, const RecordShape&) const;
    void structural_error(ErrorCode, const uint8_t* data, size_t size, const PlacePosition&, uint32_t found_fields,
                          size_t quote = 0);

    // csv_filter.cpp
    struct FilterStep {  // the predicates of one column, and what they have been worth
        uint32_t column;
        bool by_bytes;  // decided by the field as it stands in the input
        double cost;  // of a row, in arbitrary units
        double rows = 0, dropped = 0;  // so far, the older the less
        std::vector<const Predicate*> predicates;
    };
    void order_filter();
    bool filter_rows() override;
    void filter_by_step(FilterStep&, uint32_t rows);
    void filter_by_alternatives(uint32_t rows);
    void decode_to_test(size_t column, std::vector<uint64_t>* undecided);
    void test_bytes(uint32_t column, const std::vector<const Predicate*>& predicates);
    bool drop_unkept(uint32_t rows);
    void forget_findings(size_t kept) { findings.erase(findings.begin() + ptrdiff_t(kept), findings.end()); }

    struct ColumnRows {  // a column, and what the block has of it
        size_t index;
        const ColumnSpec& spec;
        Column& column;
        uint64_t at;  // the row of the column that the block's first one becomes
        FieldView fields;
        RowMarks& marks;
    };

    // the block's way (csv_block.cpp)
    void make_room(uint64_t bytes) override;
    void begin_more() override { is_decoded_.assign(columns_.size(), false); }
    void end_block(uint64_t bytes) override { expected_bytes_ -= std::min(expected_bytes_, bytes); }
    void decode_columns() override;
    void decode_column(size_t column);
    FieldView view(const Access&) const;
    FieldView view(size_t column) const { return view(access_[column]); }
    Bytes field(size_t column, uint32_t row) const;
    Bytes field_at(const FieldView& v, const Segment& segment, const uint32_t* stops) const {
        const uint8_t* begin = segment.base + uint32_t(stops[v.begin_stop] + v.begin_skip);
        const size_t size = size_t(segment.base + stops[v.end_stop] - begin);
        return {begin, v.drop_carriage_return ? without_carriage_return(*format_, begin, size) : size};
    }
    bool without_outer_quotes(Bytes field, Bytes* content) const;
    bool drops_carriage_return() const { return format_->accepts_crlf() && (saw_carriage_return_ || !indexed_); }

    // values of fixed width (csv_fixed.cpp), text (csv_text.cpp), codes (csv_codes.cpp)
    void decode_fixed(ColumnRows&);
    bool decode_by_loop(ColumnRows&, const FieldView&);
    FieldView without_quotes(const FieldView&);
    bool learn_quotes(const ColumnRows&);
    // A view of other fields in place of these: change(row, field) says of each which, in the same segment.
    template <typename Change>
    FieldView changed_view(const FieldView& v, Change change) {
        bare_stops_.resize(2 * size_t(v.rows) + 1);
        bare_segments_.assign(v.segments, v.segments + v.segment_count);
        for (size_t s = 0, rows = 0; s < bare_segments_.size(); rows += bare_segments_[s++].rows)
            bare_segments_[s].first_stop = 2 * rows;
        uint32_t* out = bare_stops_.data();
        each_row(v, [&](uint32_t row, const Segment& segment, const uint32_t* stops) {
            const Bytes field = change(row, field_at(v, segment, stops));
            *out++ = uint32_t(field.data - segment.base);
            *out++ = uint32_t(field.data + field.size - segment.base);
        });
        return FieldView{bare_segments_.data(), bare_segments_.size(), bare_stops_.data(), 2, 0, 1, 0, v.rows, false};
    }
    void decode_text(ColumnRows&);
    FieldView without_escaped(ColumnRows&);
    void mark_odd_texts(ColumnRows&, const FieldView&);
    void decode_text_exactly(ColumnRows&);
    struct LateTexts {  // of rows, ascending
        struct Row {
            uint32_t row;
            uint32_t size;
        };
        std::vector<Row> rows;
        std::string bytes;  // one text behind the other

        void add(uint32_t row, const uint8_t* text, size_t size) {
            rows.push_back({row, uint32_t(size)});
            bytes.append(reinterpret_cast<const char*>(text), size);
        }
    };
    bool read_odd_texts(ColumnRows&);
    void replace_texts(ColumnRows&, const LateTexts&);
    bool take_text(ColumnRows&, uint32_t row, Bytes raw, Bytes* content);
    void check_utf8(ColumnRows&, uint64_t text_before);
    void decode_codes(ColumnRows&);

    // what loops left undecided (csv_undecided.cpp)
    void finish_rows(ColumnRows&);
    void finish_empty(ColumnRows&);
    void resolve_odd(ColumnRows&);
    void resolve(ColumnRows&, uint32_t row, Bytes raw);
    ErrorCode parse_value(const ColumnRows&, Bytes content, uint32_t row) const;
    bool is_null_token(Bytes field) const { return nulls_.hold(field); }
    bool is_quoted_null(Bytes content) const;
    bool is_null_text(Quoting quoting, Bytes content, bool in_quotes = false) const;  // of a field in quotes
    bool holds_escape(Bytes field) const {
        return format_->escaping && field.size && std::memchr(field.data, format_->escape, field.size);
    }
    bool is_null_in_quotes(const ColumnSpec&, Bytes field);
    bool is_read_null(Bytes field) const;
    void null_or_error(ColumnRows&, uint32_t row, Bytes found);
    void value_error(ColumnRows&, uint32_t row, ErrorCode code, Bytes found);
    void note_error(const ColumnRows&, uint32_t row, ErrorCode code, Bytes found, bool row_kept);

    // what did not fit (csv_rescue.cpp)
    void decode_rescued(size_t column);
    void rescue_record(uint32_t row, const Misfit*, size_t count, std::string* text);
    // One field of it. False if it is no text that can be kept.
    bool rescue_field(const std::string& name, Bytes field, bool absent, std::string* text);
    Bytes record(const RowBlock::Location&, uint32_t row) const;
    // For formats whose records are found otherwise: a field that a record lacks, and where a value stands in the input.
    virtual bool is_absent(const Segment&, const uint32_t* stops, const uint8_t* field) const {
        (void)stops, (void)field;
        return false;
    }
    virtual PlacePosition value_position(const RowBlock::Location& at, const uint8_t* field, size_t column,
                                         uint32_t row) const {
        (void)column, (void)row;
        return at.position(field);
    }

    std::shared_ptr<const CsvFormat> format_;
    const Kernel* kernel_;
    bool indexed_;  // by the kernel
    bool plain_;  // a field says what it is, but for quotes
    bool looks_at_rows_;  // that the index has found: some may be none, or bad, in ways it does not know
    FieldTokens nulls_;  // those null tokens that a field may hold
    Spelling spelling_;
    bool spellings_hold_quotes_;  // of a boolean, or of a time
    std::vector<uint32_t> stops_;  // wanted separator ordinals of a record
    std::vector<Access> access_;
    std::vector<Access> unclaimed_;  // of fields that no column has
    std::vector<FilterStep> steps_;  // most dropped rows for the money first; empty if the filter has alternatives
    std::vector<uint8_t> in_quotes_;  // numbers of the column have mostly been
    std::vector<NumberShape> number_shapes_;  // of each column
    std::vector<uint32_t> bare_stops_;
    std::vector<Segment> bare_segments_;
    std::vector<uint64_t> escaped_;  // rows of the column whose text has an escape
    std::vector<bool> is_decoded_;  // in this attempt
    std::vector<bool> scan_tokens_;
    bool saw_carriage_return_ = false;
    bool all_quotes_ = false;  // count, in what is indexed now
    uint64_t expected_bytes_ = 0;  // still to come into this batch
    std::vector<uint64_t> kept_, passes_;
    std::vector<int64_t> wide_;
    std::string scratch_, decoded_;
};

}  // namespace formatter
