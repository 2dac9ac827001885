// One record to the places of its wanted values, by its structure alone: from one part of it to the next, over the bytes
// between only where keys stand. In: a line whose brackets match. Out: where each column's value stands, and in spaces of
// their own where the values inside nested columns stand. What this accepts, JsonRecordReader::read accepts with the same
// result; whatever looks odd is left to that, or inside a nested column to JsonNestedReader. Knows no types but their kind.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "engine/json_text/json_format.hpp"
#include "engine/json/json_keys.hpp"
#include "engine/json/json_spaces.hpp"
#include "engine/json_text/json_text.hpp"

namespace formatter {

struct JsonParts {  // the structure of lines, as index_json and level_json give it
    const uint8_t* base;
    const uint32_t* positions;
    const uint8_t* kinds;
    const uint8_t* depths;
};

// Values whose spelling matters to those who read them.
inline bool expects_string(const JsonNodeSpec& node) {
    if (node.kind != JsonKind::scalar || node.scalar.raw) return false;
    return node.scalar.type->json == JsonWriting::string && node.scalar.epoch == EpochUnit::none;
}

class JsonWalk {
  public:
    struct Node {  // what every value looks at; the rest is in Object
        // shared: a leaf that is a passage, too, where it is an object
        enum Kind : uint8_t { ignored, leaf, map, structure, list, passage, shared, contested, unknown };
        bool is_passage() const { return kind == passage || kind == shared; }
        Kind kind = ignored;
        enum Place : uint8_t { nowhere, record_stops, row };
        Place place = nowhere;  // of a leaf's entries
        bool quoted = false;  // of a leaf that expects a string: its entries lie inside the quotes
        bool leading_zeros = false;  // some value of a leaf has one, so that it is no JSON number
        bool nullable = true;
        bool sized = false;  // a list of fixed size
        int32_t column = -1;  // of the format: the whole value is noted in the record's stops
        uint32_t space = 0;
        uint32_t entry = 0;  // of a leaf
        uint32_t mark = 0;  // entry of a structure's or list's mark
        uint32_t count = 0;  // entry of a list's count
        uint32_t items = 0;  // space of a list
        uint32_t item = 0;  // node of a list
        uint32_t fixed_size = 0;  // of a fixed-size list
    };

    // Space 0 stands for the stops of records, which are kept elsewhere; space 1 holds what nested columns have of them.
    explicit JsonWalk(const JsonFormat*);

    bool has_spaces() const { return spaces_.size() > 1; }
    void open_segment(const uint8_t* base, const uint8_t* readable_begin, const uint8_t* readable_end);
    // The line whose parts are those from `first` to `line_end`, of `parts`. Writes the record's `stops` and a row of each
    // space. False: its text must decide, and nothing was written.
    bool read(const JsonParts& parts, size_t first, size_t line_end, uint32_t* stops);
    void forget();  // the rows of the record that was read last
    void clear();
    void compact(const std::vector<uint64_t>& keep);

    // Whether some record of the block has something in this column that only its text can decide.
    bool troubled(size_t column) const { return troubled_[column]; }
    const Node& node(uint32_t i) const { return nodes_[i]; }
    const std::vector<uint32_t>& members(uint32_t node) const { return objects_[node].members; }
    bool leading_zeros(size_t column) const { return nodes_[column_nodes_[column]].leading_zeros; }
    uint32_t column_node(size_t column) const { return column_nodes_[column]; }
    const JsonSpace& space(uint32_t i) const { return spaces_[i]; }

  private:
    struct Object {  // by node: its members and their keys
        std::vector<uint32_t> members;  // nodes
        std::vector<uint32_t> required;  // those that must not be absent
        std::unordered_map<std::string, uint32_t> by_key;  // a node; 0: known, not wanted
        uint64_t seen = 0;  // the record a passage was met in
        JsonKeys keys;
    };

    uint32_t add_node();
    uint32_t add_member(uint32_t parent, const std::string& key);
    void describe(uint32_t node, const JsonNodeSpec&, uint32_t space);
    void know_keys(uint32_t node, const std::vector<std::string>& ignored);
    void place_entries();

    // Each from the part an opening bracket is to the one that closes it, or 0.
    size_t read_object(uint32_t node, size_t at, uint32_t* row);
    size_t read_unordered(JsonKeys&, size_t at);
    size_t read_list(Node&, size_t at, uint32_t* row);
    size_t read_leaves(uint32_t item, size_t at, JsonSpace&);
    // A value between two parts; false if it is not in order here.
    bool read_plain(uint32_t node, size_t before, uint32_t* row);
    bool read_plain_elsewhere(uint32_t node, uint32_t* row, const uint8_t* begin, const uint8_t* end);
    // A nested value at `at`; returns the part behind it, or 0.
    size_t read_nested(uint32_t node, size_t at, uint32_t* row);
    const JsonKeys::Entry* find_near_begin(JsonKeys&, const uint8_t* begin, const uint8_t* end, const JsonKeys::Entry*);
    const JsonKeys::Entry* learn_key(uint32_t node, const uint8_t* begin, const uint8_t* end);
    // Something of the record has no column: its stops of the rescue column then say so.
    void note_unknown(const uint8_t* begin, const uint8_t* end);
    bool write_leaf(Node&, uint32_t* row, const uint8_t* begin, const uint8_t* end);
    bool note_whole(const Node&, const uint8_t* begin, const uint8_t* end);
    // The part behind a value that begins at `at`: the next one of the depth around it.
    size_t behind(size_t at) const;
    bool only_space(size_t before, size_t behind) const {
        const uint32_t from = parts_.positions[before] + 1, to = parts_.positions[behind];
        if (__builtin_expect(from == to, 1)) return true;
        return skip_json_space(parts_.base + from, parts_.base + to) == parts_.base + to;
    }

    const JsonFormat* format_;
    std::vector<Node> nodes_;  // 0: what nobody asked for; 1: the record
    std::vector<Object> objects_;
    std::vector<JsonSpace> spaces_;
    std::vector<uint32_t> column_nodes_;
    uint32_t unknown_ = 0;  // node of keys that the schema lacks, where they are rescued
    std::vector<uint8_t> troubled_;
    std::vector<uint32_t> rows_before_;  // of the record that is being read, by space
    bool readable_ = true;  // a column is the whole record: no structure of it is needed
    uint64_t record_ = 0;
    const uint8_t* segment_base_ = nullptr;
    const uint8_t* readable_begin_ = nullptr;
    JsonParts parts_{};
    uint32_t line_end_ = 0;  // as a stop
    uint32_t* stops_ = nullptr;  // of the record
    uint32_t nowhere_[2] = {0, 0};
    uint32_t* outside_[2] = {nullptr, nullptr};  // by Place
};

}  // namespace formatter
