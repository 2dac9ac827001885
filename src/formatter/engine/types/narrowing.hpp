// Wide numbers to narrower types. In: what the kernels' loops decoded. Out: the values that fit; the others are marked odd,
// once each, and are decided from their text. Refuses to know columns.
#pragma once

#include <cmath>
#include <cstring>

#include "engine/values/half_floats.hpp"
#include "kernels/kernel.hpp"

namespace formatter {

inline void mark_odd(ValueMarks* marks, uint32_t row, bool odd) {
    const uint64_t mark = uint64_t(odd) << (row % 64);
    marks->odd_count += odd && !(marks->odd[row / 64] & mark);
    marks->odd[row / 64] |= mark;
}

template <typename T>
void narrow(const int64_t* from, T* to, uint32_t rows, ValueMarks* marks) {
    for (uint32_t i = 0; i < rows; i++) {
        const bool fits = int64_t(T(from[i])) == from[i];
        to[i] = fits ? T(from[i]) : T(0);
        mark_odd(marks, i, !fits);
    }
}

// A double rounds to the right float unless it lies exactly between two floats (it may have been rounded onto that
// point) or the float is subnormal: those are decided from the text.
inline void narrow(const double* from, float* to, uint32_t rows, ValueMarks* marks) {
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t image;
        std::memcpy(&image, &from[i], 8);
        to[i] = float(from[i]);
        const bool halfway = (image & 0x1FFFFFFF) == 0x10000000;
        const bool small = from[i] != 0 && std::fabs(to[i]) < 1.1754944e-38f;
        mark_odd(marks, i, halfway || small || std::isinf(to[i]));
    }
}

struct Half {
    uint16_t bits;
    explicit operator double() const { return widened_half(bits); }
};

inline void narrow(const double* from, Half* to, uint32_t rows, ValueMarks* marks) {
    constexpr uint16_t infinity = 0x7C00;
    for (uint32_t i = 0; i < rows; i++) {
        const NearestHalf half = nearest_half(from[i]);
        to[i].bits = half.bits;
        mark_odd(marks, i, half.tie || (half.bits & 0x7FFF) == infinity);
    }
}

}  // namespace formatter
