// What came out of an input, in a form that can be compared. In: batches that the engine exported, findings. Out: rows as text,
// findings as numbers. Refuses to know how the input was read.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "engine/columns/columns.hpp"
#include "engine/columns/owned_array.hpp"
#include "engine/json_text/json_format.hpp"
#include "engine/records/findings.hpp"

// How an exported array is read: of a nested column with its children, else of a plain one.
struct Shape {
    formatter::JsonKind kind = formatter::JsonKind::scalar;
    const formatter::ColumnType* type = nullptr;
    uint32_t list_size = 0;
    std::vector<Shape> children;
};

struct Outcome {
    std::vector<std::string> rows;
    // code, column, byte, record, what was found
    std::vector<std::tuple<int, int, int64_t, uint64_t, std::string>> findings;
    uint64_t records = 0;

    void add_batch(const formatter::OwnedArray& batch, const std::vector<Shape>& columns);
    void add_finding(const formatter::Finding& found, int64_t bytes, uint64_t records);
    // Rows of a stream leave in any order; what is wrong with a record is told together.
    void sort();
    bool operator==(const Outcome& other) const {
        return rows == other.rows && findings == other.findings && records == other.records;
    }
    // To stderr: the first row and finding that differ.
    void print_difference(const char* mine, const Outcome& other, const char* others) const;
};
