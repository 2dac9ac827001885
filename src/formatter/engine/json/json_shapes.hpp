// Records whose keys stand where another record had them. In: the structure of a record that was read in full. Out: for
// records of the same structure and the same key bytes, where the wanted values stand, without a look at anything else.
// Refuses to know what values mean.
//
// The structure of {"id":7,"name":"x"}\n is { : , : } \n. A shape remembers how many positions a record has, and for each
// colon the bytes from the separator before it:   {"id":   ,"name":
// If those bytes stand before a record's colons, its keys are these and no others, in this order: the quote before a
// colon outside strings closes a string, and the one behind the separator opens it. So no key can hide, and the guess
// never changes a result.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "engine/json/json_record.hpp"

namespace formatter {

class JsonShape {
  public:
    // A record without nesting: `positions` of its structure up to and including the line end, in `base`. `spans`: its
    // values as read. False if such a record cannot be remembered.
    bool learn(const uint8_t* base, const uint32_t* positions, size_t count, const ValueSpan* spans, size_t columns);

    size_t structure_size() const { return count_; }

    // So many bytes before a record are looked at, if its keys are shorter than those of this shape.
    uint32_t reach() const { return reach_; }

    // Whether the record that begins at `line` and whose structure begins at `positions` has this shape. At least
    // structure_size() positions and reach() bytes before the line can be read.
    bool matches(const uint8_t* base, const uint32_t* positions, uint32_t line) const {
        if (positions[0] != line || base[positions[count_ - 1]] != '\n') return false;
        Pair differs = {0, 0};
        for (const Probe& probe : probes_) {
            Pair bytes;
            std::memcpy(&bytes, base + positions[probe.ordinal] - probe.back, sizeof bytes);
            differs |= (bytes ^ probe.bytes) & probe.mask;
        }
        const uint32_t close = positions[count_ - 2], end = positions[count_ - 1];
        const bool ends = base[close] == '}' && (end - close == 1 || (end - close == 2 && base[close + 1] == '\r'));
        return (differs[0] | differs[1]) == 0 && ends;
    }

    // The ordinal of the colon before a column's value, -1 if records of this shape have none.
    int32_t colon(size_t column) const { return colons_[column]; }
    const int32_t* colons() const { return colons_.data(); }

  private:
    typedef uint64_t Pair __attribute__((vector_size(16)));
    struct Probe {  // sixteen bytes that end `back` - 16 bytes before a position
        Pair bytes, mask;
        uint32_t ordinal;
        uint32_t back;
    };

    size_t count_ = 0;
    uint32_t reach_ = 0;
    std::vector<Probe> probes_;
    std::vector<int32_t> colons_;
};

}  // namespace formatter
