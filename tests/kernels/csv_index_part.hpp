// The CSV index of one CPU by itself, so that it can be tried without the rest of a kernel.
#pragma once

#include "kernels/kernel.hpp"

struct CsvIndexPart {
    const char* name;
    bool (*supported)();
    decltype(formatter::Kernel::index_csv) index_csv;
    // The ways it chooses from, each by itself. The first two are for at most `most_scratch_fields` fields, the second
    // for at most `most_rank_stops` stops.
    decltype(formatter::Kernel::index_csv) index_csv_then_pick;
    decltype(formatter::Kernel::index_csv) index_csv_by_rank;
    decltype(formatter::Kernel::index_csv) index_csv_by_skipping;
    uint32_t most_scratch_fields;
    uint32_t most_rank_stops;
    decltype(formatter::Kernel::summarize_quotes) summarize_quotes;
    decltype(formatter::Kernel::count_byte) count_byte;
    decltype(formatter::Kernel::follow_quotes) follow_quotes;
    decltype(formatter::Kernel::agree_on_quotes) agree_on_quotes;
};

#if defined(__x86_64__)
#define CSV_INDEX_PARTS(each) each(avx512) each(avx2) each(sse42) each(scalar)
#elif defined(__aarch64__)
#define CSV_INDEX_PARTS(each) each(neon) each(scalar)
#else
#define CSV_INDEX_PARTS(each) each(scalar)
#endif

#define CSV_INDEX_DECLARE(isa) extern const CsvIndexPart csv_index_part_##isa;
CSV_INDEX_PARTS(CSV_INDEX_DECLARE)
#define CSV_INDEX_ADDRESS(isa) &csv_index_part_##isa,
static const CsvIndexPart* const csv_index_parts[] = {CSV_INDEX_PARTS(CSV_INDEX_ADDRESS)};
