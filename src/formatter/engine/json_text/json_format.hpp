// What a JSON record holds and which of it is wanted, as plain data. In: options, filled once by the binding. Out: the
// same, read by many threads. Refuses to know bytes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/columns/columns.hpp"
#include "engine/json_text/json_text.hpp"
#include "engine/records/decode_options.hpp"
#include "engine/records/prefixed_records.hpp"

namespace formatter {

enum class JsonKind : uint8_t { scalar, structure, list, large_list, fixed_list, map };
enum class JsonLayout : uint8_t { lines, array, concatenated, prefixed };  // where documents stand
enum class DuplicateKey : uint8_t { last, first, error };

// One value of the schema. Children: the members of a structure, the item of a list, the key and the value of a map.
struct JsonNodeSpec {
    JsonKind kind = JsonKind::scalar;
    ColumnSpec scalar;  // its name and nullability count for every kind
    uint32_t list_size = 0;
    Surrogate lone_surrogates = Surrogate::error;
    std::shared_ptr<const Spelling> spelling;  // of its texts, if it is one of the format's own
    std::vector<JsonNodeSpec> children;
    std::vector<std::string> ignored_keys;  // members of the full schema that are not wanted
};

struct JsonColumn {
    JsonNodeSpec node;
    std::vector<std::string> path;  // where in the record it stands: the unescaped tokens of its pointer
};

struct JsonFormat : DecodeOptions {
    std::vector<JsonColumn> columns;  // decoded, in output order; then those only the filter needs
    std::vector<ColumnSpec> flat;     // of those that are not nested
    std::vector<std::string> ignored_keys;  // top-level keys of the full schema that are not wanted
    std::vector<std::vector<std::string>> unwanted_paths;  // of the full schema's columns that are not decoded
    JsonLayout layout = JsonLayout::lines;
    std::vector<std::string>
        array_path;  // keys that lead to the array, where `layout` is of one; none: it is the top-level one
    LengthPrefix length;  // in front of each document, where `layout` says so
    bool whole_records = false;  // every column of the schema is the whole record, whatever kind of value that is
    bool validate_full = false;
    bool unknown_is_error = false;
    DuplicateKey duplicates = DuplicateKey::last;
    Surrogate lone_surrogates = Surrogate::error;  // of keys; each value has its own
};

}  // namespace formatter
