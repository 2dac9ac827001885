// Where the fields of CSV records lie: the choice between the two ways, and what is said of the record that ends it.
//
// In: bytes that begin a record outside quotes, and which separators of a record are wanted. Out: their positions.
// Knows nothing of types, escapes or what a quote means inside a field. A record is decided at its end, whichever the
// way: an unfinished one is never irregular, however many fields it has already.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/separator_blocks.inl.hpp"
#include "kernels/csv_index_dense.inl.hpp"
#include "kernels/csv_index_sparse.inl.hpp"
#include "kernels/quote_summary.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

// Is there a record end in effect from `offset` on, where a record begins?
template <bool quoting>
static bool record_ends(const uint8_t* data, size_t size, size_t offset, const CsvBytes& bytes) {
    SeparatorBlocks<quoting> blocks(data + offset, size - offset, bytes);
    for (size_t ahead = 0; ahead < size - offset; ahead += 64)
        if (blocks.at(ahead).ends != 0) return true;
    return false;
}

template <bool quoting>
static void index_records(const uint8_t* data, size_t size, const CsvBytes& bytes, const StopPlan& plan, CsvIndex& index) {
    SeparatorBlocks<quoting> blocks(data, size, bytes);
    bool suspect;  // the record at `consumed` has not the fields it should, as far as it was seen
    if (plan.stop_count == plan.fields)
        suspect = index_all_stops(blocks, data, size, bytes.record_end, plan, index);
    else if (worth_writing_all(plan))
        suspect = index_all_then_pick(blocks, data, size, bytes.record_end, plan, index);
    else
        suspect = index_by_skipping(blocks, data, size, plan, index);
    if (index.rows == index.capacity_rows)
        index.end = IndexEnd::capacity;
    else if (suspect && record_ends<quoting>(data, size, index.consumed, bytes))
        index.end = IndexEnd::irregular;
    else
        index.end = IndexEnd::input;
    index.saw_quote = blocks.first_quote() < index.consumed;
}

static void index_csv(const uint8_t* data, size_t size, const CsvBytes& bytes, const StopPlan& plan, CsvIndex& index) {
    index.rows = 0;
    index.consumed = 0;
    index.saw_carriage_return = false;
    if (bytes.quoting)
        index_records<true>(data, size, bytes, plan, index);
    else
        index_records<false>(data, size, bytes, plan, index);
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
