// The structure of single records by the full dialect: separators, headers, unquoting. Scalar and exact; the plain
// dialect uses it only for records that the SIMD index declined.
#pragma once

#include <string>
#include <vector>

#include "engine/csv/csv_format.hpp"
#include "engine/values/exact_values.hpp"
#include "engine/columns/row_errors.hpp"

namespace formatter {

struct RecordShape {
    std::vector<uint32_t> separators;  // delimiter positions outside quotes, then the record end
    size_t size = 0;                   // bytes through the record's end
    bool comment = false;
};

// False if the record does not end within the bytes.
bool split_record(const CsvFormat&, const uint8_t* data, size_t size, RecordShape* out);

// Blank lines are no records when a record has several fields.
bool is_blank(const CsvFormat&, const uint8_t* data, size_t size_without_end);

// The size without the '\r' of a "\r\n" that ended the record; one that an escape made literal is content.
size_t without_carriage_return(const CsvFormat&, const uint8_t* data, size_t size);
// Without spaces and tabs around, if the format trims; an escaped one stays.
Bytes trimmed(const CsvFormat&, Bytes field);

enum class Quoting : uint8_t { none, quoted, malformed };
// The content of a field: trimmed, unquoted, unescaped. `content` points into the field or into `scratch`.
Quoting field_content(const CsvFormat&, Bytes field, std::string* scratch, Bytes* content);

// Finds the header behind a byte order mark, comments and blank lines. False if it is not complete.
bool find_header(const CsvFormat&, const uint8_t* data, size_t size, size_t* begin, RecordShape* shape);
// Maps the columns of `format` to the fields named by that header record. Returns the names it lacks.
std::vector<std::string> map_header(CsvFormat* format, const uint8_t* header, const RecordShape&);

// Follows the dialect over the buffers of a stream, for the dialects whose state is more than quote parity.
struct ScanState {
    bool inside = false;        // inside quotes
    bool escaped = false;       // the next byte is literal
    bool in_comment = false;
    bool at_record_start = true;
    uint8_t matched = 0;        // bytes of the record end already met
    uint8_t mark = 3;           // bytes of a byte order mark already met; 3: none can stand here
    uint64_t count = 0;         // of open brackets, bytes of a record: what a FrameScanner counts
    uint64_t carried = 0;       // bytes that a FrameScanner met and could not decide about yet
};
struct BufferScan {
    static constexpr uint64_t none = ~uint64_t(0);
    uint64_t first_end = none;  // position behind the first record end that completes in this buffer
    uint64_t last_end = none;
};
BufferScan scan_buffer(const CsvFormat&, const uint8_t* data, size_t size, ScanState*, bool first_only = false);

}  // namespace formatter
