// One record to the bounds of its wanted values. In: a record's bytes, and where bytes that may matter stand in it. Out: two
// positions a column. Refuses to know where records begin, and what values mean. Where nothing hides separators of single bytes,
// plain_splitter.hpp does the same by less.
//
// A level is cut into parts by going over its positions once; only parts that a path leads through are cut further, so what
// nobody asks for is met once, as positions.
#pragma once

#include <vector>

#include "engine/delimited/part_bounds.hpp"

namespace formatter {

class RecordSplitter : public PartBounds {
  public:
    explicit RecordSplitter(const DelimitedFormat&);

    struct Positions {
        const uint32_t* at;
        const uint32_t* end;
    };
    // The record is [begin, end) past `base`, the positions are of the set's bytes in it. Bounds of columns that are not met
    // stay as they are. False if a mark is never closed: `unclosed()`.
    bool split(const uint8_t* base, uint32_t begin, uint32_t end, Positions, uint32_t* bounds);
    uint32_t unclosed() const { return unclosed_; }

  private:
    struct Part {
        uint32_t begin, value;  // behind its key
        uint32_t key_end = 0;
        Positions positions;  // from the value on
        const PathNode* node = nullptr;  // of a part with a key: what is wanted of it
        const Mark* mark = nullptr;  // the first
        uint32_t open = 0, closed = 0;  // where it stands, and behind its partner
        bool keyed = false, escaped = false;
        bool inside = false;  // a mark around what it is a part of
    };

    bool split_level(const PathNode&, uint32_t begin, uint32_t end, Positions, bool inside);
    bool end_part(const PathNode&, const Part&, uint32_t end, Positions, uint32_t ordinal, size_t* next);
    bool take(const PathNode&, const Part&, uint32_t begin, uint32_t end, Positions);
    bool holds_escape(uint32_t begin, uint32_t end) const;
    bool close_mark(const Mark&, Part*, Positions*, uint32_t end, uint32_t* behind);
    const Mark* mark_at(uint32_t at) const;
    bool may_open(uint32_t at, uint32_t begin, uint32_t settled) const;
    bool ends_separator(uint32_t at, uint32_t begin) const;

    bool escapes_separate_;  // or not: what an escape is written with never is a separator, nor a mark
    std::vector<uint8_t> escape_leads_;  // what they begin with
    std::vector<const std::string*> separators_;  // of all levels, keys' ends too
    uint16_t roles_[256];
    bool ends_role_[256];  // a separator may end with it
    uint32_t unclosed_ = 0;
    uint32_t escape_end_ = 0;
};

}  // namespace formatter
