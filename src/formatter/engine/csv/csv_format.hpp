// A CSV dialect and the columns wanted from it, as plain data. In: options, filled once by the binding. Out: the same, read
// by many threads. Refuses to know bytes.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "engine/columns/columns.hpp"
#include "engine/records/decode_options.hpp"
#include "engine/records/text_encoding.hpp"

namespace formatter {

enum class Ragged : uint8_t { error, pad, truncate, fit };

constexpr uint32_t absent_field = UINT32_MAX;  // of a column that the header lacks and that is null in every record

struct CsvFormat : DecodeOptions {
    std::string delimiter = ",";
    std::string record_end = "\n";
    bool quoting = true;
    uint8_t quote = '"';
    QuoteRule quote_rule = QuoteRule::strict;
    bool newlines_in_quotes = true;  // else a record end is one wherever it stands
    uint64_t max_quoted_lines =
        0;  // that a quoted field may have, and bytes between its quotes; 0: as many as there are
    uint64_t max_quoted_bytes = 0;
    bool escaping = false;
    uint8_t escape = 0;
    bool commenting = false;
    uint8_t comment = 0;
    bool trim_left = false, trim_right = false;  // blanks in front of a field, and behind it
    uint64_t skip_lines = 0;  // in front of everything, whatever is in them
    std::vector<uint32_t> header_at;  // records that name the fields, counted behind those lines; empty: none does
    uint64_t skip_records = 0;  // behind the header
    bool quoted_nulls = false;  // what stands in quotes may be a null token, but of text
    bool quoted_null_texts = false;  // of text, too
    bool repeated_headers = false;  // a record that reads like the header is none
    bool unique_names = false;
    bool trim_names = false;
    bool names_in_any_case = false;  // of ASCII letters
    bool absent_is_null = false;  // a column that the header lacks
    std::vector<std::string> header_lines;  // those of the input, once they are known
    bool unreadable = false;  // the header lacks a wanted column: records can only be passed over
    TextErrors errors = TextErrors::strict;
    Ragged ragged = Ragged::error;
    std::vector<std::string> nulls;
    Spelling spelling;
    uint32_t fields = 0;  // fields a record must have
    std::optional<uint32_t> fields_of_schema;  // if a header has said otherwise: by these its own lines were followed
    std::vector<std::string> known_names;  // of the full schema's columns, where what has none is rescued
    struct Unclaimed {
        uint32_t field;
        std::string name;
    };
    std::vector<Unclaimed> unclaimed;  // fields that the header names and the schema lacks
    std::vector<ColumnSpec> columns;  // decoded, in output order; then those only the filter needs

    bool trims() const { return trim_left || trim_right; }
    // Which quotes are some depends on where they stand.
    bool picky() const { return quoting && quote_rule != QuoteRule::strict; }
    bool bounded() const { return quoting && (max_quoted_lines || max_quoted_bytes); }
    // Separators of one byte and nothing but quotes that can hide them: where records end shows in a look at a buffer alone.
    bool plain() const { return !is_wide() && !commenting && !blanks_hide_quotes(); }
    // The kernels' index can read it, but for comments, which are looked for between records.
    bool indexable() const {
        if (!is_wide()) return !blanks_hide_quotes();
        const bool apart = delimiter.find_first_of(record_end) == std::string::npos;
        return apart && !picky() && (newlines_in_quotes || !quoting);
    }
    bool is_wide() const { return delimiter.size() > 1 || record_end.size() > 1 || escaping; }
    bool blanks_hide_quotes() const { return quoting && quote_rule == QuoteRule::sticky && trims(); }
    bool has_preamble() const { return skip_lines || skip_records || !header_at.empty(); }
    // Every record end ends a record: nothing can hide one.
    bool ends_anywhere() const {
        return record_end.size() == 1 && !escaping && (quoting ? !newlines_in_quotes : !commenting);
    }
    CsvBytes bytes() const {
        const bool opens_behind_blanks = quote_rule == QuoteRule::lenient && trim_left;
        return {uint8_t(delimiter[0]),
                uint8_t(record_end[0]),
                quote,
                quoting,
                quote_rule,
                !newlines_in_quotes,
                opens_behind_blanks,
                rest_of(delimiter),
                rest_of(record_end),
                escaping,
                escape};
    }
    static SeparatorRest rest_of(const std::string& separator) {
        SeparatorRest rest;
        rest.count = uint8_t(separator.size() - 1);
        std::copy(separator.begin() + 1, separator.end(), rest.bytes);
        return rest;
    }
    bool accepts_crlf() const { return record_end.size() == 1 && record_end[0] == '\n'; }  // asked for each record
    bool empty_is_null() const {
        for (const std::string& token : nulls)
            if (token.empty()) return true;
        return false;
    }
};

}  // namespace formatter
