// What a column type is: all that columns, filters and the decoders of every format ask of one. In: nothing. Out: the form
// of an entry, which each file of engine/types fills in. Refuses to know which types there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/columns/error_codes.hpp"
#include "kernels/kernel.hpp"

namespace formatter {

struct ColumnSpec;
struct ColumnView;
struct Predicate;

struct Bytes {
    const uint8_t* data;
    size_t size;
    bool equals(const std::string& text) const;
};
inline Bytes bytes_of(const std::string& text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }
inline bool is_digit(uint8_t byte) { return uint8_t(byte - '0') <= 9; }
inline bool is_letter(uint8_t byte) { return uint8_t((byte | 32) - 'a') < 26; }
inline bool is_blank(uint8_t byte) { return byte == ' ' || byte == '\t'; }

// How a column's values lie in memory: one behind the other, as bits, or as text behind offsets of 32 or 64 bits.
enum class ValueLayout : uint8_t { fixed, bits, text, large_text };

// Which of a predicate's lists holds what values are compared with: `wide` ones are texts of sixteen bytes.
enum class Operands : uint8_t { integers, naturals, floats, wide, texts };

// How JSON writes a value. `string`: as a number only where the column's numbers have a unit.
enum class JsonWriting : uint8_t { number, number_or_string, string, boolean };

// How a format writes values, beyond what their types say.
struct Spelling {
    bool typed = false;  // whether a value is a number or a text shows in how it is written: in JSON
    uint8_t decimal_point = '.';
    std::vector<std::string> trues, falses;
    std::vector<std::string> timestamp_formats;  // strptime-like; tried in order after ISO 8601
    std::vector<Token> true_tokens, false_tokens;  // of the same those that loops can compare fields with
};

// A column of fields, and where its values go.
struct FieldLoop {
    const Kernel* kernel;
    const ColumnSpec& spec;
    const Spelling& spelling;
    const FieldView& fields;
    uint8_t* values;  // of the whole column
    uint64_t at;  // row of the first field
    int64_t* wide;  // room for eight bytes a field
    ValueMarks* marks;

    template <typename T>
    T* out() const {
        return reinterpret_cast<T*>(values) + at;
    }
};

// A column of fields of one width in rows of bytes: at equal distances, or where `rows` says.
struct PackedFields {
    const uint8_t* const* rows;
    size_t count;
    size_t stride;  // from row to row, or 0: it differs
    uint32_t offset;  // of the field in its row
    uint32_t width;
    bool big_endian;
};

struct ColumnType {
    const char* name = nullptr;  // as pyarrow calls the function that makes it
    ValueLayout layout = ValueLayout::fixed;
    uint32_t width = 0;  // bytes of a value of fixed layout
    Operands operands = Operands::integers;
    JsonWriting json = JsonWriting::string;
    bool is_utf8 = false;
    uint8_t cost = 1;  // of reading a value, for who may choose which column to read first

    // A column at a time: values and marks, zero where a row is marked. False if no loop serves the column.
    bool (*decode)(const FieldLoop&) = nullptr;
    // One value exactly, as it is stored (a boolean: as a byte), written where nothing is wrong. These two decide what a
    // value may look like: a loop marks what it does not decide alike. Of text there is nothing to read.
    ErrorCode (*parse_text)(Bytes, const ColumnSpec&, const Spelling&, void* value) = nullptr;
    // The same for a number as JSON writes them.
    ErrorCode (*parse_number)(Bytes, const ColumnSpec&, void* value) = nullptr;
    // ANDs into `keep` which of the view's rows pass. Not asked about nulls alone.
    void (*test)(const Predicate&, const ColumnView&, uint64_t count, uint64_t* keep) = nullptr;
    // Values from binary rows, to row `at` of the column and those behind; null: text, whose bytes are the value.
    void (*gather)(const PackedFields&, uint8_t* values, uint64_t at) = nullptr;
    // The first of such fields, from `from` on, that is no value, and why, or their count; null: any bytes are a value.
    size_t (*next_wrong)(const PackedFields&, const ColumnSpec&, size_t from, ErrorCode* why) = nullptr;

    bool is_text() const { return layout >= ValueLayout::text; }
};

constexpr size_t widest_value = 16;

// Puts a value as parse_text() and parse_number() leave it at row `at` of a column that is no text.
void store_value(const ColumnType&, const void* value, uint8_t* values, uint64_t at);

}  // namespace formatter
