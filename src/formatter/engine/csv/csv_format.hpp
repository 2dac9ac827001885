// A CSV dialect and the columns wanted from it, as plain data. In: options, filled once by the binding. Out: the same, read
// by many threads. Refuses to know bytes.
#pragma once

#include <string>
#include <vector>

#include "engine/columns/columns.hpp"
#include "engine/records/decode_options.hpp"

namespace formatter {

enum class Ragged : uint8_t { error, pad, truncate, fit };

struct CsvFormat : DecodeOptions {
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
    Ragged ragged = Ragged::error;
    std::vector<std::string> nulls;
    Spelling spelling;
    uint32_t fields = 0;  // fields a record must have
    std::vector<ColumnSpec> columns;  // decoded, in output order; then those only the filter needs

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
