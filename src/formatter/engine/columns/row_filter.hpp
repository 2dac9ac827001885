// Predicates in disjunctive normal form over decoded columns: the one evaluator of filters. In: predicates whose values are
// of the columns' stored types (filters.py makes them), columns under construction or exported. Out: a bit a row. Refuses to
// know: what users write, and records.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/columns/arrow_abi.hpp"
#include "engine/columns/columns.hpp"

namespace formatter {

enum class Compare : uint8_t {
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    in,
    not_in,
    is_null,
    is_not_null,
    starts_with,  // these three ask of text alone
    ends_with,
    contains
};

struct Predicate {
    uint32_t column = 0;  // index into the format's columns
    Compare compare = Compare::equal;
    // One value, or those of the list of in / not_in in ascending order; the column's type says which (Operands).
    std::vector<int64_t> integers;
    std::vector<uint64_t> naturals;
    std::vector<double> floats;  // none of a list is NaN
    std::vector<std::string> texts;
    bool holds_null = false;  // the list has None
    bool holds_nan = false;  // the list has NaN
};

// A column as predicates read it, whether it is still under construction or was exported.
struct ColumnView {
    const ColumnType* type;
    const uint8_t* validity;  // null: every value is valid
    const uint8_t* values;
    const char* text;
    uint64_t first;  // row of the first value asked for
    const int32_t* codes = nullptr;  // of a dictionary column: `values` and `text` are the dictionary's
    bool views = false;  // `values` holds sixteen bytes a text
};

struct RowFilter {
    std::vector<std::vector<Predicate>> any_of;  // OR of ANDs; empty: every row passes
    bool active() const { return !any_of.empty(); }
};

// ANDs into `keep` (bitmap, one bit a row) the rows [first_row, first_row + count) of `columns` that pass.
// Column i of the filter is column i of the set.
void evaluate_filter(const RowFilter&, ColumnSet& columns, uint64_t first_row, uint64_t count, uint64_t* keep);
// The same for a batch whose children are of these types: `keep` has a bit for each of its rows.
void evaluate_filter(const RowFilter&, const ArrowArray& batch, const std::vector<const ColumnType*>& types,
                     uint64_t* keep);
// The same for one predicate on columns under construction.
void evaluate_predicate(const Predicate&, ColumnSet& columns, uint64_t first_row, uint64_t count, uint64_t* keep);

// What a predicate on text says of a null, and of a value.
bool null_passes(const Predicate&);
bool text_passes(const Predicate&, std::string_view value);

}  // namespace formatter
