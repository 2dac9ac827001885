#include "engine/json/json_spaces.hpp"

#include <algorithm>
#include <cstring>

namespace formatter {

void JsonSpace::lay_out() {
    stride_ = leaves_ + marks_ + uint32_t(lists_.size());
    for (size_t i = 0; i < lists_.size(); i++) lists_[i].entry = list_entry(uint32_t(i));
}

void JsonSpace::grow() {
    capacity_ = std::max<uint32_t>(256, 2 * capacity_);
    std::unique_ptr<uint32_t[]> larger(new uint32_t[size_t(capacity_) * stride_ + 4]);
    if (rows_) std::memcpy(larger.get(), entries_.get(), size_t(rows_) * stride_ * sizeof(uint32_t));
    entries_.swap(larger);
}

void JsonSpace::open_segment(const uint8_t* base, const uint8_t* readable_begin, const uint8_t* readable_end) {
    if (!segments_.empty() && segments_.back().rows == 0) segments_.pop_back();
    segments_.push_back(Segment{base, readable_begin, readable_end, size_t(rows_) * stride_, 0});
}

void JsonSpace::drop_rows(uint32_t rows) {
    rows_ -= rows;
    segments_.back().rows -= rows;
}

void JsonSpace::clear() {
    rows_ = 0;
    segments_.clear();
}

void JsonSpace::compact(const std::vector<uint64_t>& keep, std::vector<JsonSpace>& spaces) {
    const auto kept = [&keep](uint32_t row) { return keep[row / 64] >> row % 64 & 1; };
    for (const List& list : lists_) {
        std::vector<uint64_t> items(spaces[list.space].rows() / 64 + 1);
        uint32_t item = 0, count = 0;
        for (uint32_t r = 0; r < rows_; r++) {
            uint32_t& end = entries_[size_t(r) * stride_ + list.entry];
            for (; item < end; item++) {
                items[item / 64] |= uint64_t(kept(r)) << item % 64;
                count += kept(r);
            }
            end = count;
        }
        spaces[list.space].compact(items, spaces);
    }
    uint32_t from = 0, to = 0;
    for (Segment& segment : segments_) {
        segment.first_stop = size_t(to) * stride_;
        uint32_t here = 0;
        for (uint32_t i = 0; i < segment.rows; i++, from++) {
            if (!kept(from)) continue;
            if (from != to)
                std::memcpy(&entries_[size_t(to) * stride_], &entries_[size_t(from) * stride_],
                            stride_ * sizeof(uint32_t));
            to++;
            here++;
        }
        segment.rows = here;
    }
    rows_ = to;
}

FieldView JsonSpace::view(uint32_t entry) const {
    return FieldView{segments_.data(),
                     segments_.size(),
                     entries_.get(),
                     stride_,
                     int32_t(entry),
                     int32_t(entry + 1),
                     0,
                     rows_,
                     false};
}

}  // namespace formatter
