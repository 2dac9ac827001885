// Where the parts of nested values stand, row after row, for the loops over columns. A space holds the rows of one
// list's items, or those of the records. In: one row at a time. Out: what RowBlock gives for records: views of fields.
// Refuses to know what stands there.
//
// A row's entries: begin and end of each leaf's value, relative to its segment; then, for each structure and list, what it
// is (absent, present, null); then, for each list, how many items lie up to and with this row in the list's own space.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "kernels/row_view.hpp"

namespace formatter {

class JsonSpace {
  public:
    enum Mark : uint32_t { absent, present, null };

    struct List {
        uint32_t entry;  // of the count of items
        uint32_t space;
    };

    uint32_t add_leaf() { return leaves_ += 2, leaves_ - 2; }
    uint32_t add_mark() { return marks_++; }
    uint32_t add_list(uint32_t space) { return lists_.push_back({0, space}), uint32_t(lists_.size()) - 1; }
    // Once all are added: entries of marks and lists begin behind the leaves.
    void lay_out();
    uint32_t mark_entry(uint32_t mark) const { return leaves_ + mark; }
    uint32_t list_entry(uint32_t list) const { return leaves_ + marks_ + list; }

    void open_segment(const uint8_t* base, const uint8_t* readable_begin, const uint8_t* readable_end);
    // A row more, in which all is absent: leaves lie at `line_end`. Valid until the next one.
    uint32_t* add_row(uint32_t line_end, const std::vector<JsonSpace>& spaces) {
        if (rows_ == capacity_) grow();
        uint32_t* row = entries_.get() + size_t(rows_) * stride_;
        // Four at once, over the end if need be: what follows is written next, or is room to spare.
        typedef uint32_t Four __attribute__((vector_size(16)));
        const Four missing = {line_end, line_end, line_end, line_end}, none = {absent, absent, absent, absent};
        for (uint32_t i = 0; i < leaves_; i += 4) std::memcpy(row + i, &missing, sizeof missing);
        for (uint32_t i = leaves_; i < stride_; i += 4) std::memcpy(row + i, &none, sizeof none);
        for (const List& list : lists_) row[list.entry] = spaces[list.space].rows_;
        rows_++;
        segments_.back().rows++;
        return row;
    }
    // The same where a row is nothing but a leaf.
    uint32_t* add_leaf_row(uint32_t line_end) {
        if (rows_ == capacity_) grow();
        uint32_t* const row = entries_.get() + size_t(rows_++) * 2;
        row[0] = row[1] = line_end;
        segments_.back().rows++;
        return row;
    }
    uint32_t rows() const { return rows_; }
    void drop_rows(uint32_t rows);  // from the end
    void clear();
    // Keeps rows whose bit is set, and their items, in all spaces below.
    void compact(const std::vector<uint64_t>& keep, std::vector<JsonSpace>& spaces);

    FieldView view(uint32_t entry) const;
    const uint32_t* row(uint32_t i) const { return entries_.get() + size_t(i) * stride_; }
    uint32_t stride() const { return stride_; }
    const std::vector<Segment>& segments() const { return segments_; }

  private:
    void grow();

    uint32_t leaves_ = 0, marks_ = 0, stride_ = 0;
    std::vector<List> lists_;
    std::vector<Segment> segments_;
    std::unique_ptr<uint32_t[]> entries_;
    uint32_t rows_ = 0, capacity_ = 0;
};

}  // namespace formatter
