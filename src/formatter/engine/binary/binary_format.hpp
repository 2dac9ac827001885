// Binary rows as plain data: columns of fixed width, one behind the other, maybe a last one of any length, maybe a length
// in front of each record. In: options, filled once by the binding. Out: the same, read by many threads. Refuses to know
// bytes.
#pragma once

#include <string>
#include <vector>

#include "engine/columns/columns.hpp"
#include "engine/records/decode_options.hpp"
#include "engine/records/prefixed_records.hpp"

namespace formatter {

struct BinaryField {
    uint32_t offset = 0;
    uint32_t width = 0;  // 0: all bytes behind the fixed columns, of the last column of a framed row

    bool is_rest() const { return width == 0; }
    size_t size_in(size_t row_size) const { return is_rest() ? row_size - offset : width; }
};

struct BinaryFormat : DecodeOptions {
    std::vector<ColumnSpec> columns;  // decoded, in output order; then those only the filter needs
    std::vector<BinaryField> fields;  // of the same columns
    uint32_t row_width = 0;  // of the fixed columns, wanted or not
    bool has_rest = false;  // more bytes may follow them
    bool big_endian = false;
    LengthPrefix length;
};

}  // namespace formatter
