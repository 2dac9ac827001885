// A decimal number to the double nearest to it. In: a mantissa below 2^64 and a power of ten. Out: the bits of the double,
// ties to even, right for every input it accepts; subnormal and overflowing ones are refused. Knows no text.
//
// The mantissa is multiplied with the first 64 bits of the power, and with the next 64 where that leaves the rounding in
// doubt. That this is always enough is proven: Mushtak and Lemire, "Fast number parsing without fallback", 2022.
#pragma once

#include <cstdint>

namespace formatter {

constexpr int least_power_of_ten = -342, most_power_of_ten = 308;  // beyond them everything is zero or too large

// 10^n is high.low * 2^k, with the highest bit of `high` set. Cut off; rounded up where 5^-n is below 2^64.
struct PowerOfTen {
    uint64_t high, low;
};

struct PowersOfTen {
    PowerOfTen of[most_power_of_ten - least_power_of_ten + 1];
};

// 256 bits, the highest one set: each step loses less than a unit of the last place, and 128 bits are kept.
struct FourWords {
    uint64_t word[4];  // the lowest first

    constexpr void times_five() {
        uint64_t carry = 0;
        for (uint64_t& part : word) {
            const unsigned __int128 product = static_cast<unsigned __int128>(part) * 5 + carry;
            part = uint64_t(product);
            carry = uint64_t(product >> 64);
        }
        const int bits = carry >= 4 ? 3 : carry >= 2 ? 2 : 1;  // five times a number with its highest bit set has more
        for (int i = 0; i < 4; i++) word[i] = word[i] >> bits | (i < 3 ? word[i + 1] : carry) << (64 - bits);
    }

    constexpr void divide_by_five() {
        uint64_t rest = 0;
        for (int i = 3; i >= 0; i--) {
            const unsigned __int128 dividend = static_cast<unsigned __int128>(rest) << 64 | word[i];
            word[i] = uint64_t(dividend / 5);
            rest = uint64_t(dividend % 5);
        }
        int bits = 0;
        while (!(word[3] << bits >> 63)) bits++;
        // What the division left is worth the bits that move in from below.
        const uint64_t below = uint64_t((static_cast<unsigned __int128>(rest) << 64) / 5);
        for (int i = 3; i >= 0; i--) word[i] = word[i] << bits | (i > 0 ? word[i - 1] : below) >> (64 - bits);
    }
};

constexpr PowersOfTen make_powers_of_ten() {
    PowersOfTen table{};
    FourWords up{{0, 0, 0, uint64_t(1) << 63}}, down = up;
    for (int n = 0; n <= most_power_of_ten; n++, up.times_five())
        table.of[n - least_power_of_ten] = {up.word[3], up.word[2]};
    for (int n = -1; n >= least_power_of_ten; n--) {
        down.divide_by_five();
        const unsigned __int128 cut = (static_cast<unsigned __int128>(down.word[3]) << 64 | down.word[2]) + (n >= -27);
        table.of[n - least_power_of_ten] = {uint64_t(cut >> 64), uint64_t(cut)};
    }
    return table;
}

inline constexpr PowersOfTen powers_of_ten = make_powers_of_ten();

// digits * 10^power. False if that is not a normal double (zero is one).
__attribute__((always_inline)) static inline bool nearest_double(uint64_t digits, int power, uint64_t& image) {
    image = 0;
    if (unsigned(power - least_power_of_ten) > unsigned(most_power_of_ten - least_power_of_ten)) return digits == 0;
    const uint64_t mantissa = digits | (digits == 0);
    const int leading = __builtin_clzll(mantissa);
    const PowerOfTen& ten = powers_of_ten.of[power - least_power_of_ten];
    const uint64_t normal = mantissa << leading;
    const unsigned __int128 product = static_cast<unsigned __int128>(normal) * ten.high;
    uint64_t high = uint64_t(product >> 64), low = uint64_t(product);
    if (__builtin_expect((high & 0x1FF) == 0x1FF, false)) {
        const uint64_t more = uint64_t((static_cast<unsigned __int128>(normal) * ten.low) >> 64);
        low += more;
        high += low < more;
    }
    const int upper = int(high >> 63), shift = upper + 9;
    uint64_t rounded = high >> shift;  // 54 bits, one too many
    const int biased =
        ((217706 * power) >> 16) + 63 + upper - leading + 1023;  // 217706 / 2^16: binary digits a decimal one
    if (__builtin_expect(biased <= 0, false)) return digits == 0;
    // Exactly between two doubles: only small powers of ten leave nothing behind.
    const bool tie = low <= 1 && unsigned(power + 4) <= 27 && (rounded & 3) == 1 && rounded << shift == high;
    rounded = (rounded + (tie ? 0 : rounded & 1)) >> 1;
    const uint64_t found = rounded + (uint64_t(biased - 1) << 52);  // the mantissa's highest bit counts one up
    if (__builtin_expect(found >= uint64_t(0x7FF) << 52, false)) return digits == 0;
    image = digits == 0 ? 0 : found;
    return true;
}

}  // namespace formatter
