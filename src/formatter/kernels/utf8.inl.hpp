// Whether bytes are UTF-8: no stray or missing continuation bytes, no overlong forms, no surrogates, nothing above
// U+10FFFF. In: bytes. Out: yes or no. Refuses to know where the text came from.
#pragma once

#include "kernels/lanes.hpp"

namespace formatter {
namespace FORMATTER_ISA {

FORMATTER_INLINE bool is_continuation(uint8_t byte) { return (byte & 0xC0) == 0x80; }

// The size of the character at `at`, or 0 if there is none. Second bytes are bounded so that each has but one form:
//     E0 A0..BF    ED 80..9F    F0 90..BF    F4 80..8F
FORMATTER_INLINE size_t utf8_size(const uint8_t* at, size_t left) {
    const uint8_t lead = at[0];
    if (lead < 0x80) return 1;
    if (lead < 0xC2 || lead > 0xF4) return 0;
    const size_t size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (left < size) return 0;
    for (size_t i = 1; i < size; i++)
        if (!is_continuation(at[i])) return 0;
    if ((lead == 0xE0 && at[1] < 0xA0) || (lead == 0xED && at[1] > 0x9F) || (lead == 0xF0 && at[1] < 0x90) ||
        (lead == 0xF4 && at[1] > 0x8F))
        return 0;
    return size;
}

#ifdef FORMATTER_LANES_LOOK_UP

// Every fault shows in two neighbouring bytes, save where a third or fourth byte is due. Three tables of 16, by the
// high and the low half of the first byte and the high half of the second, each say which faults they leave open; what
// all three leave open has happened. (Keiser and Lemire, Validating UTF-8 in less than one instruction per byte.)
namespace utf8_fault {
constexpr uint8_t missing = 1;            // a lead byte, then no continuation
constexpr uint8_t stray = 2;              // ASCII, then a continuation
constexpr uint8_t overlong3 = 4;          // E0, then 80..9F
constexpr uint8_t above = 8;              // F4 90..BF, F5..FF
constexpr uint8_t surrogate = 16;         // ED, then A0..BF
constexpr uint8_t overlong2 = 32;         // C0, C1
constexpr uint8_t overlong4_or_above = 64;  // F0 or F5..FF, then 80..8F
constexpr uint8_t two_continuations = 128;  // right only where a third or fourth byte is due
constexpr uint8_t by_high_halves = missing | stray | two_continuations;  // for these the low half says nothing
}  // namespace utf8_fault

using lanes::Text;

FORMATTER_INLINE Text utf8_faults(Text text, Text before) {
    using namespace utf8_fault;
    alignas(16) static constexpr uint8_t first_high[16] = {stray,
                                                           stray,
                                                           stray,
                                                           stray,
                                                           stray,
                                                           stray,
                                                           stray,
                                                           stray,
                                                           two_continuations,
                                                           two_continuations,
                                                           two_continuations,
                                                           two_continuations,
                                                           missing | overlong2,
                                                           missing,
                                                           missing | overlong3 | surrogate,
                                                           missing | above | overlong4_or_above};
    constexpr uint8_t f5_to_ff = by_high_halves | above | overlong4_or_above;
    alignas(16) static constexpr uint8_t first_low[16] = {by_high_halves | overlong3 | overlong2 | overlong4_or_above,
                                                          by_high_halves | overlong2,
                                                          by_high_halves,
                                                          by_high_halves,
                                                          by_high_halves | above,
                                                          f5_to_ff,
                                                          f5_to_ff,
                                                          f5_to_ff,
                                                          f5_to_ff,
                                                          f5_to_ff,
                                                          f5_to_ff,
                                                          f5_to_ff,
                                                          f5_to_ff,
                                                          f5_to_ff | surrogate,
                                                          f5_to_ff,
                                                          f5_to_ff};
    constexpr uint8_t continuation = stray | overlong2 | two_continuations;
    alignas(16) static constexpr uint8_t second_high[16] = {missing,
                                                            missing,
                                                            missing,
                                                            missing,
                                                            missing,
                                                            missing,
                                                            missing,
                                                            missing,
                                                            continuation | overlong3 | overlong4_or_above,
                                                            continuation | overlong3 | above,
                                                            continuation | surrogate | above,
                                                            continuation | surrogate | above,
                                                            missing,
                                                            missing,
                                                            missing,
                                                            missing};
    const Text first = lanes::text_moved<1>(text, before);
    const Text faults = lanes::look_up(first_high, first >> 4) & lanes::look_up(first_low, first & 15) &
                        lanes::look_up(second_high, text >> 4);
    // Two bytes behind E0 and above, three behind F0 and above, a continuation after a continuation is due.
    const Text third = lanes::subtract_to_zero(lanes::text_moved<2>(text, before), 0xE0 - 0x80);
    const Text fourth = lanes::subtract_to_zero(lanes::text_moved<3>(text, before), 0xF0 - 0x80);
    return ((third | fourth) & 0x80) ^ faults;
}

static bool valid_utf8(const uint8_t* data, size_t size) {
    Text before = {}, faults = {};
    bool plain_before = true;
    size_t at = 0;
    for (; size - at >= sizeof(Text); at += sizeof(Text)) {
        const Text text = lanes::load_text(data + at);
        const bool plain = !lanes::any_high_byte(text);
        if (!plain || !plain_before) faults |= utf8_faults(text, before);
        before = text;
        plain_before = plain;
    }
    // The rest with at least one zero behind: a character cut off by the end is then one whose next byte is missing.
    uint8_t rest[sizeof(Text)] = {};
    __builtin_memcpy(rest, data + at, size - at);
    faults |= utf8_faults(lanes::load_text(rest), before);
    return !lanes::any_byte(faults);
}

#else

static bool valid_utf8(const uint8_t* data, size_t size) {
    size_t at = 0;
    while (at < size) {
        while (size - at >= lanes::block_bytes && !lanes::any_high_bit(lanes::load_block(data + at)))
            at += lanes::block_bytes;
        // Then character by character as far as the block that was not plain reaches.
        const size_t stop = size - at < lanes::block_bytes ? size : at + lanes::block_bytes;
        while (at < stop) {
            const size_t step = utf8_size(data + at, size - at);
            if (step == 0) return false;
            at += step;
        }
    }
    return true;
}

#endif

}  // namespace FORMATTER_ISA
}  // namespace formatter
