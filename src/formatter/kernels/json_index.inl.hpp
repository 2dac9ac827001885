// Bytes of JSON lines to the positions of what structures them: { } [ ] : , and line ends, all outside strings. In:
// lines. Out: positions, and whether strings are in order. Refuses to know keys and values.
//
//     bytes      { " a \ " , " : 1 } \n       (bit 0 leftmost)
//     escaped    0 0 0 0 1 0 0 0 0 0 0        the byte behind a backslash that is not escaped itself
//     quotes     0 1 0 0 0 0 1 0 0 0 0        those not escaped
//     inside     0 1 1 1 1 1 0 0 0 0 0        prefix xor of quotes, and of the state the block begins in
//     written    1 0 0 0 0 0 0 1 0 1 1        structure & ~inside
//
// A line end inside a string, or a backslash outside one, is no JSON: the index stops before that line, and with the next
// line it may begin anew. So one bad line never misleads the index about another. What json_grammar.inl.hpp objects to
// stops it as well, at the latest before the line that is wrong.
#pragma once

#include "kernels/escapes.inl.hpp"
#include "kernels/json_grammar.inl.hpp"
#include "kernels/kernel.hpp"
#include "kernels/separator_blocks.inl.hpp"
#ifdef __AVX512VBMI2__
#include "kernels/json_stripes.inl.hpp"
#endif

namespace formatter {
namespace FORMATTER_ISA {

#ifdef __AVX512VBMI2__

template <bool kinds_too, bool strict>
static void index_json_as(const uint8_t* data, size_t size, JsonIndex& index) {
    StripeIndexer<kinds_too, strict>(data, size, index).run();
}

#else

struct JsonStructure {
    Needle open_object = make_needle('{'), close_object = make_needle('}'), open_array = make_needle('[');
    Needle close_array = make_needle(']'), colon = make_needle(':'), comma = make_needle(','),
           line_end = make_needle('\n');
    uint64_t mask(const Block& block) const {
        return equal_mask(block, open_object) | equal_mask(block, close_object) | equal_mask(block, open_array) |
               equal_mask(block, close_array) | equal_mask(block, colon) | equal_mask(block, comma) |
               equal_mask(block, line_end);
    }
};

template <bool kinds_too, bool strict>
static void index_json_as(const uint8_t* data, size_t size, JsonIndex& index) {
    JsonStructure structure;
    const Needle backslash = make_needle('\\'), quote = make_needle('"'), line_end = make_needle('\n');
    JsonGrammar<strict> grammar(data, size, index.valued);
    uint32_t* out = index.positions;
    uint64_t inside = 0, carry = 0;
    index.stopped = false;
    for (size_t offset = 0; offset < size; offset += 64) {
        uint64_t present = ~uint64_t(0);
        const Block block =
            size - offset >= 64 ? load_block(data + offset) : load_tail(data + offset, size - offset, present);
        const uint64_t backslashes = bits_of(equal_mask(block, backslash));
        uint64_t quotes = bits_of(equal_mask(block, quote)), escaped = 0;
        if (__builtin_expect((backslashes | carry) != 0, 0)) quotes &= ~(escaped = escaped_bytes(backslashes, carry));
        const uint64_t strings = prefix_xor(quotes) ^ inside;
        inside = uint64_t(int64_t(strings) >> 63);
        uint64_t found = structure.mask(block) & ~strings & present;
        uint64_t bad = backslashes & ~strings;
        if (!strict)
            bad |= bits_of(equal_mask(block, line_end)) & strings;  // the grammar objects to it as to any control
        bad &= present;
        if (strict && !grammar.accepts(block, offset, {found, quotes, strings, escaped, present})) bad |= 1;
        if (__builtin_expect(bad != 0, 0)) {
            found &= (bad & (0 - bad)) - 1;
            write_positions(found, uint32_t(offset), out);
            out += popcount(found);
            while (out > index.positions && data[out[-1]] != '\n') out--;
            index.stopped = true;
            break;
        }
        write_positions(found, uint32_t(offset), out);
        out += popcount(found);
    }
    index.utf8_known = false;
    index.count = size_t(out - index.positions);
    if (kinds_too)
        for (size_t i = 0; i < index.count; i++) index.kinds[i] = data[index.positions[i]];
}

#endif

static void index_json(const uint8_t* data, size_t size, JsonIndex& index) {
    index.checked = json_grammar_known && index.valued != nullptr && index.kinds != nullptr;
    if (index.checked)
        index_json_as<true, json_grammar_known>(data, size, index);
    else if (index.kinds)
        index_json_as<true, false>(data, size, index);
    else
        index_json_as<false, false>(data, size, index);
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
