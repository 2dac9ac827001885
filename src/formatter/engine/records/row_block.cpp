#include "engine/records/row_block.hpp"

#include <algorithm>
#include <cstring>

namespace formatter {

namespace {
constexpr size_t kernel_slack = 64;     // index kernels may overwrite this many entries
constexpr size_t segment_room = 4096;   // sentinels; when they run out the block counts as full
}  // namespace

RowBlock::RowBlock(uint32_t stop_count, uint32_t row_capacity)
    : stop_count_(stop_count), stride_(stop_count), most_rows_(row_capacity), capacity_(row_capacity) {
    allocated_ = size_t(row_capacity) * (stop_count + 1) + segment_room + kernel_slack;
    stops_.reserve(allocated_ * sizeof(uint32_t), 0);
}

uint32_t* RowBlock::open_segment(const uint8_t* base, const uint8_t* readable_begin, const uint8_t* readable_end,
                                 uint32_t separator, const PlacePosition& at_base) {
    if (!segments_.empty() && segments_.back().rows == 0) {  // an empty one leaves no trace
        segments_.pop_back();
        sources_.pop_back();
        used_--;
    }
    stops_.as<uint32_t>()[used_++] = 0u - separator;
    segments_.push_back(Segment{base, readable_begin, readable_end, used_, 0});
    const bool is_copy = gathered && base >= gathered->data() && base < gathered->data() + gathered->size();
    if (is_copy)
        sources_.push_back({at_base, rows_, gathered, gathered->record_at(size_t(base - gathered->data()))});
    else
        sources_.push_back({at_base, rows_, nullptr, 0});
    return stops_.as<uint32_t>() + used_;
}

void RowBlock::add_rows(uint32_t rows) {
    segments_.back().rows += rows;
    rows_ += rows;
    used_ += size_t(rows) * stop_count_;
    if (allocated_ - kernel_slack - used_ < size_t(room()) * stop_count_ + 8) capacity_ = rows_;
}

uint8_t* RowBlock::keep_bytes(size_t size) {
    kept_bytes_.push_back(std::unique_ptr<uint8_t[]>(new uint8_t[size]));
    return kept_bytes_.back().get();
}

void RowBlock::clear() {
    if (stride_ != stop_count_) stride_ = stop_count_;
    capacity_ = most_rows_;
    rows_ = 0;
    used_ = 0;
    segments_.clear();
    sources_.clear();
    original_.clear();
    kept_bytes_.clear();
    rewritten.clear();
}

void RowBlock::compact(const uint64_t* keep) {
    spare_.reserve(allocated_ * sizeof(uint32_t), 0);
    const uint32_t entries = stop_count_ + 1;
    std::vector<uint32_t> original;
    size_t used = 0;
    uint32_t row = 0, kept = 0;
    for (Segment& s : segments_) {
        const uint32_t* stops = stops_.as<uint32_t>() + s.first_stop - 1;  // begin entry, then the row's stops
        const size_t first = used + 1;
        uint32_t kept_here = 0;
        for (uint32_t i = 0; i < s.rows; i++, row++, stops += stride_) {
            if (!(keep[row / 64] >> (row % 64) & 1)) continue;
            std::memcpy(spare_.as<uint32_t>() + used, stops, entries * sizeof(uint32_t));
            used += entries;
            kept_here++;
            original.push_back(original_row(row));
        }
        s.first_stop = first;
        s.rows = kept_here;
        kept += kept_here;
    }
    std::swap(stops_, spare_);
    original_.swap(original);
    stride_ = entries;
    used_ = used;
    rows_ = kept;
    capacity_ = kept;
}

FieldView RowBlock::view(int32_t begin_stop, int32_t end_stop, uint32_t begin_skip, bool drop_carriage_return) const {
    return FieldView{
        segments_.data(),    segments_.size(), stops_.as<uint32_t>(), stride_, begin_stop, end_stop, begin_skip, rows_,
        drop_carriage_return};
}

const Rewritten* RowBlock::rewritten_at(uint32_t row) const {
    const uint32_t original = original_row(row);
    const auto found = std::lower_bound(rewritten.begin(), rewritten.end(), original,
                                        [](const Rewritten& r, uint32_t wanted) { return r.row < wanted; });
    return found != rewritten.end() && found->row == original ? &*found : nullptr;
}

PlaceRecord RowBlock::record_of(const Source& source, uint32_t row) const {
    if (source.gathered) return source.gathered->place_of(source.first_gathered + row_of(source, row));
    const PlaceRecord& first = source.at_base.record;
    return {first.place, first.records + row_of(source, row)};
}

void RowBlock::append_records(std::vector<RecordRun>* out) const {
    uint32_t row = 0;
    for (size_t s = 0; s < segments_.size(); s++) {
        const uint32_t end = row + segments_[s].rows;
        while (row < end) {
            const uint32_t first = row;
            if (sources_[s].gathered)
                row++;
            else if (original_.empty())
                row = end;
            else
                while (++row < end && original_[row] == original_[first] + (row - first)) {}
            out->push_back({record_of(sources_[s], first), row - first});
        }
    }
}

RowBlock::Location RowBlock::locate(uint32_t row) const {
    size_t s = 0;
    uint32_t before = 0;
    for (; row - before >= segments_[s].rows; s++) before += segments_[s].rows;
    const Source& source = sources_[s];
    int64_t base_bytes = source.at_base.bytes;
    if (source.gathered)
        base_bytes = source.gathered->shift_of(source.first_gathered + row_of(source, row)) +
                     (segments_[s].base - source.gathered->data());
    return {&segments_[s], stops_.as<uint32_t>() + segments_[s].first_stop + size_t(row - before) * stride_,
            record_of(source, row), base_bytes};
}

}  // namespace formatter
