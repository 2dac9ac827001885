// Whether texts are values to code that is not ours. In: the texts of a block's rows. Out: a bit for each that is none. Refuses
// to know what code that is, and what it makes of a text.
#pragma once

#include <cstdint>

namespace formatter {

struct TextRows {
    uint32_t rows;
    const int32_t* offsets;  // one more than rows
    const uint8_t* text;
    const uint64_t* present;  // a bit a row: the others have no text
};

class TextCheck {
  public:
    virtual ~TextCheck() = default;
    // Sets the bits of rows whose text is no value. Called without a lock, by any thread.
    virtual void check(const TextRows&, uint64_t* failed) const = 0;
};

}  // namespace formatter
