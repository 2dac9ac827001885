// CSV records to columns. In: bytes that begin at a record. Out: rows in a ColumnSet, errors, counters.
// One decoder belongs to one thread at a time; the format it reads is shared and never written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/csv/csv_format.hpp"
#include "engine/csv/csv_structure.hpp"
#include "engine/records/record_decoder.hpp"
#include "engine/records/row_block.hpp"

namespace formatter {

class CsvDecoder : public RecordDecoder {
  public:
    explicit CsvDecoder(std::shared_ptr<const CsvFormat> format);

    void place(const Place&) override;
    size_t index(const uint8_t* data, size_t size, uint64_t row_limit) override;
    void index_unterminated(const uint8_t* data, size_t size) override;
    void materialize() override;
    void expect(uint64_t bytes) override { expected_bytes_ = bytes; }
    uint64_t rows() const override { return columns_.rows() + block_.rows(); }
    uint64_t records_placed() const override { return records_; }
    uint64_t byte_count() const override { return columns_.byte_count(); }
    void export_batch(ArrowArray* out) override;

  private:
    struct Access {  // where a column's field lies in the stops of a row
        int32_t begin_stop;
        int32_t end_stop;
        uint32_t begin_skip;
        bool last;
    };

    void align_block();
    size_t index_plain(const uint8_t* data, size_t size, uint64_t row_limit);
    size_t index_general(const uint8_t* data, size_t size, uint64_t row_limit);
    size_t pass_endless(const uint8_t* data, size_t size);
    bool skip_preamble(const uint8_t* data, size_t size, size_t* skipped);
    void header_error(const uint8_t* header, size_t size);
    Place here() const;
    void add_record(const uint8_t* data, const RecordShape&, const Place&, const uint8_t* readable_begin,
                    const uint8_t* readable_end);
    void add_irregular(const uint8_t* data, const RecordShape&, const Place&);
    void write_stops(uint32_t* out, const RecordShape&) const;
    void structural_error(ErrorCode, const uint8_t* data, size_t size, const Place&, uint32_t found_fields);

    // csv_filter.cpp
    struct FilterStep {  // the predicates of one column, and what they have been worth
        uint32_t column;
        bool by_bytes;  // decided by the field as it stands in the input
        double cost;    // of a row, in arbitrary units
        double rows = 0, dropped = 0;  // so far, the older the less
        std::vector<const Predicate*> predicates;
    };
    void plan_filter();
    bool filter_rows();
    void filter_by_step(FilterStep&, uint32_t rows);
    void filter_by_alternatives(uint32_t rows);
    void decode_to_test(size_t column, std::vector<uint64_t>* undecided);
    void test_bytes(uint32_t column, const std::vector<const Predicate*>& predicates);
    bool drop_unkept(uint32_t rows);

    // csv_values.cpp, csv_text.cpp, csv_codes.cpp
    void decode_columns();
    void decode_column(size_t column);
    FieldView without_quotes(const FieldView&);
    bool learn_quotes(size_t column, const FieldView&, uint32_t odd_count);
    void decode_fixed(size_t column, const FieldView&);
    void decode_codes(size_t column, const FieldView&);
    void decode_text(size_t column, const FieldView&);
    void decode_text_exactly(size_t column, const FieldView&);
    void finish_marks(size_t column, const FieldView&);
    void resolve_odd(size_t column, const FieldView&);
    void resolve(size_t column, uint32_t row, Bytes raw);
    ErrorCode parse_value(size_t column, Bytes content, uint32_t row);
    bool is_null_token(Bytes field) const;
    void null_or_error(size_t column, uint32_t row, Bytes found);
    void value_error(size_t column, uint32_t row, ErrorCode code, Bytes found);
    void note_error(size_t column, uint32_t row, ErrorCode code, Bytes found, bool row_kept);
    void check_utf8(size_t column, uint64_t text_before);
    FieldView view(size_t column) const;
    Bytes field(size_t column, uint32_t row) const;
    bool drops_carriage_return() const { return format_->accepts_crlf() && (saw_carriage_return_ || !plain_); }
    void begin_attempt();
    void forget_attempt();
    void forget_column(size_t column);
    void drop_marked(const std::vector<uint64_t>& dropped);

    std::shared_ptr<const CsvFormat> format_;
    const Kernel* kernel_;
    bool plain_;
    bool only_empty_is_null_;  // no other null token
    std::vector<uint32_t> stops_;  // wanted separator ordinals of a record
    std::vector<Access> access_;
    std::vector<FilterStep> steps_;  // most dropped rows for the money first; empty if the filter has alternatives
    std::vector<uint8_t> in_quotes_;  // numbers of the column have mostly been
    std::vector<NumberShape> number_shapes_;  // of each column
    std::vector<uint32_t> bare_stops_;
    std::vector<Segment> bare_segments_;
    std::vector<bool> is_decoded_;   // in this attempt
    std::vector<bool> scan_tokens_;
    RowBlock block_;
    ColumnSet columns_;
    bool saw_carriage_return_ = false;

    Place place_;
    size_t offset_ = 0;       // bytes past place_
    uint64_t records_ = 0;    // records past place_
    void reserve_rows(uint32_t rows);
    uint64_t reserved_ = 0;        // rows the columns have room for
    uint64_t expected_bytes_ = 0;  // still to come into this batch
    uint64_t indexed_bytes_ = 0;   // since the last materialize()

    // Scratch for one block, one bit or value a row.
    std::vector<uint64_t> valid_, empty_, odd_, rejected_;
    uint32_t empty_count_ = 0, odd_count_ = 0;
    bool any_rejected_ = false;
    size_t errors_before_ = 0;
    uint64_t nulled_ = 0;
    std::vector<uint64_t> kept_, passes_;
    std::vector<int64_t> wide_;
    std::vector<uint64_t> text_before_, nulls_before_;
    std::vector<Token> true_tokens_, false_tokens_;
    std::string scratch_, decoded_;
};

}  // namespace formatter
