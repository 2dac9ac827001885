// The structure of single records by the full dialect: separators, headers, unquoting. Scalar and exact; the plain
// dialect uses it only for records that the SIMD index declined. In: bytes that begin at a record, or one field. Out:
// where its fields end; a field's content. Refuses to know columns and values.
#pragma once

#include <string>
#include <vector>

#include "engine/csv/csv_format.hpp"
#include "engine/records/byte_order_mark.hpp"
#include "engine/values/exact_values.hpp"

namespace formatter {

struct RecordShape {
    std::vector<uint32_t> separators;  // delimiter positions outside quotes, then the record end
    size_t size = 0;                   // bytes through the record's end
    bool comment = false;
    bool damaged =
        false;  // a quoted field passes a bound: of the record only the line that opens it is taken, and is bad
    size_t quote = 0;  // that opened it
};

// False if the record does not end within the bytes.
bool split_record(const CsvFormat&, const uint8_t* data, size_t size, RecordShape* out);
// Whether the input's end leaves a quoted field open that begins in these bytes, which begin a record: that is one that
// passes a bound, too.
bool is_left_open(const CsvFormat&, const uint8_t* data, size_t size, RecordShape* out);

// Blank lines are no records when a record has several fields.
bool is_blank(const CsvFormat&, const uint8_t* data, size_t size_without_end);
bool is_blank_in_preamble(const CsvFormat&, const uint8_t* data, size_t size_without_end);

// The size without the '\r' of a "\r\n" that ended the record; one that an escape made literal is content.
size_t without_carriage_return(const CsvFormat&, const uint8_t* data, size_t size);
// The same of a whole record: a '\r' that belongs to the delimiter in front of its last field stays.
size_t record_without_carriage_return(const CsvFormat&, const uint8_t* data, const RecordShape&);
// Without spaces and tabs on the sides that the format trims; an escaped one stays.
Bytes trimmed_sides(const CsvFormat&, Bytes field);
inline Bytes trimmed(const CsvFormat& format, Bytes field) {
    return format.trims() ? trimmed_sides(format, field) : field;
}

enum class Quoting : uint8_t { none, quoted, malformed };
// The content of a field: trimmed, unquoted, unescaped. `content` points into the field or into `scratch`.
Quoting field_content(const CsvFormat&, Bytes field, std::string* scratch, Bytes* content);

}  // namespace formatter
