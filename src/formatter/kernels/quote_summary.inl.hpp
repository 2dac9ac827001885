// What a buffer says before anyone knows whether it begins inside quotes: quote parity, and the record ends either way.
//
// In: any bytes. Out: counts and first and last positions. Knows nothing of fields.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/separator_blocks.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

static inline void add_record_ends(QuoteSummary& summary, int state, uint64_t ends, size_t offset) {
    if (ends == 0) return;
    if (summary.record_ends[state] == 0) summary.first_end[state] = offset + trailing_zeros(ends);
    summary.record_ends[state] += popcount(ends);
    summary.last_end[state] = offset + 63 - unsigned(__builtin_clzll(ends));
}

static void summarize_quotes(const uint8_t* data, size_t size, const CsvBytes& bytes, QuoteSummary& summary) {
    const uint64_t none = QuoteSummary::none;
    summary = {0, {0, 0}, {none, none}, {none, none}};
    const Needle record_end = make_needle(bytes.record_end), quote = make_needle(bytes.quote);
    uint64_t inside = 0;  // all ones while inside, starting outside
    for (size_t offset = 0; offset < size; offset += 64) {
        uint64_t valid = ~uint64_t(0);
        Block block = size - offset >= 64 ? load_block(data + offset) : load_tail(data + offset, size - offset, valid);
        uint64_t ends = equal_mask(block, record_end) & valid;
        if (!bytes.quoting) {
            add_record_ends(summary, 0, ends, offset);
            continue;
        }
        uint64_t quotes = equal_mask(block, quote) & valid;
        uint64_t quoted = prefix_xor(quotes) ^ inside;
        add_record_ends(summary, 0, ends & ~quoted, offset);
        add_record_ends(summary, 1, ends & quoted, offset);
        summary.quotes += popcount(quotes);
        inside ^= -uint64_t(popcount(quotes) & 1);
    }
    if (bytes.quoting) return;  // without quotes there is but one state
    summary.record_ends[1] = summary.record_ends[0];
    summary.first_end[1] = summary.first_end[0];
    summary.last_end[1] = summary.last_end[0];
}

static uint64_t count_byte(const uint8_t* data, size_t size, uint8_t byte) {
    const Needle wanted = make_needle(byte);
    uint64_t count = 0;
    size_t offset = 0;
    for (; size - offset >= 64; offset += 64) count += popcount(equal_mask(load_block(data + offset), wanted));
    if (offset == size) return count;
    uint64_t valid;
    Block block = load_tail(data + offset, size - offset, valid);
    return count + popcount(equal_mask(block, wanted) & valid);
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
