// Decimal numbers to binary ones where 128 bits of a product are enough to be sure. In: digits and a power of ten. Out:
// the nearest double or float, or no answer: the caller then decides from the text. Refuses to know how numbers are
// written.
#pragma once

#include <cstdint>
#include <cstring>

namespace formatter {

constexpr int largest_sure_exponent = 54;  // of ten, either way: what two exact powers of five below 2^64 make

// A power of ten as mantissa * 2^exponent, its highest bit set. At most three units of the last place too small.
struct BinaryPower {
    uint64_t mantissa;
    int exponent;
};
BinaryPower binary_power_of_ten(int exponent);

// digits * 10^exponent with `bits` bits of mantissa (53 or 24), rounded to nearest. False if that is not sure.
inline bool nearest_binary(uint64_t digits, int exponent, int bits, double* out) {
    if (digits == 0) return *out = 0, true;
    if (exponent < -largest_sure_exponent || exponent > largest_sure_exponent) return false;
    const BinaryPower power = binary_power_of_ten(exponent);
    const int leading = __builtin_clzll(digits);
    const unsigned __int128 product = static_cast<unsigned __int128>(digits << leading) * power.mantissa;
    uint64_t high = uint64_t(product >> 64);
    int binary = power.exponent - leading + 64;
    if (!(high >> 63)) {
        high = uint64_t(product >> 63);
        binary--;
    }
    // The true value lies in [high, high + error).
    constexpr uint64_t error = 10;
    const int dropped = 64 - bits;
    const uint64_t half = uint64_t(1) << (dropped - 1);
    const uint64_t rest = high & (2 * half - 1);
    if (rest + error > half && rest <= half) return false;
    uint64_t mantissa = (high >> dropped) + (rest > half);
    binary += dropped;
    if (mantissa >> bits) {
        mantissa >>= 1;
        binary++;
    }
    if (bits == 24 && (binary + 23 < -126 || binary + 23 > 127)) return false;
    // Within these powers every double is a normal one.
    const uint64_t fraction = bits == 53 ? mantissa : mantissa << 29;
    const uint64_t biased = uint64_t((bits == 53 ? binary + 52 : binary + 23) + 1023);
    const uint64_t image = (fraction & ((uint64_t(1) << 52) - 1)) | biased << 52;
    std::memcpy(out, &image, 8);
    return true;
}

}  // namespace formatter
