// Sixty-four decimal numbers to the doubles nearest to them. In: digits, how many of them are behind the point,
// exponents, signs. Out: the doubles in place of the digits, and which of them are there. Where there are wide products
// several go at once, and those in doubt one by one. Refuses to know how numbers are written.
#pragma once

#include "kernels/field_lanes.inl.hpp"
#include "kernels/nearest_double.hpp"

namespace formatter {
namespace FORMATTER_ISA {

// `exponents` may be null. Of the rows in `good` those that are left are returned; the others become zero.
#ifdef FORMATTER_LANES_WIDE

__attribute__((noinline)) static uint64_t nearest_doubles(uint64_t* numbers, const uint64_t* places,
                                                          const int16_t* exponents, const uint8_t* signs,
                                                          uint64_t good) {
    using lanes::splat;
    using lanes::Words;
    const uint64_t* const powers = &powers_of_ten.of[0].high;
    uint64_t doubtful = 0;
    for (uint32_t i = 0; i < 64; i += lanes::width) {
        const Words digits = lanes::load(numbers + i);
        Words power = splat(0) - lanes::load(places + i);
        if (exponents != nullptr) power = power + lanes::load_halves_as_words(exponents + i);
        const Words index = power - splat(uint64_t(least_power_of_ten));
        const lanes::Which in_table =
            lanes::is_zero((index | (splat(most_power_of_ten - least_power_of_ten) - index)) >> 63);
        const Words leading = lanes::leading_zeros(digits);
        const lanes::Product product = lanes::multiply(lanes::shift_left(digits, leading),
                                                       lanes::look_up_pairs(powers, lanes::keep_if(in_table, index)));
        const Words upper = product.high >> 63;
        const Words cut = lanes::shift_right(product.high, upper + splat(9));
        const Words rounded = (cut + (cut & splat(1))) >> 1;
        // 217706 / 2^16 binary digits a decimal one; counted from the table's first, so that nothing is negative.
        const Words binary = lanes::multiply_low_halves(index, splat(217706)) +
                             splat(uint64_t(int64_t(least_power_of_ten) * 217706 + (int64_t(2048) << 16)));
        const Words biased = (binary >> 16) + upper - leading + splat(uint64_t(int64_t(63 + 1023 - 1 - 2048)));
        const Words found = rounded + (biased << 52);
        // In doubt: the next 64 bits of the power may carry into these; exactly half way; subnormal; too large.
        const Words carry = (product.high & splat(0x1FF)) ^ splat(0x1FF);
        const Words tie = (product.low >> 1) | ((cut & splat(3)) ^ splat(1));
        const lanes::Which unsure = lanes::either(lanes::is_zero(carry), lanes::is_zero(tie));
        const lanes::Which outside = lanes::is_set((biased | (splat(2045) - biased - (rounded >> 53))) >> 63);
        const uint64_t present = lanes::bits(lanes::is_set(digits)) << i;
        doubtful |= (lanes::bits(lanes::either(unsure, outside)) << i & present) |
                    ((lanes::bits(in_table) ^ lanes::bits(lanes::is_zero(splat(0)))) << i & present);
        const Words sign = lanes::load_bytes_as_words(signs + i) << 63;
        const lanes::Which taken = lanes::Which(good >> i);
        const Words kept = lanes::keep_if(lanes::is_set(digits), found) | sign;
        if (((doubtful & good) >> i & 0xFF) == 0) {
            lanes::store(numbers + i, lanes::keep_if(taken, kept));
            continue;
        }
        alignas(64) uint64_t exact[lanes::width], values[lanes::width], by[lanes::width];
        lanes::store(exact, digits);
        lanes::store(by, power);
        lanes::store(values, lanes::keep_if(taken, kept));
        for (uint64_t left = (doubtful & good) >> i & 0xFF; left; left &= left - 1) {
            const uint32_t at = uint32_t(__builtin_ctzll(left));
            uint64_t image;
            const bool fits = nearest_double(exact[at], int(int64_t(by[at])), image);
            values[at] = fits ? image | uint64_t(signs[i + at]) << 63 : 0;
            good &= ~(uint64_t(!fits) << (i + at));
        }
        for (uint32_t k = 0; k < lanes::width; k++) numbers[i + k] = values[k];
    }
    return good;
}

#else

__attribute__((noinline)) static uint64_t nearest_doubles(uint64_t* numbers, const uint64_t* places,
                                                          const int16_t* exponents, const uint8_t* signs,
                                                          uint64_t good) {
    uint64_t refused = 0;
    for (uint32_t i = 0; i < 64; i++) {
        uint64_t image;
        const int power = (exponents != nullptr ? exponents[i] : 0) - int(places[i]);
        if (__builtin_expect(!nearest_double(numbers[i], power, image), false)) refused |= uint64_t(1) << i;
        numbers[i] = (image | uint64_t(signs[i]) << 63) & (0 - (good >> i & 1));
    }
    for (uint64_t left = refused; left; left &= left - 1) numbers[__builtin_ctzll(left)] = 0;
    return good & ~refused;
}

#endif

}  // namespace FORMATTER_ISA
}  // namespace formatter
