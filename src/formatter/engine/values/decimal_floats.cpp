#include "engine/values/decimal_floats.hpp"

namespace formatter {
namespace {

constexpr int largest_exact = 27;  // 5^27 < 2^63 < 5^28

struct PowerTable {
    BinaryPower of[2 * largest_sure_exponent + 1];
};

constexpr int leading_zeros(uint64_t word) {
    int zeros = 0;
    for (; !(word >> 63); word <<= 1) zeros++;
    return zeros;
}

constexpr BinaryPower product(BinaryPower a, BinaryPower b) {
    const unsigned __int128 both = static_cast<unsigned __int128>(a.mantissa) * b.mantissa;
    const int shift = both >> 127 ? 64 : 63;
    return {uint64_t(both >> shift), a.exponent + b.exponent + shift};
}

constexpr PowerTable make_powers() {
    PowerTable table{};
    BinaryPower* const one = table.of + largest_sure_exponent;
    uint64_t five = 1;
    for (int e = 0; e <= largest_exact; e++, five *= 5) {
        const int zeros = leading_zeros(five);
        one[e] = {five << zeros, e - zeros};
        // 2^(127 - zeros) / 5^e, of which 64 bits are kept: less than one unit too small.
        if (e == 0) continue;
        const unsigned __int128 dividend = static_cast<unsigned __int128>(1) << (127 - zeros);
        one[-e] = {uint64_t(dividend / five), -e - (127 - zeros)};
    }
    for (int e = largest_exact + 1; e <= largest_sure_exponent; e++) {
        one[e] = product(one[largest_exact], one[e - largest_exact]);
        one[-e] = product(one[-largest_exact], one[largest_exact - e]);
    }
    return table;
}

constexpr PowerTable powers = make_powers();

}  // namespace

BinaryPower binary_power_of_ten(int exponent) { return powers.of[largest_sure_exponent + exponent]; }

}  // namespace formatter
