// One record to the bounds of its wanted values, where single bytes separate its parts and nothing hides them. In: where a record
// stands, and a bit for each byte that separates. Out: as record_splitter.hpp. Refuses to know marks.
//
//     bytes      P I D | 1 | | 9 ^ H ^ M | D O E \r
//     \r         0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1
//     and |      0 0 0 1 0 1 1 0 0 0 0 0 1 0 0 0 1     PID.3.1: behind the third | of the segment,
//     and ^      0 0 0 1 0 1 1 0 1 0 1 0 1 0 0 0 1     up to the first byte that ends a part of that level or of one above
//
// What nobody asks for is a bit in a word that is passed over. The end of the record is made such a bit, so that looking for one
// needs no bound.
#pragma once

#include "engine/delimited/part_bounds.hpp"

namespace formatter {

class PlainSplitter : public PartBounds {
  public:
    static bool fits(const DelimitedFormat&);
    explicit PlainSplitter(const DelimitedFormat&);

    // `bits`: as Kernel::mark_bytes leaves them, of `size` bytes from `base` on.
    void split(const uint8_t* base, size_t size, uint64_t* bits, size_t stride, uint32_t begin, uint32_t end,
               uint32_t* bounds);
    // As Kernel::mark_bytes has it: the levels.
    uint32_t joined() const { return uint32_t(levels_.size()); }
    // To be called with the bits of each window, before its records are split.
    void join_blanks(uint64_t* bits, size_t stride) const;

  private:
    // What is wanted of a part. The first part of a first part, and so on, is one step.
    struct Step {
        uint32_t number;  // of the part; of a key: which of several times it is met
        uint32_t node;  // what is wanted there
        bool rest;
        bool is_one_value = false;  // without parts of its own, whole, for `column`
        uint32_t column = 0;
        uint32_t end = 0;  // the place, among the bytes to be found, of what ends it
    };
    struct Key {
        uint64_t bytes;  // the first of them
        uint32_t size;
        const std::string* text;
        Step step;
        uint32_t met = 0;  // how often, among the parts that are looked through
    };
    struct Node {
        uint32_t separator = 0, key_end = 0;
        std::vector<Step> steps;  // to parts that are known by their position, in order
        std::vector<Key> keys;
        uint32_t key_size = 0;  // that all of them have; 0: they have several
    };
    Node node_of(const PathNode&) const;
    Step step_to(uint32_t part) const;
    void split_level(Node& node, uint32_t begin, uint32_t end) {
        node.keys.empty() ? split_positions(node, begin, end) : split_keys(node, begin, end);
    }
    void split_positions(const Node&, uint32_t begin, uint32_t end);
    void split_keys(Node&, uint32_t begin, uint32_t end);
    const Step* step_of_key(Node&, uint32_t key, uint32_t size) const;
    uint64_t first_bytes(uint32_t at, uint32_t size) const;
    void take_part(const Step&, uint32_t begin, uint32_t end);  // of what begins there and goes up to `end` at most
    void take_value(const Step&, uint32_t begin, uint32_t end);
    void take(const Step&, uint32_t begin, uint32_t end);
    bool holds_escape(uint32_t begin, uint32_t end) const {
        return begin < escapes_end_ && end > escapes_begin_ && finds_escape(begin, end);
    }
    bool finds_escape(uint32_t begin, uint32_t end) const;
    uint64_t* bits_of(uint32_t byte) const { return bits_ + byte * stride_; }

    std::vector<Node> nodes_;  // as those of the format
    std::vector<uint32_t> levels_, key_ends_, escape_leads_;  // places among the bytes to be found
    std::vector<uint32_t> blank_bytes_;  // the same, of those that are trimmed
    std::vector<uint32_t> ending_;  // of them, those that the record's end is marked among
    uint32_t escapes_begin_ = 0, escapes_end_ = 0;  // where in the record one may begin
    uint64_t* bits_ = nullptr;
    size_t stride_ = 0, size_ = 0;
};

}  // namespace formatter
