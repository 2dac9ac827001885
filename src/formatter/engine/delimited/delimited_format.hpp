// A declared format and where its columns stand in a record, as plain data. In: options, filled once by the binding. Out:
// the same, read by many threads. Refuses to know bytes, and how values are written: that is a CsvFormat's business, whose
// columns these are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/csv/csv_format.hpp"
#include "engine/delimited/escape_table.hpp"

namespace formatter {

// How what stands at one level is cut into parts.
struct Level {
    std::string separator;  // 1 to 8 bytes
    std::string key_end;  // what ends the key that a part begins with; empty: parts are known by their position
    bool collapses = false;  // separators in a row count as one
    bool marks = true;  // they hide its separators
};

struct Mark {  // around text in which nothing separates
    uint8_t open, close;
    bool kept;  // belongs to the value
};

struct ByteRange {  // of a value's bytes
    static constexpr uint32_t open = ~uint32_t(0);
    uint32_t begin = 0, end = open;
    bool is_all() const { return begin == 0 && end == open; }
};

// What a path goes through: a part of the parent's parts. The root is the record.
struct PathNode {
    std::string key;  // where its level has keys
    uint32_t number = 0;  // the part's position; of a key: which of several times it is met
    bool rest = false;  // everything from that position on
    uint32_t level = 0;  // that the children are parts of
    std::vector<uint32_t> children;  // nodes, by position or in the order of the columns
    uint64_t key_sizes = 0;  // a bit for each size and first byte that a child's key has
    struct Target {
        uint32_t column;
        ByteRange range;
        bool raw;  // marks, escapes and all
    };
    std::vector<Target> targets;
};

inline uint64_t key_bit(size_t size, uint8_t first) { return uint64_t(1) << ((size * 5 + first) & 63); }

struct DelimitedFormat {
    static constexpr size_t most_levels = 5;
    std::shared_ptr<const CsvFormat> fields;  // its record end is the record's; the rest of its dialect is off
    std::string record_start;  // that each record begins with
    std::string comment;  // records that begin so are none
    bool trim = false;
    std::vector<Level> levels;
    std::vector<Mark> marks;
    EscapeTable escapes;  // content wherever they stand
    bool bare_escapes = true;  // or between marks only
    std::vector<PathNode> nodes{PathNode()};  // the first is the record, also where no column leads into it
};

// One column's way to its value.
struct PathStep {
    std::string key;
    uint32_t number = 0;
    bool rest = false;
};
void add_path(DelimitedFormat*, const std::vector<PathStep>&, const PathNode::Target&);

}  // namespace formatter
