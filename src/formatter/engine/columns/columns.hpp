// Columns under construction and their hand-over to Arrow. In: values in row order. Out: one ArrowArray a batch.
// Knows types and buffers; knows nothing of CSV, JSON or where values come from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/columns/arrow_abi.hpp"
#include "engine/columns/bits.hpp"
#include "engine/columns/buffer_pool.hpp"
#include "engine/columns/column_type.hpp"
#include "engine/columns/text_check.hpp"
#include "engine/columns/text_dictionary.hpp"
#include "kernels/kernel.hpp"

namespace formatter {

enum class BinaryEncoding : uint8_t { plain, base64, hex, variant };

// A JSON value is at most so many times as long as a variant: `1` and its line end against two bytes, and three of metadata
// behind a length of four.
constexpr uint64_t variant_growth = 8;

// How text leaves: with offsets; as string_view, whose views are written when the batch is exported; or as codes into a
// dictionary, built while parsing.
enum class TextLayout : uint8_t { offsets, view, dictionary };

// What the numbers of a time column count, if it has any.
enum class EpochUnit : uint8_t { none, day, second, milli, micro, nano };

struct ColumnSpec {
    const ColumnType* type = nullptr;
    TimeUnit unit = TimeUnit::micro;
    BinaryEncoding encoding = BinaryEncoding::plain;
    TextLayout layout = TextLayout::offsets;
    bool nullable = true;
    bool raw = false;        // keep the field's bytes as they are, quotes and all
    bool nulls_in_quotes = false;  // of text that is a number: as in columns of numbers
    bool any_value = false;  // JSON text: what is no string is kept as it is written
    bool time_of_day = false;  // a timestamp column that counts from midnight
    bool plain = false;  // values are written one way only: plain_spelling.hpp says which
    bool zoned = false;  // a timestamp column of instants
    EpochUnit epoch = EpochUnit::none;
    int32_t byte_width = -1;   // that a binary value must have; -1: any
    uint8_t precision = 0;
    int8_t scale = 0;
    uint32_t field = 0;         // ordinal of the field in a record of the input
    std::string name;
    std::string type_name;      // for messages
    std::shared_ptr<const TextCheck> check;  // of text that becomes values later; mostly none
};

inline bool is_text(const ColumnSpec& spec) { return spec.type->is_text(); }
inline bool has_large_offsets(const ColumnSpec& spec) { return spec.type->layout == ValueLayout::large_text; }
inline bool must_be_utf8(const ColumnSpec& spec) { return spec.type->is_utf8; }
inline bool has_width(const ColumnSpec& spec, size_t bytes) {
    return spec.byte_width < 0 || bytes == size_t(spec.byte_width);
}
// What stands for no value where the schema allows none.
inline size_t zero_bytes(const ColumnSpec& spec) {
    return spec.nullable || spec.byte_width < 0 ? 0 : size_t(spec.byte_width);
}
// Text that is a value's content and nothing else: loops gather it.
inline bool is_plain_text(const ColumnSpec& spec) {
    return is_text(spec) && !spec.raw && spec.encoding == BinaryEncoding::plain && spec.byte_width < 0;
}
// How many bytes of a column's text a byte of the input may become.
inline uint64_t text_growth(const ColumnSpec& spec) {
    return spec.encoding == BinaryEncoding::variant ? variant_growth : 1;
}
inline bool is_coded(const ColumnSpec& spec) { return spec.layout == TextLayout::dictionary; }

// Bytes of records that offsets of 32 bits can count the text of, and that stops of 32 bits can tell apart: a record has
// one byte more than its text at least, its end. Tests lower it: what happens there would take gigabytes.
extern uint64_t offsets_most;

struct Column {
    PoolBuffer validity;  // one bit a row, always kept; exported only when there are nulls
    PoolBuffer values;    // fixed-width values, boolean bits, offsets (int32, int64 when large), or int32 codes
    PoolBuffer text;
    uint64_t text_bytes = 0;
    uint64_t null_count = 0;
    uint64_t text_before = 0, nulls_before = 0;  // as begin_rows() found them

    // Of text: where that of row `i` begins, and that of the row before ends.
    uint64_t offset(bool large, uint64_t i) const {
        return large ? uint64_t(values.as<int64_t>()[i]) : uint64_t(values.as<int32_t>()[i]);
    }
    // The text behind row `i - 1` begins so many bytes later.
    void move_offset(bool large, uint64_t i, uint64_t bytes) {
        if (large)
            values.as<int64_t>()[i] += int64_t(bytes);
        else
            values.as<int32_t>()[i] += int32_t(bytes);
    }
    // The text of row `i` has been appended.
    void write_offset(bool large, uint64_t i) {
        if (large)
            values.as<int64_t>()[i + 1] = int64_t(text_bytes);
        else
            values.as<int32_t>()[i + 1] = int32_t(text_bytes);
    }
};

class ColumnSet {
  public:
    explicit ColumnSet(const std::vector<ColumnSpec>* specs)
        : specs_(specs), columns_(specs->size()), dictionaries_(specs->size()) {}
    const std::vector<ColumnSpec>& specs() const { return *specs_; }
    Column& column(size_t i) { return columns_[i]; }
    size_t size() const { return columns_.size(); }
    // Of a coded column. It outlives the batches, so that codes stay what they were while it is small.
    TextDictionary& dictionary(size_t i) { return dictionaries_[i]; }
    uint64_t rows() const { return rows_; }
    uint64_t byte_count() const;
    // Bytes of text that every column still has offsets for, if all of it went there.
    uint64_t text_room() const;
    // Of dictionaries of the batch before, which are only kept to save work.
    void forget_dictionaries() {
        for (TextDictionary& dictionary : dictionaries_) dictionary.clear();
    }

    // Makes room for `rows` more in every column's fixed buffers. Where that takes growing, for `ahead` more at least:
    // columns that grow are copied, and fresh memory costs more than parsing into it. They double in any case.
    void make_room(uint64_t rows, uint64_t ahead = 0);
    uint64_t reserved() const { return reserved_; }  // rows that there is room for
    // Asks for the memory that the next `rows` values of column i go to: with few rows of many columns at a time, nothing
    // else would foresee it.
    void prefetch_rows(size_t i, uint32_t rows) const;
    // Rows up to rows() stay; what was appended behind them since begin_rows() can be forgotten.
    void begin_rows();
    void forget_rows();
    void forget_rows(size_t i) {
        columns_[i].text_bytes = columns_[i].text_before;
        columns_[i].null_count = columns_[i].nulls_before;
    }
    void commit_rows(uint64_t appended) { rows_ += appended; }
    // Appends `count` validity bits (1 = valid) to column i at row position `at`.
    void write_validity(size_t i, uint64_t at, const uint64_t* valid_words, uint32_t count);

    // Moves the first columns out as a struct array (one child a column), drops the others; the set is empty and usable
    // afterwards.
    void export_batch(ArrowArray* out, size_t exported_columns);

  private:
    void reserve_rows(uint64_t more);

    const std::vector<ColumnSpec>* specs_;
    std::vector<Column> columns_;
    std::vector<TextDictionary> dictionaries_;
    uint64_t rows_ = 0;
    uint64_t reserved_ = 0;
};

}  // namespace formatter
