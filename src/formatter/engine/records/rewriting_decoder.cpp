#include "engine/records/rewriting_decoder.hpp"

#include <algorithm>

namespace formatter {
namespace {

constexpr size_t slice_bytes = 128 << 10;  // source, text and values stay in the second-level cache together
constexpr size_t few_rows_bytes = 4 << 10;
constexpr uint64_t few_rows = 16;
constexpr size_t kept_most = 512 << 10;

}  // namespace

RewritingDecoder::RewritingDecoder(std::shared_ptr<const Rewriter> rewriter, std::unique_ptr<RecordDecoder> inner)
    : rewriter_(std::move(rewriter)), inner_(std::move(inner)) {
    values_decoded.assign(inner_->values_decoded.size(), 0);
}

void RewritingDecoder::place(const Place& at) {
    place_ = at;
    inner_->row_records = row_records;
    source_at_ = at.byte_offset;
    records_ = 0;
}

uint8_t* RewritingDecoder::room_for(size_t size) {
    if (kept_bytes_ > kept_most) materialize();
    if (kept_bytes_ || spare_size_ < size || texts_.empty()) {
        if (!kept_bytes_) texts_.clear();
        texts_.emplace_back(new uint8_t[size]);
        spare_size_ = size;
    }
    return texts_.back().get();
}

// Rows refer to their text until they are decoded, errors to their marks until they are placed.
void RewritingDecoder::materialize() {
    inner_->materialize();
    take_findings();
    if (texts_.size() > 1) texts_.erase(texts_.begin(), texts_.end() - 1);
    kept_bytes_ = 0;
    marks_.clear();
    text_at_ = 0;
}

RewrittenText RewritingDecoder::rewrite(const uint8_t* data, size_t size, bool final, uint8_t* text) {
    const RewriteSource source{data, size, place_.stream_start, final, source_at_, text_at_};
    const RewrittenText result = rewriter_->rewrite(source, text, &marks_);
    inner_->place(Place{place_.sequence, text_at_, place_.record + records_, place_.stream_start});
    return result;
}

size_t RewritingDecoder::index(const uint8_t* data, size_t size, uint64_t row_limit) {
    size_t done = 0;
    size_t slice = row_limit < few_rows ? few_rows_bytes : slice_bytes;
    while (done < size && row_limit > 0) {
        const size_t look = std::min(size - done, slice);
        uint8_t* text = room_for(rewriter_->most_text(look));
        const size_t marks_before = marks_.size();
        const RewrittenText rewritten = rewrite(data + done, look, false, text);
        const size_t used = rewritten.size ? inner_->index(text, rewritten.size, row_limit) : 0;
        if (used == 0) {  // no record ends in the slice
            marks_.resize(marks_before);
            if (look == size - done) break;
            slice *= 4;
            continue;
        }
        const int64_t next = source_of(text_at_ + int64_t(used));
        const uint64_t records = inner_->records_placed();
        records_ += records;
        row_limit -= std::min(records, row_limit);
        done += size_t(next - source_at_);
        source_at_ = next;
        place_.stream_start = false;
        kept_bytes_ += rewritten.size;
        text_at_ += int64_t(rewritten.size) + 1;
        take_findings();
    }
    return done;
}

void RewritingDecoder::index_unterminated(const uint8_t* data, size_t size) {
    uint8_t* text = room_for(rewriter_->most_text(size));
    const RewrittenText rewritten = rewrite(data, size, true, text);
    if (!rewriter_->ends_records())
        inner_->index_unterminated(text, rewritten.size);
    else if (rewritten.size)
        inner_->index(text, rewritten.size, ~uint64_t(0));
    records_ += inner_->records_placed();
    kept_bytes_ += rewritten.size;
    text_at_ += int64_t(rewritten.size) + 1;
    if (rewritten.problem != ErrorCode::none) reject(rewritten.problem, data, size, rewritten.problem_at);
    place_.stream_start = false;
    take_findings();
}

// Of the end of some text: that of the stretch it ends, not the beginning of the next.
int64_t RewritingDecoder::source_of(int64_t text_at) const {
    auto mark = std::lower_bound(marks_.begin(), marks_.end(), text_at,
                                 [](const TextMark& m, int64_t wanted) { return m.text_at < wanted; });
    --mark;
    const uint64_t size = rewriter_->source_size(mark->text, size_t(text_at - mark->text_at));
    return std::min(mark->source_at + int64_t(size), mark->source_end);
}

void RewritingDecoder::take_findings() {
    for (RowError& error : inner_->errors) {
        auto mark = std::upper_bound(marks_.begin(), marks_.end(), error.byte_offset,
                                     [](int64_t wanted, const TextMark& m) { return wanted < m.text_at; });
        --mark;
        const size_t before = size_t(error.byte_offset - mark->text_at);
        error.byte_offset =
            std::min(mark->source_at + int64_t(rewriter_->source_size(mark->text, before)), mark->source_end);
        if (mark->is_record) error.record_end = mark->source_end;
        errors.push_back(std::move(error));
    }
    inner_->errors.clear();
    DecodeCounters& found = inner_->counters;
    counters.records += found.records;
    counters.rows += found.rows;
    counters.filtered += found.filtered;
    counters.rejected += found.rejected;
    counters.nulled += found.nulled;
    found = DecodeCounters{};
    for (size_t i = 0; i < values_decoded.size(); i++) {
        values_decoded[i] += inner_->values_decoded[i];
        inner_->values_decoded[i] = 0;
    }
}

void RewritingDecoder::reject(ErrorCode code, const uint8_t* data, size_t size, size_t at) {
    counters.records++;
    counters.rejected++;
    if (rewriter_->tells_errors() || code == ErrorCode::not_an_array) {
        RowError error;
        error.code = code;
        error.sequence = place_.sequence;
        error.byte_offset = source_at_ + int64_t(at);
        error.record_end = source_at_ + int64_t(size);
        error.record = place_.record + records_;
        error.raw.assign(reinterpret_cast<const char*>(data + at), size - at);
        error.found = error.raw.substr(0, 200);
        errors.push_back(std::move(error));
    }
    records_++;
}

}  // namespace formatter
