// What decoders have in common that index records into a block and decode it a column at a time. In: where bytes stand, and
// what a decoder of its kind finds in them. Out: the block's way to rows: filtered, decoded, and once more without the
// records that cannot be read. Refuses to know formats.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "engine/columns/row_marks.hpp"
#include "engine/records/decode_options.hpp"
#include "engine/records/gathered_records.hpp"
#include "engine/records/record_decoder.hpp"
#include "engine/records/row_block.hpp"

namespace formatter {

constexpr size_t stretch_bytes =
    256 << 10;  // a block's bytes, stops and values stay in the second-level cache together
// What a look does not find an end in is looked at again, with so many times as much: of a long record little is seen twice.
constexpr size_t bolder = 4;

class BlockDecoder : public RecordDecoder {
  public:
    void place(const Place&) final;
    void materialize() final;
    uint64_t rows() const final { return columns_.rows() + block_.rows(); }
    uint64_t records_placed() const final { return records_; }
    bool fits(uint64_t bytes) const final { return indexed_bytes_ + bytes <= text_room_; }

  protected:
    // `tells_rejected`: whether findings of records that are dropped are wanted.
    BlockDecoder(const DecodeOptions&, bool tells_rejected, const std::vector<ColumnSpec>*, size_t stop_count);

    // The block's rows to columns: all that are not decoded yet.
    virtual void decode_columns() = 0;
    // Takes the rows out of the block that the filter says no to, and decodes what it likes. False if none is left.
    virtual bool filter_rows() = 0;
    // For the block's rows, which have so many bytes.
    virtual void make_room(uint64_t bytes) = 0;
    virtual uint64_t text_room() const { return columns_.text_room(); }
    // For decoders that keep more of a block than its rows and columns.
    virtual void begin_more() = 0;
    virtual void forget_more() {}
    virtual void compact_more(const std::vector<uint64_t>& keep) { (void)keep; }
    virtual uint64_t nulled_more() const { return 0; }
    virtual void end_block(uint64_t bytes) = 0;

    // What can be read around bytes that are to be indexed: more than those where they were cut from others.
    struct Readable {
        const uint8_t *begin = nullptr, *end = nullptr;
    };
    Readable readable_around(const uint8_t* data, size_t size) const {
        return readable_.begin ? readable_ : Readable{data, data + size};
    }
    PlacePosition here() const {
        return gathered_ ? gathered_->position_at(offset_) : PlacePosition{{place_.number, records_}, int64_t(offset_)};
    }
    // While it lives, what is indexed are records that were copied together, from that byte of the copy on. There was room for
    // them when they were, and they stay there until materialize().
    class Gathering {
      public:
        Gathering(BlockDecoder*, const GatheredRecords&, size_t from);
        ~Gathering();

      private:
        BlockDecoder* decoder_;
        const size_t offset_;
        const uint64_t records_;
        const Readable readable_;
    };
    // Whether the batch can take so many more bytes, the block's rows decoded first if need be. An empty one can.
    bool has_room(uint64_t bytes);
    void begin_attempt();
    void forget_attempt();
    void drop_marked(const std::vector<uint64_t>& dropped);

    // A value that cannot be read becomes null, or its row is dropped.
    struct Verdict {
        bool row_kept;
        bool told;  // a finding is wanted
    };
    Verdict judge(uint32_t row, size_t column, bool may_null, RowMarks* marks);

    // What of a row did not fit: the value of a column; of the rescue column itself: something that may have none.
    struct Misfit {
        uint32_t row, column;
        bool operator<(const Misfit& other) const { return row != other.row ? row < other.row : column < other.column; }
    };
    void note_misfit(uint32_t row, size_t column) {
        if (options_.rescue_column >= 0) misfits_.push_back({row, uint32_t(column)});
    }
    // The column of what is rescued, once all others are decoded: null but where rescue(row, misfits of the row, how many,
    // &text) leaves a text.
    template <typename Rescue>
    void write_rescued(size_t position, Rescue rescue) {
        Column& c = columns_.column(position);
        const bool large = has_large_offsets(columns_.specs()[position]);
        const uint64_t at = columns_.rows();
        const uint32_t rows = block_.rows();
        uint32_t next = 0;
        std::fill(marks_.valid.begin(), marks_.valid.begin() + (rows + 63) / 64, 0);
        std::sort(misfits_.begin(), misfits_.end());
        for (size_t i = 0, behind = 0; i < misfits_.size(); i = behind) {
            const uint32_t row = misfits_[i].row;
            while (behind < misfits_.size() && misfits_[behind].row == row) behind++;
            rescued_.clear();
            if (!has_bit(rejected_.data(), row)) rescue(row, &misfits_[i], behind - i, &rescued_);
            if (rescued_.empty()) continue;
            while (next < row) c.write_offset(large, at + next++);
            append_rescued(c, large);
            c.write_offset(large, at + next++);
            set_bit(marks_.valid.data(), row);
        }
        while (next < rows) c.write_offset(large, at + next++);
        columns_.write_validity(position, at, marks_.valid.data(), rows);
    }
    // Calls fail(row) for the block's texts that the column's check refuses; they were written behind the columns' rows.
    template <typename Fail>
    void check_texts(const ColumnSpec& spec, const Column& texts, Fail fail) {
        if (!spec.check) return;
        find_failed(*spec.check, texts);
        each_bit(failed_.data(), block_.rows(), fail);
    }
    // One finding a record: the leftmost bad value speaks for it, and one that cost the row before one that did not.
    // `is_right(other)`: the value stands left of the other's.
    template <typename IsRight>
    void note_value(uint32_t row, Finding&& finding, const PlacePosition& position, IsRight is_right) {
        size_t& noted = finding_of_row_[block_.original_row(row)];
        // What was noted in an attempt that was forgotten, or in another block, is of another record or there no more.
        if (noted >= findings_before_ && noted < findings.size() && findings[noted].at.record == position.record &&
            findings[noted].column >= 0) {
            FindingAt<PlacePosition>& other = findings[noted];
            const bool stronger = other.row_kept != finding.row_kept ? other.row_kept : is_right(other);
            if (stronger) other = {std::move(finding), position};
            return;
        }
        noted = findings.size();
        findings.emplace_back(std::move(finding), position);
    }

    const DecodeOptions& options_;
    const bool tells_rejected_;
    RowBlock block_;
    ColumnSet columns_;
    Place place_;
    size_t offset_ = 0;  // bytes past place_
    uint64_t records_ = 0;  // past place_
    Readable readable_;
    const GatheredRecords* gathered_ = nullptr;  // while they are indexed: the offset is one of their copy
    uint64_t indexed_bytes_ = 0;  // since the last materialize()
    uint64_t text_room_ = offsets_most;  // of the columns, at the last materialize()

    // Of one block.
    RowMarks marks_;  // of one column at a time
    std::vector<uint64_t> rejected_;  // a bit a row
    bool any_rejected_ = false;
    size_t findings_before_ = 0;
    std::vector<size_t>
        finding_of_row_;  // by the row's first number: where the finding of its record is, if it has one
    uint64_t nulled_ = 0;
    std::vector<Misfit> misfits_;

  private:
    void decode_block();
    void find_failed(const TextCheck&, const Column& texts);
    void append_rescued(Column&, bool large);

    std::vector<uint64_t> present_, failed_;
    std::string rescued_;
};

}  // namespace formatter
