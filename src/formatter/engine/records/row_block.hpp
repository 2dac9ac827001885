// Records that were indexed and wait to be decoded, possibly from many buffers; kernels/row_view.hpp has the layout. In:
// stops, and where they stand. Out: views of fields, and where a row came from. Refuses to know what a field means.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "engine/columns/buffer_pool.hpp"
#include "engine/records/gathered_records.hpp"
#include "engine/records/record_decoder.hpp"
#include "kernels/row_view.hpp"

namespace formatter {

struct Rewritten {  // a record that was padded or cut to the arity it should have
    uint32_t row;
    uint32_t fields;  // it had
    const uint8_t* original;  // its bytes without the record end, kept with the block
    size_t original_size;
    std::vector<uint32_t> separators;  // in it, where somebody wants them: what ends each field
};

class RowBlock {
  public:
    RowBlock(uint32_t stop_count, uint32_t row_capacity);

    uint32_t rows() const { return rows_; }
    uint32_t room() const { return capacity_ - rows_; }
    uint32_t capacity_bound() const { return most_rows_; }
    bool empty() const { return rows_ == 0; }
    uint32_t stride() const { return stride_; }
    uint32_t stop_count() const { return stop_count_; }

    // Starts a segment whose first record begins at `base`; a record's separator is `separator` bytes long, which the
    // sentinel mimics. Returns where entry 0 of the first row is to be written.
    // Loads may touch [readable_begin, readable_end). `at_base` is where the first record stands.
    uint32_t* open_segment(const uint8_t* base, const uint8_t* readable_begin, const uint8_t* readable_end,
                           uint32_t separator, const PlacePosition& at_base);
    // `rows` more records were written behind the returned pointer.
    void add_rows(uint32_t rows);
    uint32_t* next_stops() { return stops_.as<uint32_t>() + used_; }

    // Bytes kept alive until clear(): for records that had to be rewritten.
    uint8_t* keep_bytes(size_t size);

    void clear();
    // The block counts as full when it has so many rows, until it is cleared.
    void stop_at(uint32_t rows) { capacity_ = rows < capacity_ ? rows : capacity_; }
    // Keeps only the rows whose bit is set. Afterwards every row carries its own sentinel.
    void compact(const uint64_t* keep);

    FieldView view(int32_t begin_stop, int32_t end_stop, uint32_t begin_skip, bool drop_carriage_return) const;

    struct Location {
        const Segment* segment;
        const uint32_t* stops;  // entry 0 of the row
        PlaceRecord record;
        int64_t base_bytes;  // where the segment's base stands past that place
        PlacePosition position(const uint8_t* at) const { return {record, base_bytes + (at - segment->base)}; }
    };
    Location locate(uint32_t row) const;
    // The records of all rows, in order.
    void append_records(std::vector<RecordRun>* out) const;
    // Row number before any compaction.
    uint32_t original_row(uint32_t row) const { return original_.empty() ? row : original_[row]; }

    // What segments opened from now on are of, if their bytes are in that copy.
    const GatheredRecords* gathered = nullptr;
    std::vector<Rewritten> rewritten;  // by row
    // The rewritten record behind a row as it is numbered now, or null.
    const Rewritten* rewritten_at(uint32_t row) const;
    // Calls visit(row, record) for each that is left.
    template <typename Visit>
    void each_rewritten(Visit visit) const {
        for (const Rewritten& record : rewritten) {
            const auto found = std::lower_bound(original_.begin(), original_.end(), record.row);
            if (original_.empty())
                visit(record.row, record);
            else if (found != original_.end() && *found == record.row)
                visit(uint32_t(found - original_.begin()), record);
        }
    }

  private:
    uint32_t stop_count_;
    uint32_t stride_;
    uint32_t most_rows_;
    uint32_t capacity_;  // shrinks when sentinels have eaten the room
    uint32_t rows_ = 0;
    size_t used_ = 0;
    size_t allocated_;
    PoolBuffer stops_, spare_;  // warm ones: every reading of an input makes a block anew
    struct Source {  // of a segment
        PlacePosition at_base;
        uint32_t first_row;  // before any compaction
        const GatheredRecords* gathered;
        size_t first_gathered;  // the first row's record among them
    };
    uint32_t row_of(const Source& source, uint32_t row) const { return original_row(row) - source.first_row; }
    PlaceRecord record_of(const Source&, uint32_t row) const;

    std::vector<Segment> segments_;
    std::vector<Source> sources_;
    std::vector<uint32_t> original_;
    std::vector<std::unique_ptr<uint8_t[]>> kept_bytes_;
};

}  // namespace formatter
