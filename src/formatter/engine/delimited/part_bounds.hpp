// What splitters have in common: where a part of a record stands is written for the columns that are to have it. In: a part's
// begin and end. Out: two positions a column; which columns hold escapes. Refuses to know how parts were found.
#pragma once

#include <string>
#include <vector>

#include "engine/delimited/delimited_format.hpp"
#include "kernels/kernel.hpp"

namespace formatter {

class PartBounds {
  public:
    // Columns whose values hold escapes, in the record just split.
    const std::vector<uint32_t>& escaped() const { return escaped_; }
    // What the text means; appended.
    void resolve(const uint8_t* data, size_t size, std::string* out) const;
    // The bytes to be found, that of record ends first. Levels that no path reaches are left out where that changes nothing.
    const ByteSet& bytes() const { return bytes_; }

  protected:
    explicit PartBounds(const DelimitedFormat& format) : format_(format), met_(format.nodes.size()) {
        bytes_.count = 0;
        look_for(uint8_t(format.fields->record_end[0]));
    }

    // Bounds of columns that are not met stay as they are.
    void begin_record(const uint8_t* base, uint32_t* bounds) {
        base_ = base;
        bounds_ = bounds;
        escaped_.clear();
    }
    // Its place among the bytes to be found.
    uint32_t look_for(uint8_t byte);
    void trim(uint32_t* begin, uint32_t* end) const {
        if (!format_.trim) return;
        blanks_ && *end - *begin <= 64 ? trim_marked(begin, end) : trim_blanks(begin, end);
    }
    bool stands_at(const std::string& text, uint32_t at, uint32_t end) const;
    // Of the escape that is written there; 0: none is.
    uint32_t escape_size(uint32_t at, uint32_t end) const;
    const PathNode* keyed_child(const PathNode&, uint32_t key, uint32_t key_end);
    void forget_met(const PathNode& node) {
        for (const uint32_t child : node.children) met_[child] = 0;
    }
    void take_rest(const PathNode&, uint32_t begin, uint32_t end);
    void write(const PathNode::Target& target, uint32_t begin, uint32_t end) {
        target.range.is_all() ? write_whole(target.column, begin, end) : write_range(target, begin, end);
    }
    void write_whole(uint32_t column, uint32_t begin, uint32_t end) {
        bounds_[2 * column] = begin;
        bounds_[2 * column + 1] = end;
    }

    const DelimitedFormat& format_;
    ByteSet bytes_;
    std::vector<uint32_t> met_;  // by node: how often its key was, among the parts of its parent
    std::vector<uint32_t> escaped_;
    const uint8_t* base_ = nullptr;
    const uint64_t* blanks_ = nullptr;  // a bit for each byte, and a word behind; or none

  private:
    void trim_blanks(uint32_t* begin, uint32_t* end) const;
    // Of 64 bytes at most: how many blanks there are is no branch, which would be guessed wrongly as often as rightly.
    void trim_marked(uint32_t* begin, uint32_t* end) const {
        const uint32_t size = *end - *begin, shift = *begin % 64;
        if (size == 0) return;
        const uint64_t* const words = blanks_ + *begin / 64;
        const uint64_t blank = words[0] >> shift | (words[1] << 1) << (63 - shift);
        const uint64_t kept = ~blank & ~uint64_t(0) >> (64 - size);
        if (kept == 0) {
            *begin = *end;
            return;
        }
        *end = *begin + 64 - uint32_t(__builtin_clzll(kept));
        *begin += uint32_t(__builtin_ctzll(kept));
    }
    void write_range(const PathNode::Target&, uint32_t begin, uint32_t end);

    uint32_t* bounds_ = nullptr;
};

// How many levels paths lead to.
size_t levels_reached(const DelimitedFormat&);
// Whether an escape is written with bytes that mean something where records are cut.
bool escapes_separate(const DelimitedFormat&);

}  // namespace formatter
