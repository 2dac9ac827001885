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
    is_not_null
};

struct Predicate {
    uint32_t column = 0;  // index into the format's columns
    Compare compare = Compare::equal;
    // One value, or those of the list of in / not_in in ascending order; which is used follows from the column's type.
    std::vector<int64_t> integers;  // signed integers, booleans, dates, times
    std::vector<uint64_t> naturals;  // unsigned integers
    std::vector<double> floats;  // none of a list is NaN
    std::vector<std::string> texts;
    bool holds_null = false;  // the list has None
    bool holds_nan = false;  // the list has NaN
};

struct RowFilter {
    std::vector<std::vector<Predicate>> any_of;  // OR of ANDs; empty: every row passes
    bool active() const { return !any_of.empty(); }
};

// ANDs into `keep` (bitmap, one bit a row) the rows [first_row, first_row + count) of `columns` that pass.
// Column i of the filter is column i of the set.
void evaluate_filter(const RowFilter&, ColumnSet& columns, uint64_t first_row, uint64_t count, uint64_t* keep);
// The same for a batch whose children are of these types: `keep` has a bit for each of its rows.
void evaluate_filter(const RowFilter&, const ArrowArray& batch, const std::vector<ColumnType>& types, uint64_t* keep);
// The same for one predicate on columns under construction.
void evaluate_predicate(const Predicate&, ColumnSet& columns, uint64_t first_row, uint64_t count, uint64_t* keep);

// What a predicate on text says of a null, and of a value.
bool null_passes(const Predicate&);
bool text_passes(const Predicate&, std::string_view value);

}  // namespace formatter
