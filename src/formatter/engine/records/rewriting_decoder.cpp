#include "engine/records/rewriting_decoder.hpp"

#include <algorithm>

namespace formatter {
namespace {

constexpr size_t stretch_bytes = 128 << 10;  // source, text and values stay in the second-level cache together
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
    inner_->row_records = row_records ? &inner_rows_ : nullptr;
    source_at_ = 0;
    records_ = 0;
}

uint8_t* RewritingDecoder::room_for(size_t size) {
    if (kept_bytes_ > kept_most) materialize();
    if (kept_bytes_ || spare_size_ < size || texts_.empty()) {
        if (!kept_bytes_) texts_.clear();
        texts_.push_back(std::unique_ptr<uint8_t[]>(new uint8_t[size]));
        spare_size_ = size;
    }
    return texts_.back().get();
}

// Rows refer to their text until they are decoded, errors to their marks until they are placed, rows to their stretches.
void RewritingDecoder::materialize() {
    inner_->materialize();
    take_findings();
    for (RecordRun& run : inner_rows_) {
        const PlaceRecord& source = stretches_[run.first.place].source.record;
        row_records->push_back({{source.place, source.records + run.first.records}, run.count});
    }
    inner_rows_.clear();
    if (texts_.size() > 1) texts_.erase(texts_.begin(), texts_.end() - 1);
    kept_bytes_ = 0;
    stretches_.clear();
    marks_.clear();
}

RewrittenText RewritingDecoder::rewrite(const uint8_t* data, size_t size, bool final, uint8_t* text) {
    inner_->place(Place{uint32_t(stretches_.size()), place_.stream_start});
    stretches_.push_back({{{place_.number, records_}, source_at_}, text, marks_.size()});
    return rewriter_->rewrite(RewriteSource{data, size, place_.stream_start, final}, text, &marks_);
}

size_t RewritingDecoder::index(const uint8_t* data, size_t size, uint64_t row_limit) {
    size_t done = 0;
    size_t stretch = row_limit < few_rows ? few_rows_bytes : stretch_bytes;
    while (done < size && row_limit > 0) {
        const size_t look = std::min(size - done, stretch);
        uint8_t* text = room_for(rewriter_->most_text(look));
        const RewrittenText rewritten = rewrite(data + done, look, false, text);
        const size_t used = rewritten.size ? inner_->index(text, rewritten.size, row_limit) : 0;
        if (used == 0) {  // no record ends in the stretch, or none fits
            marks_.resize(stretches_.back().first_mark);
            stretches_.pop_back();
            if (look == size - done || (rows() && !inner_->fits(rewritten.size))) break;
            stretch *= 4;
            continue;
        }
        const TextMark& mark = read_to_record_end(text, rewritten.size, used);
        const size_t source_used = mark.is_record ? mark.source_end : source_of(mark, text, used);
        const uint64_t records = inner_->records_placed();
        records_ += records;
        row_limit -= std::min(records, row_limit);
        done += source_used;
        source_at_ += int64_t(source_used);
        place_.stream_start = false;
        kept_bytes_ += rewritten.size;
        take_findings();
    }
    return done;
}

size_t RewritingDecoder::index_unterminated(const uint8_t* data, size_t size) {
    uint8_t* text = room_for(rewriter_->most_text(size));
    const RewrittenText rewritten = rewrite(data, size, true, text);
    size_t used = rewritten.size;
    if (!rewriter_->ends_records())
        used = inner_->index_unterminated(text, rewritten.size);
    else if (rewritten.size)
        inner_->index(text, rewritten.size, ~uint64_t(0));
    records_ += inner_->records_placed();
    kept_bytes_ += rewritten.size;
    const size_t source_used = used < rewritten.size ? source_of(mark_of(used), text, used) : size;
    if (rewritten.problem != ErrorCode::none) reject(rewritten.problem, data, size, rewritten.problem_at);
    source_at_ += int64_t(source_used);
    place_.stream_start = false;
    take_findings();
    return source_used;
}

// Of one source record there may be several lines, and the inner decoder stops behind any of them. The last one's mark.
const TextMark& RewritingDecoder::read_to_record_end(const uint8_t* text, size_t size, size_t used) {
    const TextMark* mark = &mark_of(used);
    while (mark != &marks_.back() && mark[1].text_at == used && mark[1].continues) {
        mark++;
        const size_t end = mark == &marks_.back() ? size : mark[1].text_at;
        inner_->index_unterminated(text + used, end - used - 1);
        used = end;
    }
    return *mark;
}

// Of the last stretch, what its text up to there came from. The end of text is that of what its mark began, not the
// beginning of the next.
const TextMark& RewritingDecoder::mark_of(size_t used) const {
    const auto mark = std::lower_bound(marks_.begin() + ptrdiff_t(stretches_.back().first_mark), marks_.end(), used,
                                       [](const TextMark& m, size_t wanted) { return m.text_at < wanted; });
    return *std::prev(mark);
}

size_t RewritingDecoder::source_of(const TextMark& mark, const uint8_t* text, size_t text_at) const {
    const uint64_t size = rewriter_->source_size(text + mark.text_at, text_at - mark.text_at);
    return std::min(mark.source_at + size_t(size), mark.source_end);
}

// Of text that is no record whatever it looks like: wrong from its first byte on.
void RewritingDecoder::tell_problem(const TextMark& mark, Finding* finding) {
    finding->code = mark.problem;
    if (finding->raw.size() > mark.source_end - mark.source_at) finding->raw.resize(mark.source_end - mark.source_at);
    finding->set_found(reinterpret_cast<const uint8_t*>(finding->raw.data()), finding->raw.size());
}

void RewritingDecoder::take_findings() {
    for (FindingAt<PlacePosition>& finding : inner_->findings) {
        const Stretch& stretch = stretches_[finding.at.record.place];
        const bool last = &stretch == &stretches_.back();
        const size_t text_at = size_t(finding.at.bytes), behind = last ? marks_.size() : (&stretch + 1)->first_mark;
        auto mark = std::upper_bound(marks_.begin() + ptrdiff_t(stretch.first_mark), marks_.begin() + ptrdiff_t(behind),
                                     text_at, [](size_t wanted, const TextMark& m) { return wanted < m.text_at; });
        --mark;
        if (mark->problem != ErrorCode::none) tell_problem(*mark, &finding);
        PlacePosition position = stretch.source;
        position.record.records += finding.at.record.records;
        if (mark->is_record) position.record_end = position.bytes + int64_t(mark->source_end);
        const bool problem = mark->problem != ErrorCode::none;
        const size_t source_at = problem ? mark->source_at : source_of(*mark, stretch.text, text_at);
        if (finding.opened)
            finding.opened = source_of(*mark, stretch.text, text_at + size_t(finding.opened)) - source_at;
        position.bytes += int64_t(source_at);
        findings.emplace_back(std::move(finding), position);
    }
    inner_->findings.clear();
    counters.take(&inner_->counters);
    for (size_t i = 0; i < values_decoded.size(); i++) {
        values_decoded[i] += inner_->values_decoded[i];
        inner_->values_decoded[i] = 0;
    }
}

void RewritingDecoder::reject(ErrorCode code, const uint8_t* data, size_t size, size_t at) {
    counters.records++;
    counters.rejected++;
    if (rewriter_->tells_errors() || code == ErrorCode::not_an_array) {
        const int64_t begin = source_at_ + int64_t(at), end = source_at_ + int64_t(size);
        findings.emplace_back(Finding::of_record(code, data + at, size - at),
                              PlacePosition{{place_.number, records_}, begin, end});
    }
    records_++;
}

}  // namespace formatter
