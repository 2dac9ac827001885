// A CSV dialect and the columns wanted from it, as plain data. Filled once by the binding, read by many threads.
#pragma once

#include <string>
#include <vector>

#include "engine/columns/columns.hpp"
#include "engine/columns/row_filter.hpp"
#include "kernels/kernel.hpp"

namespace formatter {

enum class Ragged : uint8_t { error, pad, truncate, fit };
enum class OnError : uint8_t { raise, null, skip, collect };

struct CsvFormat {
    std::string delimiter = ",";
    std::string record_end = "\n";
    bool quoting = true;
    uint8_t quote = '"';
    bool escaping = false;
    uint8_t escape = 0;
    bool commenting = false;
    uint8_t comment = 0;
    bool trim = false;
    bool header = false;
    bool unreadable = false;  // the header lacks a wanted column: records can only be passed over
    uint8_t decimal_point = '.';
    Ragged ragged = Ragged::error;
    OnError on_error = OnError::raise;
    bool note_nulled = false;  // tell of fields that an error made null, too
    std::vector<std::string> nulls;
    std::vector<std::string> trues;
    std::vector<std::string> falses;
    std::vector<std::string> timestamp_formats;  // strptime-like; tried in order after ISO 8601
    uint32_t fields = 0;                         // fields a record must have
    std::vector<ColumnSpec> columns;             // decoded, in output order; then those only the filter needs
    uint32_t output_columns = 0;
    RowFilter filter;
    const Kernel* kernel = nullptr;

    // Single-byte separators and no byte-level state but quote parity: the SIMD index can read it.
    bool plain() const { return delimiter.size() == 1 && record_end.size() == 1 && !escaping && !commenting; }
    bool accepts_crlf() const { return record_end == "\n"; }
    bool empty_is_null() const {
        for (const std::string& token : nulls)
            if (token.empty()) return true;
        return false;
    }
};

}  // namespace formatter
