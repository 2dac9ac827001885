// How well a reading explains a sample. In: the sample's first bytes, a reading. Out: how many records have the width
// of its table, what their fields look like, where quotes went astray. Refuses to know which reading wins.
#pragma once

#include <type_traits>
#include <vector>

#include "engine/sample/sample_scan.hpp"

namespace formatter {

// Numbers alone: the binding copies them where nothing may be thrown.
struct DialectCounts {
    uint64_t records = 0;  // without blank lines and comments
    uint64_t bytes = 0;  // of these
    uint64_t blank = 0, comments = 0;
    uint64_t used = 0;  // bytes looked at
    uint32_t width = 0;  // fields of a record of the table
    uint64_t table_first = 0;  // its first record
    uint64_t table_records = 0;  // records of that width
    uint64_t table_bytes = 0;
    uint64_t cells = 0;  // of the table
    uint64_t grades = 0;  // their sum; BEST_GRADE each at best
    uint64_t typed = 0;  // cells that are numbers, times, words for true and false
    uint64_t empty = 0;
    bool last_always_empty = false;  // records of the table end with a delimiter
    QuoteEvidence quotes;
};
static_assert(std::is_trivially_copyable_v<DialectCounts>);

struct DialectTally : DialectCounts {
    std::vector<uint64_t> inside_typed;  // how often each byte stands in a value that is typed as a whole
    std::vector<uint64_t> inside_text;
    std::vector<uint32_t> widths;  // of the records, in order
};

void tally_dialect(const SampleReading&, const uint8_t* data, size_t size, bool whole, uint64_t records_most,
                   DialectTally* out);

}  // namespace formatter
