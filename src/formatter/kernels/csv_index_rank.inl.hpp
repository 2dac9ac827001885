// The index by rank: for records of many short fields of which few are wanted. Refuses to know values.
//
// In: separator masks. Out: the wanted stops. Separators are counted, not written: of every block its mask is kept and
// how many separators stand before it, and for every rank the block that holds it. The stop with ordinal `s` of record
// `r` is the separator of rank r * fields + s; it is found in its block's mask without a branch or a search:
//
//     block          0        1        2           fields 3, wanted ordinals 0 and 2
//     separators     3        2        2
//     before         0        3        5
//     block_of rank  0 0 0    1 1      2 2         record 1: ranks 3 and 5, the first of block 1, the first of block 2
//
// A block writes its number for 32 ranks from its first on, as one store; the next block overwrites what is its own.
#pragma once

#include "kernels/csv_index_dense.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

constexpr size_t rank_round_blocks = settle_bytes / 64;
constexpr size_t rank_blocks_most = 2 * rank_round_blocks;  // a round's, and those of the record it could not finish
constexpr size_t ranks_at_once = 32;

// Rank 0 is the first separator of the first record not settled; a block that begins before it has a negative count.
struct RankTable {
    uint64_t masks[rank_blocks_most];
    uint64_t ends[rank_blocks_most];
    uint32_t before[rank_blocks_most];  // modulo 2^32
    uint32_t offsets[rank_blocks_most];
    uint8_t block_numbers[64 + 64 * (rank_blocks_most + 1)];
    size_t blocks = 0;
    ptrdiff_t count = 0;
    uint32_t end_count = 0;

    uint8_t* block_of_first() { return block_numbers + 64; }

    void add(SeparatorMasks block, uint32_t offset) {
        masks[blocks] = block.separators;
        ends[blocks] = block.ends;
        before[blocks] = uint32_t(count);
        offsets[blocks] = offset;
        uint8_t* const block_of = block_of_first() + count;
        __builtin_memset(block_of, uint8_t(blocks), ranks_at_once);
        const unsigned here = popcount(block.separators);
        if (__builtin_expect(here > ranks_at_once, 0))
            __builtin_memset(block_of + ranks_at_once, uint8_t(blocks), ranks_at_once);
        count += ptrdiff_t(here);
        end_count += popcount(block.ends);
        blocks++;
    }

    // Record ends up to and including a separator of that rank, which stands at `position`.
    uint32_t ends_through(ptrdiff_t rank, uint32_t position) {
        const size_t last = block_of_first()[rank];
        uint32_t through = popcount(ends[last] << (63 - (position - offsets[last])));
        for (size_t i = 0; i < last; i++) through += popcount(ends[i]);
        return through;
    }

    // Forgets what stands before `rank`.
    void drop_before(ptrdiff_t rank) {
        const size_t first = rank < count ? block_of_first()[rank] : blocks;
        const size_t past = blocks;
        count = first < past ? ptrdiff_t(int32_t(before[first])) - rank : 0;
        blocks = 0;
        end_count = 0;
        for (size_t i = first; i < past; i++)  // never writes behind where it reads
            add({masks[i], 0}, offsets[i]);  // record ends are all before `rank`
    }
};

// What a round's records are like, taken together: nothing is decided one by one.
struct RankVerdict {
    bool as_expected, carriage_return;
};

template <uint32_t stop_count>
static inline RankVerdict find_stops(RankTable& table, const uint8_t* data, uint8_t record_end,
                                     const StopChoice& choice, uint32_t rows, uint32_t* out) {
    const uint64_t* const masks = table.masks;
    const uint32_t* const before = table.before;
    const uint32_t* const offsets = table.offsets;
    const uint8_t* block_of = table.block_of_first();
    size_t stops[stop_count];
    for (uint32_t i = 0; i < stop_count; i++) stops[i] = choice.stops[i];
    const size_t fields = choice.fields;
    unsigned differs = 0, carriage_return = 0;
    uint32_t rank = 0;
    for (uint32_t row = 0; row < rows; row++, rank += uint32_t(fields), block_of += fields, out += stop_count) {
        uint32_t stop = 0;
        for (uint32_t i = 0; i < stop_count; i++) {
            const size_t block = block_of[stops[i]];
            stop = offsets[block] + select_bit(masks[block], rank + uint32_t(stops[i]) - before[block]);
            out[i] = stop;
        }
        differs |= data[stop] ^ record_end;
        carriage_return |= data[stop - (stop != 0)] == '\r';
    }
    return {differs == 0, carriage_return != 0};
}

constexpr uint32_t most_rank_stops = 8;

static inline RankVerdict find_stops(RankTable& table, const uint8_t* data, uint8_t record_end,
                                     const StopChoice& choice, uint32_t rows, uint32_t* out) {
    switch (choice.stop_count) {
        case 1: return find_stops<1>(table, data, record_end, choice, rows, out);
        case 2: return find_stops<2>(table, data, record_end, choice, rows, out);
        case 3: return find_stops<3>(table, data, record_end, choice, rows, out);
        case 4: return find_stops<4>(table, data, record_end, choice, rows, out);
        case 5: return find_stops<5>(table, data, record_end, choice, rows, out);
        case 6: return find_stops<6>(table, data, record_end, choice, rows, out);
        case 7: return find_stops<7>(table, data, record_end, choice, rows, out);
        default: return find_stops<8>(table, data, record_end, choice, rows, out);
    }
}

// False if it stopped at something it leaves to others: a record that is not like the rest, or one longer than a round.
// What stands before index.consumed is done.
template <Quotes quotes>
static bool index_by_rank(SeparatorBlocks<quotes> blocks, const uint8_t* data, size_t size, uint8_t record_end,
                          const StopChoice& choice, CsvIndex& index) {
    RankTable table;
    uint32_t* out = index.stops;
    for (size_t offset = 0; offset < size;) {
        if (table.blocks > rank_round_blocks) return false;
        for (size_t i = 0; i < rank_round_blocks && offset < size; i++, offset += 64) {
            const SeparatorMasks masks = blocks.at(offset);
            table.add(masks, uint32_t(offset));
        }
        const uint32_t whole = uint32_t(table.count) / choice.fields, room = index.capacity_rows - index.rows;
        const uint32_t rows = whole < room ? whole : room;
        if (rows == 0) {
            if (table.end_count != 0) return false;
            continue;
        }
        const RankVerdict verdict = find_stops(table, data, record_end, choice, rows, out);
        // The last round may hold more, of records nobody asks for: theirs do not count.
        const uint32_t ends = whole < room ? table.end_count
                                           : table.ends_through(ptrdiff_t(rows) * choice.fields - 1,
                                                                out[size_t(rows) * choice.stop_count - 1]);
        if (!verdict.as_expected || ends != rows) return false;
        out += size_t(rows) * choice.stop_count;
        index.rows += rows;
        index.consumed = size_t(out[-1]) + 1;
        index.saw_carriage_return |= verdict.carriage_return;
        if (rows == room) return true;
        table.drop_before(ptrdiff_t(rows) * choice.fields);
    }
    return true;
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
