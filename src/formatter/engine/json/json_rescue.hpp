// What of a record no column has: values that did not fit their type, and members that the schema lacks. In: the text of a
// record that was read, and which columns did not take their value. Out: an object of the same shape with nothing but that.
// Refuses to know types: whether a value fitted is known when it comes here.
//
// Objects are gone into, so that {"user": {"id": 7, "new": 1}} leaves {"user": {"new": 1}}. A list or map that lost
// anything is kept as a whole: its items have no names. So does everything that a column with a misfit inside has.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "engine/json_text/json_format.hpp"
#include "engine/json/json_scalars.hpp"

namespace formatter {

class JsonRescue {
  public:
    explicit JsonRescue(const JsonFormat*);

    // Of the record that is read next: the value of this column did not fit.
    void expect_misfit(size_t column) { is_misfit_[column] = true; }
    // Appends the object, or nothing.
    void read(const uint8_t* at, const uint8_t* end, std::string* out);

  private:
    struct Node {
        enum Kind : uint8_t { passage, leaf, structure, list, map, contested };
        Kind kind = passage;
        bool covered = false;  // what has no column of its own in it is in one that is not wanted
        std::vector<uint32_t> columns;  // whose value stands here
        std::vector<uint32_t> children;
        std::unordered_map<std::string, uint32_t> by_key;  // nodes
        uint32_t item = 0;  // of a list or map
        const JsonNodeSpec* spec = nullptr;
        uint64_t seen = 0;  // the last object it was met in
        size_t winner = 0;  // its member there whose value counts
    };
    struct Member {
        const uint8_t* key;
        const uint8_t* key_end;  // behind the quotes
        const uint8_t* begin;
        const uint8_t* end;
        uint32_t node;  // 0: the schema lacks it
    };

    uint32_t add(uint32_t parent, const std::string& key);
    void describe(uint32_t node, const JsonNodeSpec&);
    bool has_misfit(uint32_t node) const;
    // Each appends what there is to rescue of the value [at, end), or nothing, and returns which of the two.
    bool read_value(uint32_t node, const uint8_t* at, const uint8_t* end, std::string* out);
    bool read_object(uint32_t node, const uint8_t* at, const uint8_t* end, std::string* out);
    bool read_items(uint32_t node, const uint8_t* at, const uint8_t* end, std::string* out);
    bool read_entries(uint32_t node, const uint8_t* at, const uint8_t* end, std::string* out);
    bool keep(const uint8_t* at, const uint8_t* end, std::string* out);
    std::vector<Member> members(uint32_t node, const uint8_t* at, const uint8_t* end);

    const JsonFormat* format_;
    std::vector<Node> nodes_;  // 0: the record
    std::vector<uint8_t> is_misfit_;  // by column
    uint64_t objects_ = 0;
    JsonScalar scalar_;
};

}  // namespace formatter
