#include "engine/records/block_decoder.hpp"

#include <cstring>

namespace formatter {
namespace {

constexpr size_t block_entries = 64 << 10;
constexpr uint64_t rescued_growth = 8;  // of text that is rescued, by escapes and names
constexpr size_t block_rows_least = 64, block_rows_most = 2048;

}  // namespace

BlockDecoder::BlockDecoder(const DecodeOptions& options, bool tells_rejected, const std::vector<ColumnSpec>* specs,
                           size_t stop_count)
    : options_(options),
      tells_rejected_(tells_rejected),
      block_(uint32_t(stop_count),
             uint32_t(std::clamp(block_entries / std::max<size_t>(stop_count, 1), block_rows_least, block_rows_most))),
      columns_(specs) {}

void BlockDecoder::place(const Place& at) {
    place_ = at;
    offset_ = 0;
    records_ = 0;
}

bool BlockDecoder::has_room(uint64_t bytes) {
    if (gathered_ || fits(bytes)) return true;
    materialize();
    if (columns_.rows() != 0) return fits(bytes);
    columns_.forget_dictionaries();
    text_room_ = offsets_most;
    return true;
}

BlockDecoder::Gathering::Gathering(BlockDecoder* decoder, const GatheredRecords& records, size_t from)
    : decoder_(decoder), offset_(decoder->offset_), records_(decoder->records_), readable_(decoder->readable_) {
    decoder->offset_ = from;
    decoder->readable_ = {records.data(), records.readable_end()};
    decoder->gathered_ = decoder->block_.gathered = &records;
}

BlockDecoder::Gathering::~Gathering() {
    decoder_->offset_ = offset_;
    decoder_->records_ = records_;
    decoder_->readable_ = readable_;
    decoder_->gathered_ = decoder_->block_.gathered = nullptr;
}

void BlockDecoder::begin_attempt() {
    rejected_.assign((block_.rows() + 63) / 64 + 1, 0);
    any_rejected_ = false;
    nulled_ = 0;
    misfits_.clear();
    columns_.begin_rows();
    begin_more();
}

void BlockDecoder::forget_attempt() {
    columns_.forget_rows();
    forget_more();
}

void BlockDecoder::drop_marked(const std::vector<uint64_t>& dropped) {
    std::vector<uint64_t> keep(dropped.size());
    for (size_t w = 0; w < keep.size(); w++) keep[w] = ~dropped[w];
    forget_attempt();
    block_.compact(keep.data());
    compact_more(keep);
    begin_attempt();
}

void BlockDecoder::materialize() {
    const uint64_t bytes = indexed_bytes_;
    indexed_bytes_ = 0;
    if (!block_.empty()) {
        make_room(std::max<uint64_t>(bytes, 1));
        decode_block();
        text_room_ = text_room() / (options_.rescue_column < 0 ? 1 : rescued_growth);
    }
    block_.clear();
    end_block(bytes);
}

void BlockDecoder::decode_block() {
    counters.records += block_.rows();
    marks_.make_room(block_.capacity_bound());
    finding_of_row_.resize(block_.capacity_bound());
    findings_before_ = findings.size();
    begin_attempt();
    if (options_.filter.active() && !filter_rows()) return forget_attempt();
    decode_columns();
    if (any_rejected_) {
        counters.rejected += count_bits(rejected_.data(), block_.rows());
        drop_marked(rejected_);
        if (!block_.empty()) decode_columns();
    }
    counters.nulled += nulled_ + nulled_more();
    counters.rows += block_.rows();
    if (row_records) block_.append_records(row_records);
    columns_.commit_rows(block_.rows());
}

void BlockDecoder::find_failed(const TextCheck& check, const Column& texts) {
    const size_t words = (block_.rows() + 63) / 64;
    present_.resize(words);
    failed_.assign(words, 0);
    for (size_t w = 0; w < words; w++) present_[w] = marks_.valid[w] & ~rejected_[w];
    check.check({block_.rows(), texts.values.as<int32_t>() + columns_.rows(), texts.text.data(), present_.data()},
                failed_.data());
    for (size_t w = 0; w < words; w++) failed_[w] &= present_[w];
}

// Names that are much longer than what they name can outgrow any guess.
void BlockDecoder::append_rescued(Column& c, bool large) {
    const uint64_t size = rescued_.size();
    if (!large && c.text_bytes + size >= offsets_most) out_of_memory();
    c.text.reserve(c.text_bytes + size + 64, c.text_bytes);
    std::memcpy(c.text.data() + c.text_bytes, rescued_.data(), size);
    c.text_bytes += size;
}

BlockDecoder::Verdict BlockDecoder::judge(uint32_t row, size_t column, bool may_null, RowMarks* marks) {
    if (options_.nulls_misfits() && may_null) {
        if (marks) clear_bit(marks->valid.data(), row);
        if (options_.rescues) return note_misfit(row, column), Verdict{true, false};
        nulled_++;
        return {true, options_.note_nulled};
    }
    set_bit(rejected_.data(), row);
    any_rejected_ = true;
    return {false, tells_rejected_};
}

}  // namespace formatter
