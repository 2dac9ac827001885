// What a JSON record holds and which of it is wanted, as plain data. Filled once by the binding, read by many threads.
#pragma once

#include <string>
#include <vector>

#include "engine/columns/columns.hpp"
#include "engine/csv/csv_format.hpp"
#include "engine/json/json_text.hpp"
#include "engine/columns/row_filter.hpp"
#include "kernels/kernel.hpp"

namespace formatter {

enum class JsonKind : uint8_t { scalar, structure, list, large_list, fixed_list, map };
enum class EpochUnit : uint8_t { none, day, second, milli, micro, nano };  // of numbers in time columns
enum class JsonLayout : uint8_t { lines, array, concatenated };  // where documents stand
enum class DuplicateKey : uint8_t { last, first, error };

// One value of the schema. Children: the members of a structure, the item of a list, the key and the value of a map.
struct JsonNodeSpec {
    JsonKind kind = JsonKind::scalar;
    ColumnSpec scalar;  // its name and nullability count for every kind
    EpochUnit epoch = EpochUnit::none;
    uint32_t list_size = 0;
    Surrogate lone_surrogates = Surrogate::error;
    std::vector<JsonNodeSpec> children;
    std::vector<std::string> ignored_keys;  // members of the full schema that are not wanted
};

struct JsonColumn {
    JsonNodeSpec node;
    std::vector<std::string> path;  // where in the record it stands: the unescaped tokens of its pointer
};

struct JsonFormat {
    std::vector<JsonColumn> columns;  // decoded, in output order; then those only the filter needs
    uint32_t output_columns = 0;
    std::vector<std::string> ignored_keys;  // top-level keys of the full schema that are not wanted
    JsonLayout layout = JsonLayout::lines;
    bool validate_full = false;
    bool unknown_is_error = false;
    DuplicateKey duplicates = DuplicateKey::last;
    OnError on_error = OnError::raise;
    bool note_nulled = false;  // tell of what an error made null, too
    RowFilter filter;
    const Kernel* kernel = nullptr;

    bool tells_errors() const { return on_error != OnError::skip && (on_error != OnError::null || note_nulled); }
};

}  // namespace formatter
