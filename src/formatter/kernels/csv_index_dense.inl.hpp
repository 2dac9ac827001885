// The index by writing every separator's position, then settling whole records of them. Refuses to know values.
//
// In: separator masks. Out: the wanted stops. Positions are written without a look at what they are, so that nothing
// waits for a branch. A regular file makes them a table, and that is what is verified while the bytes are still near:
//
//     a,b,c\n d,e,f\n      positions  1 3 5 | 7 9 11     each last one is a record end, and there are no others
//
// Where all separators are wanted the positions are the stops. Where some are, the positions are scratch to pick from.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/separator_blocks.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

constexpr size_t settle_bytes = 8192;  // written, then settled: bytes and positions of a round stay in the first cache

struct PositionTable {
    uint32_t* positions;  // of the records not settled yet
    size_t count;
    uint64_t ends;  // how many of them are record ends
};

// Writes the positions of up to settle_bytes from `offset` on, until there are `limit` of them (then up to 63 more).
template <Quotes quotes>
static inline size_t write_round(SeparatorBlocks<quotes>& blocks, size_t offset, size_t size, size_t limit,
                                 PositionTable& table) {
    const size_t round_end = size - offset > settle_bytes ? offset + settle_bytes : size;
    size_t count = table.count;
    uint64_t ends = table.ends;
    SeparatorBlocks<quotes> own = blocks;  // in registers
    for (; offset < round_end && count < limit; offset += 64) {
        const SeparatorMasks masks = own.at(offset);
        write_positions(masks.separators, uint32_t(offset), table.positions + count);
        count += popcount(masks.separators);
        ends += popcount(masks.ends);
    }
    blocks = own;
    table.count = count;
    table.ends = ends;
    return offset;
}

struct Settled {
    uint32_t rows;  // regular ones, at most as many as asked for
    bool suspect;  // the record after them is too long, or ends too early
    bool carriage_return;  // before the end of one of them
};

// The long way, for the round where the records cease to be regular: one position at a time.
static Settled settle_up_to_suspect(const uint8_t* data, uint8_t record_end, uint32_t fields, uint32_t most_rows,
                                    const PositionTable& table) {
    Settled settled = {0, false, false};
    uint32_t column = 0;
    for (size_t i = 0; i < table.count && settled.rows < most_rows; i++) {
        const uint32_t position = table.positions[i];
        const bool ends = data[position] == record_end;
        settled.suspect = ends != (++column == fields);
        if (settled.suspect) break;
        if (!ends) continue;
        column = 0;
        settled.rows++;
        settled.carriage_return |= data[position - (position != 0)] == '\r';
    }
    return settled;
}

static inline Settled settle(const uint8_t* data, uint8_t record_end, uint32_t fields, uint32_t most_rows,
                             const PositionTable& table) {
    const size_t whole = table.count / fields;
    const uint32_t rows = whole < most_rows ? uint32_t(whole) : most_rows;
    const uint32_t* last = table.positions + (fields - 1);
    unsigned differs = 0, carriage_return = 0;
    for (uint32_t row = 0; row < rows; row++, last += fields) {
        const uint32_t position = *last;
        differs |= data[position] ^ record_end;
        carriage_return |= data[position - (position != 0)] == '\r';
    }
    uint64_t ends = table.ends;
    if (rows == most_rows)  // the last block may hold more, of records nobody asks for: theirs do not count
        for (size_t i = size_t(rows) * fields; i < table.count; i++) ends -= data[table.positions[i]] == record_end;
    if (__builtin_expect(differs != 0 || ends != rows, 0))
        return settle_up_to_suspect(data, record_end, fields, most_rows, table);
    return {rows, false, carriage_return != 0};
}

template <Quotes quotes>
static bool index_all_stops(SeparatorBlocks<quotes>& blocks, const uint8_t* data, size_t size, uint8_t record_end,
                            const StopChoice& choice, CsvIndex& index) {
    PositionTable table = {index.stops, 0, 0};
    Settled settled = {0, false, false};
    for (size_t offset = 0; offset < size && index.rows < index.capacity_rows && !settled.suspect;) {
        const uint32_t rows_left = index.capacity_rows - index.rows;
        offset = write_round(blocks, offset, size, size_t(rows_left) * choice.fields, table);
        settled = settle(data, record_end, choice.fields, rows_left, table);
        const size_t entries = size_t(settled.rows) * choice.fields;
        table = {table.positions + entries, table.count - entries, table.ends - settled.rows};
        index.rows += settled.rows;
        index.saw_carriage_return |= settled.carriage_return;
    }
    if (index.rows > 0) index.consumed = size_t(table.positions[-1]) + 1;
    return settled.suspect;
}

constexpr uint32_t most_scratch_fields = 1024;

// Row after row with the columns in registers: as many loads and stores as there are stops, and nothing else.
template <uint32_t stop_count>
static inline void pick_rows(const uint32_t* table, const StopChoice& choice, uint32_t rows, uint32_t* out) {
    size_t columns[stop_count];
    for (uint32_t i = 0; i < stop_count; i++) columns[i] = choice.stops[i];
    for (uint32_t row = 0; row < rows; row++, table += choice.fields, out += stop_count)
        for (uint32_t i = 0; i < stop_count; i++) out[i] = table[columns[i]];
}

static inline void pick_columns(const uint32_t* table, const StopChoice& choice, uint32_t rows, uint32_t* out) {
    if (pick_in_registers(table, choice.fields, choice.stops, choice.stop_count, rows, out)) return;
    switch (choice.stop_count) {
        case 1: return pick_rows<1>(table, choice, rows, out);
        case 2: return pick_rows<2>(table, choice, rows, out);
        case 3: return pick_rows<3>(table, choice, rows, out);
        case 4: return pick_rows<4>(table, choice, rows, out);
        case 5: return pick_rows<5>(table, choice, rows, out);
        case 6: return pick_rows<6>(table, choice, rows, out);
        case 7: return pick_rows<7>(table, choice, rows, out);
        case 8: return pick_rows<8>(table, choice, rows, out);
        default: break;
    }
    // Many: a column at a time, because a loop of `rows` turns is predicted better than one of a few.
    const size_t fields = choice.fields, stop_count = choice.stop_count;
    for (size_t column = 0; column < stop_count; column++) {
        const uint32_t* from = table + choice.stops[column];
        uint32_t* to = out + column;
        for (uint32_t row = 0; row < rows; row++, from += fields, to += stop_count) *to = *from;
    }
}

// Goes on behind what is consumed, where a record begins outside quotes; the blocks do so, too.
template <Quotes quotes>
static bool index_then_pick(SeparatorBlocks<quotes>& blocks, const uint8_t* data, size_t size, uint8_t record_end,
                            const StopChoice& choice, CsvIndex& index) {
    alignas(64) uint32_t scratch[most_scratch_fields + settle_bytes + 64];  // an unfinished record, a round, the slack
    PositionTable table = {scratch, 0, 0};
    Settled settled = {0, false, false};
    uint32_t* out = index.stops + size_t(index.rows) * choice.stop_count;
    for (size_t offset = index.consumed; offset < size && index.rows < index.capacity_rows && !settled.suspect;) {
        const uint32_t rows_left = index.capacity_rows - index.rows;
        offset = write_round(blocks, offset, size, size_t(rows_left) * choice.fields, table);
        settled = settle(data, record_end, choice.fields, rows_left, table);
        const size_t entries = size_t(settled.rows) * choice.fields;
        pick_columns(scratch, choice, settled.rows, out);
        out += size_t(settled.rows) * choice.stop_count;
        table.count -= entries;
        table.ends -= settled.rows;
        std::memmove(scratch, scratch + entries, table.count * sizeof(uint32_t));
        index.rows += settled.rows;
        index.saw_carriage_return |= settled.carriage_return;
    }
    if (index.rows > 0) index.consumed = size_t(out[-1]) + 1;
    return settled.suspect;
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
