// Where the fields of CSV records lie: the choice between the ways, and what is said of the record that ends it.
//
// In: bytes that begin a record outside quotes, and which separators of a record are wanted. Out: their positions.
// Knows nothing of types or what a quote means inside a field. A record is decided at its end, whichever the
// way: an unfinished one is never irregular, however many fields it has already.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/separator_blocks.inl.hpp"
#include "kernels/csv_index_dense.inl.hpp"
#include "kernels/csv_index_rank.inl.hpp"
#include "kernels/csv_index_sparse.inl.hpp"
#include "kernels/quote_agreement.inl.hpp"
#include "kernels/quote_summary.inl.hpp"
#include "kernels/wide_separators.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

// Is there a record end in effect from `offset` on, where a record begins?
template <Quotes quotes>
static bool record_ends(const uint8_t* data, size_t size, size_t offset, const CsvBytes& bytes) {
    SeparatorBlocks<quotes> blocks(data + offset, size - offset, bytes);
    for (size_t ahead = 0; ahead < size - offset; ahead += 64)
        if (blocks.at(ahead).ends != 0) return true;
    return false;
}

constexpr size_t few_in_a_block = 4;  // separators, on average

enum class IndexWay { all_stops, then_pick, by_rank, skipping };

// Writing all costs about the same for every block that is full of separators, less for one with a few; skipping costs
// about a missed branch for every wanted stop: what counts is how many bytes there are to each. A look at the first few
// records tells; the rest is taken to be like them. Between the two, where blocks are full and a few are wanted of each,
// ranks cost less than positions.
template <Quotes quotes>
static IndexWay choose_way(const uint8_t* data, size_t size, const CsvBytes& bytes, const StopChoice& choice) {
    if (choice.stop_count == choice.fields) return IndexWay::all_stops;
    if (choice.fields > most_scratch_fields) return IndexWay::skipping;
    if (quotes == Quotes::wide) return IndexWay::then_pick;
    if (skip_from_bytes_per_stop == SIZE_MAX) return IndexWay::then_pick;
    const size_t look = size / 16 < settle_bytes ? size / 16 : settle_bytes;
    const size_t enough_records = 8;
    SeparatorBlocks<quotes> blocks(data, look, bytes);
    size_t offset = 0, records = 0, separators = 0;
    for (; offset < look && records < enough_records; offset += 64) {
        const SeparatorMasks masks = blocks.at(offset);
        records += popcount(masks.ends);
        separators += popcount(masks.separators);
    }
    const bool sparse = separators * 64 <= offset * few_in_a_block;
    const size_t enough_bytes = sparse ? skip_from_bytes_per_stop_if_sparse : skip_from_bytes_per_stop;
    if (offset >= records * choice.stop_count * enough_bytes) return IndexWay::skipping;
    const size_t wanted = records * choice.stop_count;
    const bool few_wanted = choice.stop_count <= most_rank_stops && wanted * rank_from_bytes_per_stop <= offset;
    return !sparse && few_wanted ? IndexWay::by_rank : IndexWay::then_pick;
}

template <Quotes quotes>
static void index_records(IndexWay way, const uint8_t* data, size_t size, const CsvBytes& bytes,
                          const StopChoice& choice, CsvIndex& index) {
    SeparatorBlocks<quotes> blocks(data, size, bytes);
    index.rows = 0;
    index.consumed = 0;
    index.saw_carriage_return = false;
    bool suspect = false;  // the record at `consumed` has not the fields it should, as far as it was seen
    switch (way) {
        case IndexWay::all_stops: suspect = index_all_stops(blocks, data, size, bytes.record_end, choice, index); break;
        case IndexWay::then_pick: suspect = index_then_pick(blocks, data, size, bytes.record_end, choice, index); break;
        case IndexWay::by_rank:
            if (!index_by_rank(blocks, data, size, bytes.record_end, choice, index)) {
                SeparatorBlocks<quotes> rest(data, size, bytes);
                suspect = index_then_pick(rest, data, size, bytes.record_end, choice, index);
            }
            break;
        case IndexWay::skipping: suspect = index_by_skipping(blocks, data, size, choice, index); break;
    }
    if (quotes == Quotes::wide && index.rows > 0) index.consumed += bytes.record_end_rest.count;
    if (index.rows == index.capacity_rows)
        index.end = IndexEnd::capacity;
    else if (suspect && record_ends<quotes>(data, size, index.consumed, bytes))
        index.end = IndexEnd::irregular;
    else
        index.end = IndexEnd::input;
}

template <Quotes quotes>
static void index_by_rule(const uint8_t* data, size_t size, const CsvBytes& bytes, const StopChoice& choice,
                          CsvIndex& index) {
    index_records<quotes>(choose_way<quotes>(data, size, bytes, choice), data, size, bytes, choice, index);
}

static void index_csv(const uint8_t* data, size_t size, const CsvBytes& bytes, const StopChoice& choice,
                      CsvIndex& index) {
    switch (quotes_of(bytes)) {
        case Quotes::none: return index_by_rule<Quotes::none>(data, size, bytes, choice, index);
        case Quotes::parity: return index_by_rule<Quotes::parity>(data, size, bytes, choice, index);
        case Quotes::lenient: return index_by_rule<Quotes::lenient>(data, size, bytes, choice, index);
        case Quotes::spaced: return index_by_rule<Quotes::spaced>(data, size, bytes, choice, index);
        case Quotes::sticky: return index_by_rule<Quotes::sticky>(data, size, bytes, choice, index);
        case Quotes::any: return index_by_rule<Quotes::any>(data, size, bytes, choice, index);
        case Quotes::wide: return index_by_rule<Quotes::wide>(data, size, bytes, choice, index);
    }
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
