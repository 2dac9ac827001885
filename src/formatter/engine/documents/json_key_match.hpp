// Whether a key is the one that is looked for, byte by byte, so that it may be cut anywhere. In: what stands between its
// quotes, escapes and all. Out: yes or no. Refuses to know where keys stand.
#pragma once

#include <cstdint>
#include <string>

namespace formatter {

struct KeyMatch {
    static constexpr size_t most_bytes = (1 << 12) - 1;  // of a key that can be looked for

    uint16_t met = 0;  // bytes of the wanted key
    bool alike = true;  // so far
    uint8_t digits_left = 0;  // of an escape \uXXXX
    uint16_t unit = 0;  // what its digits have come to
    uint16_t high = 0;  // a high surrogate that wants its partner

    // `escaped`: a backslash that counts stands before it.
    void take(uint8_t c, bool escaped, const std::string& wanted);
    bool matches(const std::string& wanted) const { return alike && !digits_left && !high && met == wanted.size(); }

    // In 44 bits.
    uint64_t packed() const;
    static KeyMatch unpacked(uint64_t bits);

  private:
    void take_text(const uint8_t* text, size_t size, const std::string& wanted);
    void take_unit(const std::string& wanted);
};

}  // namespace formatter
