// What stands in each column of a sample. In: the sample from its first record of data on, a reading. Out: how many
// values of each kind a column has, with a place for each; date patterns, words, spellings; records of other widths.
// Refuses to know which type a column gets.
#pragma once

#include <string>
#include <vector>

#include "engine/sample/date_pattern.hpp"
#include "engine/sample/sample_scan.hpp"
#include "engine/sample/value_kind.hpp"

namespace formatter {

struct PatternTally {
    DatePattern pattern;
    uint64_t values = 0;
    uint64_t month_first = 0, day_first = 0;  // values of which the other number cannot be the month
    uint64_t place = 0;                       // byte of a first example
};

struct WordTally {
    std::string word;
    uint64_t values = 0;
};

struct ColumnTally {
    uint64_t kinds[VALUE_KINDS] = {};
    uint64_t places[VALUE_KINDS] = {};   // byte of the first value of that kind
    uint64_t records[VALUE_KINDS] = {};  // the record it stands in
    std::vector<PatternTally> patterns;  // a few; `other_patterns` counts the values of the rest
    uint64_t other_patterns = 0;
    std::vector<WordTally> words;        // a few different texts; `other_words` counts the values of the rest
    uint64_t other_words = 0;
    uint64_t spellings = 0;              // of booleans, as in ValueLook
    uint64_t markers = 0;                // null markers met, a bit for each
    uint64_t spaced = 0;                 // values with blanks around
    uint64_t quoted = 0;
    uint64_t fineness = 0;               // most digits of a fraction of seconds
    uint64_t digits = 0;                 // most digits of an integer
    uint64_t negative = 0;
};

struct WidthTally {
    uint32_t width;
    uint64_t records = 0;
    uint64_t first = 0;  // the first record of that width
};

struct TableTally {
    uint64_t records = 0;    // without blank lines, comments and repeats of the header
    uint64_t blank = 0, comments = 0, repeats = 0, damaged = 0;
    uint64_t used = 0;       // byte behind the last record
    uint64_t even = 0;       // records of the table's width
    std::vector<WidthTally> others;  // the other widths, most frequent first
    // Where the table ends if something else follows: the cut that leaves fewest uneven records before it and fewest
    // even ones behind it.
    uint64_t tail_first = 0, tail_uneven = 0, tail_begin = 0, head_uneven = 0;
    uint64_t first_damaged = QuoteEvidence::nowhere;  // byte
    QuoteEvidence quotes;
    std::vector<ColumnTally> columns;
};

struct TableExtent {
    size_t begin = 0;  // byte of the first record
    uint64_t records_most = 0;  // of these at most
    uint32_t width = 0;
    std::string header;  // records that repeat its bytes are no data
};

void tally_columns(const SampleReading&, const uint8_t* data, size_t size, bool whole, const TableExtent&, TableTally*);

}  // namespace formatter
