// 16-bit floats, which no C++ type holds. In: doubles. Out: the nearest half, as its sixteen bits, and the double that such
// bits stand for. Refuses to know columns and texts.
#pragma once

#include <cstdint>
#include <cstring>

namespace formatter {

struct NearestHalf {
    uint16_t bits;  // infinity where the double is too large
    bool tie;  // the double lies exactly between two halves: what it was rounded from may lie on either side
};

inline NearestHalf nearest_half(double value) {
    uint64_t image;
    std::memcpy(&image, &value, 8);
    const uint16_t sign = uint16_t(image >> 48 & 0x8000);
    const int exponent = int(image >> 52 & 0x7FF) - 1023;
    const uint64_t fraction = image & ((uint64_t(1) << 52) - 1);
    if (exponent == 1024 && fraction) return {uint16_t(sign | 0x7E00), false};
    if (exponent > 15) return {uint16_t(sign | 0x7C00), false};
    if (exponent < -25) return {sign, false};
    // Eleven bits are kept, and fewer of those below the smallest normal half, 2^-14.
    const int dropped = 42 + (exponent < -14 ? -14 - exponent : 0);
    const uint64_t significand = uint64_t(1) << 52 | fraction;
    const uint64_t middle = uint64_t(1) << (dropped - 1);
    const uint64_t rest = significand & (2 * middle - 1);
    uint64_t kept = significand >> dropped;
    kept += rest > middle || (rest == middle && (kept & 1));
    // The leading bit counts as one of the exponent; where rounding carries beyond it, so does that.
    const uint64_t biased = exponent < -14 ? 0 : uint64_t(exponent + 14) << 10;
    return {uint16_t(sign | (biased + kept)), rest == middle};
}

inline double widened_half(uint16_t half) {
    const uint64_t exponent = half >> 10 & 31, fraction = half & 0x3FF;
    double value;
    if (exponent == 0) {
        value = double(fraction) * 0x1p-24;
    } else {
        const uint64_t image = (exponent == 31 ? uint64_t(2047) : exponent + 1008) << 52 | fraction << 42;
        std::memcpy(&value, &image, 8);
    }
    return half & 0x8000 ? -value : value;
}

}  // namespace formatter
