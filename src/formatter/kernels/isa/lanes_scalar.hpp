// Lanes without vector instructions: one 64-bit word at a time, bytes handled by carry tricks.
//
// In: words of eight bytes, the first byte of the text lowest. Out: words, conditions, bits. Knows nothing of fields.
// Every lanes_<isa>.hpp offers the same names; this one is the plainest statement of what each must compute.
#pragma once

namespace formatter {
namespace FORMATTER_ISA {
namespace lanes {

using Words = uint64_t;  // `width` numbers of 64 bits
using Which = uint64_t;  // one condition a word, here all ones or zero
constexpr size_t width = 1;

constexpr uint64_t low_bits_of_bytes = 0x0101010101010101;
constexpr uint64_t high_bits_of_bytes = 0x8080808080808080;

FORMATTER_INLINE Words load(const uint64_t* from) { return *from; }
FORMATTER_INLINE Words load_bytes_as_words(const uint8_t* from) { return *from; }
FORMATTER_INLINE Words splat(uint64_t value) { return value; }

FORMATTER_INLINE Which is_zero(Words a) { return a == 0 ? ~uint64_t(0) : 0; }
FORMATTER_INLINE uint64_t bits(Which a) { return a & 1; }

FORMATTER_INLINE void store(uint64_t* to, Words a) { *to = a; }
FORMATTER_INLINE void store_low_halves(uint32_t* to, Words a) { *to = uint32_t(a); }

// Bytes 8 - n to 7 are ones, with n = min(count, 8); and the same for n = clamp(count - others, 0, 8). count <= 24.
FORMATTER_INLINE Words last_bytes_of(Words count) { return count >= 8 ? ~uint64_t(0) : ~(~uint64_t(0) >> (8 * count)); }
template <int others>
FORMATTER_INLINE Words last_bytes_before(Words count) {
    return last_bytes_of(others == 0 ? count : count <= others ? 0 : count - others);
}

// 0xFF in each byte of `a` that equals the byte of `b`.
FORMATTER_INLINE Words equal_bytes(Words a, Words b) {
    const uint64_t difference = a ^ b;
    const uint64_t not_zero = ((difference & ~high_bits_of_bytes) + ~high_bits_of_bytes) | difference;
    const uint64_t zero = ~not_zero & high_bits_of_bytes;
    return (zero >> 7) * 0xFF;
}

// Not zero if some byte (some 16-bit word below 0x8000) is above its limit. Limits are below 0x80 (below 0x8000).
FORMATTER_INLINE Words over(Words a, Words limits) {
    return (((a & ~high_bits_of_bytes) + (~high_bits_of_bytes - limits)) | a) & high_bits_of_bytes;
}
FORMATTER_INLINE Words over_words(Words a, Words limits) {
    return (a + (0x7FFF7FFF7FFF7FFF - limits)) & 0x8000800080008000;
}

// Sums of neighbours, each times its weight: bytes to 16 bits, 16 bits to 32 bits.
FORMATTER_INLINE Words weigh_bytes(Words a, Words weights) {
    uint64_t sums = 0;
    for (unsigned i = 0; i < 64; i += 16)
        sums |= ((a >> i & 0xFF) * (weights >> i & 0xFF) + (a >> (i + 8) & 0xFF) * (weights >> (i + 8) & 0xFF)) << i;
    return sums;
}
FORMATTER_INLINE Words weigh_words(Words a, Words weights) {
    uint64_t sums = 0;
    for (unsigned i = 0; i < 64; i += 32)
        sums |=
            ((a >> i & 0xFFFF) * (weights >> i & 0xFFFF) + (a >> (i + 16) & 0xFFFF) * (weights >> (i + 16) & 0xFFFF))
            << i;
    return sums;
}

FORMATTER_INLINE Words multiply_low_halves(Words a, Words b) { return (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF); }

// How many bytes are 0xFF; the others are 0.
FORMATTER_INLINE Words full_bytes(Words mask) { return (mask & low_bits_of_bytes) * low_bits_of_bytes >> 56; }
// The mantissa (< 2^52) by one of the powers, correctly rounded, as bits.
FORMATTER_INLINE Words divided(Words mantissa, const double* powers, Words at) {
    const double quotient = double(int64_t(mantissa)) / powers[at];
    uint64_t image;
    __builtin_memcpy(&image, &quotient, 8);
    return image;
}

// One bit for each of 64 bytes that is zero.
FORMATTER_INLINE uint64_t zero_bytes64(const uint8_t* bytes) {
    uint64_t result = 0;
    for (unsigned i = 0; i < 64; i++) result |= uint64_t(bytes[i] == 0) << i;
    return result;
}

// ------------------------------------------------------------------------------------- blocks of text

using Block = uint64_t;
constexpr size_t block_bytes = 8;
constexpr size_t window_blocks = 4;  // copied and searched at once where fields are quoted

FORMATTER_INLINE Block load_block(const uint8_t* from) {
    Block block;
    __builtin_memcpy(&block, from, block_bytes);
    return block;
}
FORMATTER_INLINE void store_block(uint8_t* to, Block block) { __builtin_memcpy(to, &block, block_bytes); }
FORMATTER_INLINE Block splat_byte(uint8_t byte) { return byte * low_bits_of_bytes; }
FORMATTER_INLINE uint64_t one_bit_a_byte(uint64_t high_bits) { return (high_bits >> 7) * 0x0102040810204080 >> 56; }
FORMATTER_INLINE uint64_t equal_bits(Block a, Block b) {
    return one_bit_a_byte(equal_bytes(a, b) & high_bits_of_bytes);
}
FORMATTER_INLINE Block marked_if_equal(Block a, Block b) { return equal_bytes(a, b); }
FORMATTER_INLINE bool any_marked(Block a) { return a != 0; }
FORMATTER_INLINE bool any_high_bit(Block a) { return (a & high_bits_of_bytes) != 0; }

}  // namespace lanes
}  // namespace FORMATTER_ISA
}  // namespace formatter
