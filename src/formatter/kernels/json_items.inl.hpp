// The items of a JSON array: where the commas between them stand, and the bracket that closes it.
//
//     bytes     { " a " : [ 1 , 2 ] } , { }      (bit 0 leftmost)
//     outside   1 0 0 1 1 1 1 1 1 1 1 1 1 1      strings; the quote that closes one counts as outside
//     depth     1 1 1 1 1 2 2 2 2 1 0 0 1 0      only blocks in which it may come to 0 are looked at bracket by bracket
//     ends      . . . . . . . . . . . 12         behind commas at depth 0
//
// In: bytes that begin anywhere in an array, and the state there. Out: positions, and the state behind. Refuses to know
// what items are, and whether brackets match.
#pragma once

#include "kernels/json_index.inl.hpp"
#include "kernels/kernel.hpp"

namespace formatter {
namespace FORMATTER_ISA {

struct BracketBlock {
    uint64_t opens, closes, arrays_close, commas;
};

// Writes the ends of a block, up to `most`; `depth` goes on. Returns where the array closes in it, or where the last end is that
// there is room for, or 64.
static inline unsigned end_items(const BracketBlock& block, size_t offset, uint64_t& depth, ItemEnds& items) {
    uint64_t left = block.opens | block.closes, commas = block.commas;
    while (true) {
        if (depth == 0) {
            const uint64_t until = left == 0 ? ~uint64_t(0) : (left & (0 - left)) - 1;
            for (uint64_t here = commas & until; here != 0; here &= here - 1) {
                const unsigned at = trailing_zeros(here);
                items.ends[items.count++] = uint32_t(offset + at + 1);
                if (items.count == items.most) return at;
            }
            if (left == 0) return 64;
            const uint64_t bracket = left & (0 - left);
            commas &= ~until;
            left &= left - 1;
            if (bracket & block.opens) {
                depth = 1;
            } else if (bracket & block.arrays_close) {
                items.closed = true;
                return trailing_zeros(bracket);
            }
            continue;
        }
        const unsigned closing = popcount(block.closes & left);
        if (closing < depth) {
            depth += popcount(block.opens & left);
            depth -= closing;
            return 64;
        }
        uint64_t bracket = 0;
        while (depth != 0 && left != 0) {
            bracket = left & (0 - left);
            left &= left - 1;
            depth += bracket & block.opens ? 1 : ~uint64_t(0);
        }
        if (depth != 0) return 64;
        commas &= ~(bracket | (bracket - 1));
    }
}

static void find_items(const uint8_t* data, size_t size, ItemEnds& items) {
    const Needle backslash = make_needle('\\'), quote = make_needle('"'), comma = make_needle(','),
                 open_object = make_needle('{'), close_object = make_needle('}'), open_array = make_needle('['),
                 close_array = make_needle(']');
    uint64_t inside = items.inside ? ~uint64_t(0) : 0, carry = items.escaped, depth = items.depth;
    items.count = 0;
    items.closed = false;
    for (size_t offset = 0; offset < size; offset += 64) {
        uint64_t present = ~uint64_t(0);
        const size_t count = size - offset >= 64 ? 64 : size - offset;
        const Block block = count == 64 ? load_block(data + offset) : load_tail(data + offset, count, present);
        const uint64_t backslashes = bits_of(equal_mask(block, backslash));
        uint64_t quotes = bits_of(equal_mask(block, quote)), escaped = 0;
        if (__builtin_expect((backslashes | carry) != 0, 0)) quotes &= ~(escaped = escaped_bytes(backslashes, carry));
        const uint64_t strings = prefix_xor(quotes) ^ inside;
        const uint64_t outside = ~strings & present;
        const uint64_t arrays_close = bits_of(equal_mask(block, close_array)) & outside;
        const BracketBlock brackets{bits_of(equal_mask(block, open_object) | equal_mask(block, open_array)) & outside,
                                    (bits_of(equal_mask(block, close_object)) & outside) | arrays_close, arrays_close,
                                    bits_of(equal_mask(block, comma)) & outside};
        const unsigned stopped = end_items(brackets, offset, depth, items);
        if (stopped < 64) {
            items.inside = items.escaped = false;
            items.depth = 0;
            items.used = offset + stopped + 1;
            return;
        }
        inside = -(strings >> (count - 1) & 1);
        if (count < 64) carry = escaped >> count & 1;
    }
    items.inside = inside != 0;
    items.escaped = carry != 0;
    items.depth = depth;
    items.used = size;
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
