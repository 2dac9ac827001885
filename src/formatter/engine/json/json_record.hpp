// One record to the places of its wanted values. In: a line. Out: where each column's value stands in it, or what is
// wrong with the record and where. Knows keys and pointers; knows no types.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/json_text/json_format.hpp"
#include "engine/json_text/json_text.hpp"

namespace formatter {

struct ValueSpan {  // [begin, end) without white space around; both null: the record has no such value
    const uint8_t* begin = nullptr;
    const uint8_t* end = nullptr;
};

class JsonRecordReader {
  public:
    explicit JsonRecordReader(const JsonFormat*);

    // [at, end) begins with the '{' of a record and holds nothing of the next. `spans`: one a column.
    // On success stops behind the record's last byte. Nothing about a value is known but where it stands.
    Skipped read(const uint8_t* at, const uint8_t* end, ValueSpan* spans);

  private:
    struct Node {  // a token of a pointer, and those behind it
        const std::string* key = nullptr;  // the format's
        std::vector<uint32_t> columns;   // whose value stands here
        std::vector<uint32_t> children;  // nodes
        std::vector<std::pair<uint64_t, size_t>> heads;  // of the children's keys: first eight bytes, size
        std::unordered_map<std::string_view, uint32_t> by_key;  // position in `children`, where there are many
        uint64_t seen = 0;               // the last object it was met in
    };

    void add_child(uint32_t parent, const std::string& key);
    // The position among the node's children, looked for at `guess` first; -1: none of them.
    int find(uint32_t node, Bytes key, size_t guess) const;
    int find(uint32_t node, Bytes key, uint64_t head, size_t guess) const;
    Skipped read_object(uint32_t node, const uint8_t* at, const uint8_t* end, ValueSpan* spans);
    Skipped read_array(uint32_t node, const uint8_t* at, const uint8_t* end, ValueSpan* spans);
    Skipped read_value(uint32_t node, const uint8_t* at, const uint8_t* end, ValueSpan* spans);
    void note_unknown(const uint8_t* at, ValueSpan* spans) const;
    void forget(uint32_t node, ValueSpan* spans);

    const JsonFormat* format_;
    std::vector<Node> nodes_;
    const bool minds_unknown_;  // members that the schema lacks
    std::unordered_map<std::string_view, bool> ignored_;
    uint64_t objects_ = 0;
    std::string scratch_;
};

}  // namespace formatter
