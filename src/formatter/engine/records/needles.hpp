// What the bytes of a record must hold if a filter may keep it. In: a filter, and how a format spells values. Out: needles,
// and whether a record holds them. Refuses to know where records end.
//
// A record can pass only if one of the filter's alternatives can, and that only if the record holds a needle of each of its
// clauses that has any. Whether it does is decided by its own bytes alone, so that no cut, order or kernel shows.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/columns/row_filter.hpp"
#include "kernels/kernel.hpp"

namespace formatter {

struct Needle {
    std::string bytes;
    bool number = false;  // as NeedleBytes has it
};

struct ClauseNeedles {
    std::vector<Needle> any_of;
    bool escapes = false;  // any text with a backslash in it may be meant
    bool exponents = false;  // any number with an exponent
};

// How a format writes the values that filters ask for. `text` returns false if it may be written in ways that no needle finds.
struct NeedleSpelling {
    std::function<bool(const ColumnSpec&, Compare, const std::string& text, ClauseNeedles*)> text;
    bool number_alone = true;  // digits beside a number are part of it: nothing that separates is one
    bool exponents = false;
};

class RecordNeedles {
  public:
    // Null if the filter may keep any record. `column(i)`: of the filter's columns; null: one that no needle finds.
    static std::shared_ptr<const RecordNeedles> of_filter(const RowFilter&, const NeedleSpelling&, const CsvBytes&,
                                                          BlankLines,
                                                          const std::function<const ColumnSpec*(uint32_t)>& column);

    // An OR of ANDs, none of which is empty.
    const std::vector<std::vector<ClauseNeedles>>& any_of() const { return any_of_; }
    const CsvBytes& bytes() const { return bytes_; }  // that records end by: the strict rule for quotes, or none
    BlankLines blank() const { return blank_; }
    // Of a record, with or without its end.
    bool are_in(const uint8_t* data, size_t size) const;
    // A needle of one clause of each alternative is all there is to find.
    bool one_is_enough() const { return one_is_enough_; }
    // Of a line without its end.
    bool is_blank(const uint8_t* data, size_t size) const;

  private:
    std::vector<std::vector<ClauseNeedles>> any_of_;
    CsvBytes bytes_;
    BlankLines blank_ = BlankLines::records;
    bool one_is_enough_ = true;
};

}  // namespace formatter
