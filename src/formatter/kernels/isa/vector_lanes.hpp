// What lanes of every CPU with vectors have in common. In: FORMATTER_LANES_BYTES of a register, FORMATTER_LANES_BLOCK_BYTES of a
// block of text. Out: types, loads, stores, and comparisons byte by byte. Knows nothing of fields.
#pragma once

namespace formatter {
namespace FORMATTER_ISA {
namespace lanes {

constexpr size_t width = FORMATTER_LANES_BYTES / 8, block_bytes = FORMATTER_LANES_BLOCK_BYTES;
constexpr size_t window_blocks = 64 / block_bytes;  // copied and searched at once where fields are quoted

typedef uint64_t Words __attribute__((vector_size(FORMATTER_LANES_BYTES)));
typedef uint8_t Text __attribute__((vector_size(FORMATTER_LANES_BYTES)));
typedef uint64_t Block __attribute__((vector_size(FORMATTER_LANES_BLOCK_BYTES)));
typedef uint8_t BlockText __attribute__((vector_size(FORMATTER_LANES_BLOCK_BYTES)));
#ifndef FORMATTER_LANES_MASKS
using Which = Words;
FORMATTER_INLINE Which is_zero(Words a) { return Which(a == Words{}); }
#endif

FORMATTER_INLINE Words load(const uint64_t* from) {
    Words words;
    __builtin_memcpy(&words, from, sizeof words);
    return words;
}
FORMATTER_INLINE void store(uint64_t* to, Words a) { __builtin_memcpy(to, &a, sizeof a); }
FORMATTER_INLINE Words splat(uint64_t value) { return Words{} + value; }
FORMATTER_INLINE Words equal_bytes(Words a, Words b) { return Words(Text(a) == Text(b)); }

FORMATTER_INLINE Block load_block(const uint8_t* from) {
    Block block;
    __builtin_memcpy(&block, from, sizeof block);
    return block;
}
FORMATTER_INLINE void store_block(uint8_t* to, Block block) { __builtin_memcpy(to, &block, sizeof block); }
FORMATTER_INLINE Block splat_byte(uint8_t byte) { return Block(BlockText{} + byte); }
FORMATTER_INLINE Block marked_if_equal(Block a, Block b) { return Block(BlockText(a) == BlockText(b)); }

}  // namespace lanes
}  // namespace FORMATTER_ISA
}  // namespace formatter
