// Columns under construction and their hand-over to Arrow. In: values in row order. Out: one ArrowArray a batch.
// Knows types and buffers; knows nothing of CSV, JSON or where values come from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/columns/arrow_abi.hpp"
#include "engine/columns/buffer_pool.hpp"
#include "engine/columns/text_dictionary.hpp"
#include "kernels/kernel.hpp"

namespace formatter {

enum class ColumnType : uint8_t {
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float32,
    float64,
    decimal128,
    boolean,
    date32,
    timestamp,
    string,
    large_string,
    binary,
    large_binary,
};

enum class BinaryEncoding : uint8_t { plain, base64, hex };

// How text leaves: with offsets; as string_view, whose views are written when the batch is exported; or as codes into a
// dictionary, built while parsing.
enum class TextLayout : uint8_t { offsets, view, dictionary };

struct ColumnSpec {
    ColumnType type = ColumnType::int64;
    TimeUnit unit = TimeUnit::micro;
    BinaryEncoding encoding = BinaryEncoding::plain;
    TextLayout layout = TextLayout::offsets;
    bool nullable = true;
    bool raw = false;        // keep the field's bytes as they are, quotes and all
    bool any_value = false;  // JSON text: what is no string is kept as it is written
    bool time_of_day = false;  // a timestamp column that counts from midnight
    uint8_t epoch = 0;         // unit of numbers in a time column: 1 days, 2 s, 3 ms, 4 us, 5 ns; 0: there are none
    uint32_t byte_width = 0;   // that a binary value must have; 0: any
    uint8_t precision = 0;
    int8_t scale = 0;
    uint32_t schema_index = 0;  // position in the full schema
    uint32_t field = 0;         // ordinal of the field in a record of the input
    std::string name;
    std::string type_name;      // for messages
};

inline bool is_text(ColumnType type) { return type >= ColumnType::string; }
inline bool has_large_offsets(ColumnType type) {
    return type == ColumnType::large_string || type == ColumnType::large_binary;
}
inline bool is_coded(const ColumnSpec& spec) { return spec.layout == TextLayout::dictionary; }
// Bytes of a fixed-width value; 0 for booleans (bits) and text (offsets).
uint32_t value_width(ColumnType type);

struct Column {
    PoolBuffer validity;  // one bit a row, always kept; exported only when there are nulls
    PoolBuffer values;    // fixed-width values, boolean bits, offsets (int32, int64 when large), or int32 codes
    PoolBuffer text;
    uint64_t text_bytes = 0;
    uint64_t null_count = 0;
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

    // Makes room for `more` rows in every column's fixed buffers.
    void reserve_rows(uint64_t more);
    // Asks for the memory that the next `rows` values of column i go to: with few rows of many columns at a time, nothing
    // else would foresee it.
    void prefetch_rows(size_t i, uint32_t rows) const;
    // Rows up to rows() stay; what was appended behind them is forgotten.
    void commit_rows(uint64_t appended) { rows_ += appended; }
    // Appends `count` validity bits (1 = valid) to column i at row position `at`.
    void write_validity(size_t i, uint64_t at, const uint64_t* valid_words, uint32_t count);

    // Moves the first columns out as a struct array (one child a column), drops the others; the set is empty and usable afterwards.
    void export_batch(ArrowArray* out, size_t exported_columns);

  private:
    const std::vector<ColumnSpec>* specs_;
    std::vector<Column> columns_;
    std::vector<TextDictionary> dictionaries_;
    uint64_t rows_ = 0;
};

// Sets all bits. Not by memset: for a few words that is one masked store, which no load that follows can be served from,
// so that it waits until everything stored before has reached the cache.
inline void set_words(uint64_t* words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        words[i] = ~uint64_t(0);
        asm volatile("" ::: "memory");  // or the compiler makes it a memset again
    }
}

// Copies `count` bits from word-aligned `source` to bit position `at` of `target`.
void copy_bits(uint8_t* target, uint64_t at, const uint64_t* source, uint32_t count);

}  // namespace formatter
