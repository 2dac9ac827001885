// Binary rows as plain data: columns of fixed width, one behind the other, maybe a last one of any length, maybe a length
// in front of each record. Filled once by the binding, read by many threads.
#pragma once

#include <string>
#include <vector>

#include "engine/columns/columns.hpp"
#include "engine/csv/csv_format.hpp"
#include "engine/columns/row_filter.hpp"
#include "kernels/kernel.hpp"

namespace formatter {

// How a field's bytes become a value of its column.
enum class NativeReading : uint8_t {
    copy,  // the same width, in the row's byte order
    half,  // a 16-bit float, widened
    decimal,  // a two's complement of 4, 8 or 16 bytes, widened to 16
    boolean,  // a byte, 0 or 1
    bytes,  // as they are
    rest,  // all bytes behind the fixed columns: the last column of a framed row
};

struct NativeField {
    NativeReading reading = NativeReading::copy;
    uint32_t offset = 0;
    uint32_t width = 0;
};

// The number in front of each record that says how many bytes follow it.
struct FrameLength {
    static constexpr uint8_t varint = 255;
    uint8_t width = 0;  // in bytes; 0: records have none; or varint: seven bits a byte, the lowest first
    bool big_endian = false;
};

struct NativeFormat {
    std::vector<ColumnSpec> columns;  // decoded, in output order; then those only the filter needs
    std::vector<NativeField> fields;  // of the same columns
    uint32_t output_columns = 0;
    uint32_t row_width = 0;  // of the fixed columns, wanted or not
    bool has_rest = false;  // more bytes may follow them
    bool big_endian = false;
    FrameLength length;
    OnError on_error = OnError::raise;
    bool note_nulled = false;
    RowFilter filter;
    const Kernel* kernel = nullptr;

    bool tells_errors() const { return on_error != OnError::skip && (on_error != OnError::null || note_nulled); }
};

}  // namespace formatter
