#include "engine/columns/narrowing.hpp"

#include <cmath>
#include <cstring>

#include "engine/columns/half_floats.hpp"

namespace formatter {
namespace {

void mark_odd(ValueMarks* marks, uint32_t row, bool odd) {
    const uint64_t mark = uint64_t(odd) << (row % 64);
    marks->odd_count += odd && !(marks->odd[row / 64] & mark);
    marks->odd[row / 64] |= mark;
}

template <typename T>
void narrow(const int64_t* from, uint8_t* values, uint32_t rows, ValueMarks* marks) {
    T* to = reinterpret_cast<T*>(values);
    for (uint32_t i = 0; i < rows; i++) {
        const bool fits = sizeof(T) < 8 ? int64_t(T(from[i])) == from[i] : from[i] >= 0;
        to[i] = fits ? T(from[i]) : T(0);
        mark_odd(marks, i, !fits);
    }
}

// A double rounds to the right float unless it lies exactly between two floats (it may have been rounded onto that
// point) or the float is subnormal: those are decided from the text.
void narrow_to_singles(const double* from, float* to, uint32_t rows, ValueMarks* marks) {
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t image;
        std::memcpy(&image, &from[i], 8);
        to[i] = float(from[i]);
        const bool halfway = (image & 0x1FFFFFFF) == 0x10000000;
        const bool small = from[i] != 0 && std::fabs(to[i]) < 1.1754944e-38f;
        mark_odd(marks, i, halfway || small || std::isinf(to[i]));
    }
}

void narrow_to_halves(const double* from, uint16_t* to, uint32_t rows, ValueMarks* marks) {
    constexpr uint16_t infinity = 0x7C00;
    for (uint32_t i = 0; i < rows; i++) {
        const NearestHalf half = nearest_half(from[i]);
        to[i] = half.bits;
        mark_odd(marks, i, half.tie || (half.bits & 0x7FFF) == infinity);
    }
}

}  // namespace

void narrow_integers(ColumnType type, const int64_t* from, uint8_t* to, uint32_t rows, ValueMarks* marks) {
    switch (type) {
        case ColumnType::int8: return narrow<int8_t>(from, to, rows, marks);
        case ColumnType::int16: return narrow<int16_t>(from, to, rows, marks);
        case ColumnType::int32: return narrow<int32_t>(from, to, rows, marks);
        case ColumnType::uint8: return narrow<uint8_t>(from, to, rows, marks);
        case ColumnType::uint16: return narrow<uint16_t>(from, to, rows, marks);
        case ColumnType::uint32: return narrow<uint32_t>(from, to, rows, marks);
        default: return narrow<uint64_t>(from, to, rows, marks);
    }
}

void narrow_floats(ColumnType type, const double* from, uint8_t* to, uint32_t rows, ValueMarks* marks) {
    if (type == ColumnType::float16) return narrow_to_halves(from, reinterpret_cast<uint16_t*>(to), rows, marks);
    narrow_to_singles(from, reinterpret_cast<float*>(to), rows, marks);
}

void store_float(ColumnType type, double value, uint8_t* values, uint64_t at) {
    switch (type) {
        case ColumnType::float16: reinterpret_cast<uint16_t*>(values)[at] = nearest_half(value).bits; break;
        case ColumnType::float32: reinterpret_cast<float*>(values)[at] = float(value); break;
        default: reinterpret_cast<double*>(values)[at] = value;
    }
}

}  // namespace formatter
