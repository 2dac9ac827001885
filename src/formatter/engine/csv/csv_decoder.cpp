// Records to stops. In: bytes that begin at a record. Out: a block of rows, each with the stops of its wanted fields.
// Refuses to know values.
#include "engine/csv/csv_decoder.hpp"

#include <algorithm>
#include <cstring>

#include "engine/csv/csv_header.hpp"
#include "engine/csv/csv_scanner.hpp"
#include "engine/records/byte_order_mark.hpp"

namespace formatter {
namespace {

constexpr uint32_t aligned_rows = 64;  // a word of marks; values of one byte fill a line
constexpr size_t aligned_from = 128 << 10;  // for fewer bytes a block more costs what it saves
// Behind an irregular record the next one is often near, and all that the kernel finds beyond it is found again: the first
// look is a short one, and each goes further than the one before.
constexpr size_t wary_bytes = 512;

std::vector<uint32_t> wanted_stops(const CsvFormat& format) {
    std::vector<uint32_t> stops;
    const auto add = [&stops](uint32_t field) {
        if (field > 0) stops.push_back(field - 1);
        stops.push_back(field);
    };
    for (size_t i = 0; i < format.columns.size(); i++)
        if (int32_t(i) != format.rescue_column && format.columns[i].field != absent_field) add(format.columns[i].field);
    for (const CsvFormat::Unclaimed& unclaimed : format.unclaimed) add(unclaimed.field);
    if (format.fields) stops.push_back(format.fields - 1);
    std::sort(stops.begin(), stops.end());
    stops.erase(std::unique(stops.begin(), stops.end()), stops.end());
    return stops;
}

Token to_token(const std::string& text) {
    Token token{};
    token.length = uint8_t(text.size());
    std::memcpy(token.bytes, text.data(), text.size());
    return token;
}

// Whether a field may hold these bytes without quotes: neither blanks that are trimmed nor a quote. Then `content` is what
// it reads as.
bool stands_bare(const CsvFormat& format, const std::string& text, std::string* content) {
    const Bytes field = bytes_of(text);
    Bytes read{};
    if (trimmed(format, field).size != text.size()) return false;
    if (field_content(format, field, content, &read) != Quoting::none) return false;
    content->assign(std::string(reinterpret_cast<const char*>(read.data), read.size));
    return true;
}

// Null tokens are compared with fields as they stand, so that others are met by none.
std::vector<std::string> bare_nulls(const CsvFormat& format) {
    std::vector<std::string> bare;
    std::string content;
    for (const std::string& token : format.nulls)
        if (stands_bare(format, token, &content)) bare.push_back(token);
    return bare;
}

bool holds_quote(const CsvFormat& format, const std::vector<std::string>& texts) {
    return format.quoting && std::any_of(texts.begin(), texts.end(), [&format](const std::string& text) {
               return text.find(char(format.quote)) != std::string::npos;
           });
}

// The kernels compare fields as they stand, too, but these tokens with what fields read as.
std::vector<Token> tokens_for_kernel(const CsvFormat& format, const std::vector<std::string>& texts) {
    std::vector<Token> tokens;
    std::string content;
    for (const std::string& text : texts)
        if (text.size() <= sizeof Token::bytes && stands_bare(format, text, &content) && content == text)
            tokens.push_back(to_token(text));
    return tokens;
}

}  // namespace

CsvDecoder::CsvDecoder(const std::shared_ptr<const CsvFormat>& format) : CsvDecoder(format, wanted_stops(*format)) {}

CsvDecoder::CsvDecoder(const std::shared_ptr<const CsvFormat>& format, std::vector<uint32_t> stops)
    : BlockDecoder(*format, format->on_error != OnError::skip, &format->columns, stops.size()),
      format_(format),
      kernel_(format_->kernel),
      indexed_(format_->indexable() && format_->fields > 0),  // of an empty file's schema every record is irregular
      plain_(!format_->escaping),
      looks_at_rows_(format_->bounded() || format_->repeated_headers || format_->commenting),
      nulls_(bare_nulls(*format_)),
      spelling_(format_->spelling),
      spellings_hold_quotes_(holds_quote(*format_, spelling_.trues) || holds_quote(*format_, spelling_.falses) ||
                             holds_quote(*format_, spelling_.timestamp_formats)),
      stops_(std::move(stops)) {
    const auto ordinal = [this](uint32_t stop) {
        return int32_t(std::lower_bound(stops_.begin(), stops_.end(), stop) - stops_.begin());
    };
    const auto access = [this, ordinal](uint32_t field) {
        const bool first = field == 0;
        const uint32_t skip = uint32_t(first ? format_->record_end.size() : format_->delimiter.size());
        return Access{first ? -1 : ordinal(field - 1), ordinal(field), skip, field + 1 == format_->fields};
    };
    for (const CsvFormat::Unclaimed& unclaimed : format_->unclaimed) unclaimed_.push_back(access(unclaimed.field));
    for (const ColumnSpec& column : format_->columns) {
        if (int32_t(access_.size()) == format_->rescue_column) {
            access_.push_back({-1, -1, 0, false});
            scan_tokens_.push_back(false);
            continue;
        }
        // What the header lacks stands, empty, where each record ends.
        access_.push_back(column.field == absent_field
                              ? Access{ordinal(format_->fields - 1), ordinal(format_->fields - 1), 0, false}
                              : access(column.field));
        // Non-empty null markers reach the exact path by themselves where no value looks like them.
        bool scan = false;
        for (const std::string& token : nulls_.texts()) {
            if (token.empty()) continue;
            const bool numeric_look = std::strchr("+-.0123456789", token[0]) != nullptr;
            const bool may_be_named = !spelling_.timestamp_formats.empty();  // as in "Jan 01 1900", which is a time
            scan |= column.type->layout != ValueLayout::fixed || numeric_look || may_be_named;
        }
        scan_tokens_.push_back(scan);
    }
    spelling_.true_tokens = tokens_for_kernel(*format_, spelling_.trues);
    spelling_.false_tokens = tokens_for_kernel(*format_, spelling_.falses);
    values_decoded.assign(format_->columns.size(), 0);
    in_quotes_.assign(format_->columns.size(), 0);
    number_shapes_.assign(format_->columns.size(), NumberShape());
    order_filter();
}

// What stands before the first record. False if that does not end in these bytes, which is an error for a header if they are
// the whole input.
bool CsvDecoder::skip_preamble(const uint8_t* data, size_t size, size_t* skipped, bool whole) {
    *skipped = 0;
    if (!place_.stream_start) return true;
    const size_t mark = mark_size(data, size);
    PreambleLines lines;
    if (format_->has_preamble() && !follow_preamble(*format_, data + mark, size - mark, whole, &lines)) {
        const size_t begin = mark + lines.header;
        if (whole && begin < size) header_error(data + begin, size - begin);
        return false;
    }
    *skipped = mark + lines.size;
    if (format_->unreadable) header_error(lines.names[0].data, lines.names[0].size);
    place_.stream_start = false;
    offset_ += *skipped;
    return true;
}

// Whether records stand behind a preamble in which a quote is never closed.
bool CsvDecoder::leaves_preamble_open(const uint8_t* data, size_t size) const {
    const size_t mark = mark_size(data, size);
    PreambleLines lines;
    return follow_preamble(*format_, data + mark, size - mark, true, &lines) && mark + lines.size < size;
}

void CsvDecoder::header_error(const uint8_t* header, size_t size) {
    Finding finding{ErrorCode::header};
    finding.set_found(header, size);
    findings.emplace_back(std::move(finding), here());
}

size_t CsvDecoder::index(const uint8_t* data, size_t size, uint64_t row_limit) {
    size_t at = 0;
    if (!skip_preamble(data, size, &at)) return 0;
    if (format_->unreadable) return size;
    const size_t used =
        indexed_ ? index_by_kernel(data + at, size - at, row_limit) : index_general(data + at, size - at, row_limit);
    return at + used;
}

// Values are written by whole cache lines, which takes longer where these begin in the middle of one: a short block first
// brings the columns to the next line's begin. A filter would only bring them out of step again.
void CsvDecoder::align_block() {
    const uint32_t past = uint32_t(columns_.rows() % aligned_rows);
    if (past && !format_->filter.active()) block_.stop_at(aligned_rows - past);
}

size_t CsvDecoder::index_by_kernel(const uint8_t* data, size_t size, uint64_t row_limit) {
    CsvBytes bytes = format_->bytes();
    if (all_quotes_) bytes.rule = QuoteRule::strict;
    const uint32_t separator = uint32_t(format_->record_end.size());
    const StopChoice choice{format_->fields, uint32_t(stops_.size()), stops_.data()};
    const Readable readable = readable_around(data, size);
    RecordShape shape;
    size_t at = 0, stretch = stretch_bytes, passed = 0;
    while (row_limit > 0 && at < size) {
        if (format_->commenting) {
            const size_t comments = size_of_comments(data + at, size - at);
            offset_ += comments;
            indexed_bytes_ += comments;
            if ((at += comments) == size) break;
        }
        const size_t window = std::min({size - at, stretch, offsets_most});
        if (!has_room(window)) break;
        if (block_.room() == 0) materialize();
        if (block_.empty() && std::max<uint64_t>(size - at + offset_, place_.bytes) >= aligned_from + offset_)
            align_block();
        CsvIndex result{};
        result.stops = block_.open_segment(data + at, readable.begin, readable.end, separator, here());
        result.capacity_rows = uint32_t(std::min<uint64_t>(block_.room(), row_limit));
        kernel_->index_csv(data + at, window, bytes, choice, result);
        if (looks_at_rows_) stop_at_odd_record(data + at, choice, &result);
        block_.add_rows(result.rows);
        saw_carriage_return_ |= result.saw_carriage_return;
        records_ += result.rows;
        row_limit -= result.rows;
        offset_ += result.consumed;
        indexed_bytes_ += result.consumed;
        at += result.consumed;
        if (result.end == IndexEnd::capacity) continue;
        if (format_->commenting && at < size && data[at] == format_->comment) {
            if (result.consumed == 0) break;  // it does not end here
            stretch = wary_bytes;
            continue;
        }
        const bool endless = window == offsets_most && result.consumed == 0;
        const bool is_wary = window == stretch && stretch < stretch_bytes;
        const bool may_pass_bound = format_->bounded() && result.consumed == 0 && !is_wary;
        if (result.end == IndexEnd::irregular || endless || may_pass_bound) {
            if (!split_next(data + at, size - at, &shape, &passed)) {
                if (passed == 0) break;
                row_limit--;
                at += passed;
                stretch = wary_bytes;
                continue;
            }
            if (!has_room(shape.size)) break;
            if (is_header_again(data + at, shape.separators.back())) {
                // no record
            } else if (!is_blank(*format_, data + at, shape.separators.back())) {
                add_irregular(data + at, shape, here());
                records_++;
                row_limit--;
            } else {  // blank lines seldom come alone
                while (size - at - shape.size >= separator &&
                       std::memcmp(data + at + shape.size, format_->record_end.data(), separator) == 0)
                    shape.size += separator;
            }
            offset_ += shape.size;
            indexed_bytes_ += shape.size;
            at += shape.size;
            stretch = wary_bytes;
            continue;
        }
        if (window == size - at + result.consumed) break;  // the rest is an incomplete record
        stretch = result.consumed ? std::min(stretch * bolder, stretch_bytes) : stretch * bolder;
        // A block's bytes should stay cached until its values are read.
        if (result.consumed && !block_.empty() && indexed_bytes_ + stretch > stretch_bytes) materialize();
    }
    return at;
}

size_t CsvDecoder::index_general(const uint8_t* data, size_t size, uint64_t row_limit) {
    RecordShape shape;
    size_t at = 0, passed = 0;
    while (row_limit > 0 && at < size) {
        if (!split_next(data + at, size - at, &shape, &passed)) {
            if (passed == 0) break;
            row_limit--;
            at += passed;
            continue;
        }
        if (!has_room(shape.size)) break;
        if (is_record(data + at, shape)) {
            add_record(data + at, shape, here(), data, data + size);
            records_++;
            row_limit--;
        }
        offset_ += shape.size;
        indexed_bytes_ += shape.size;
        at += shape.size;
    }
    return at;
}

// The shape of the record that begins there. False if it does not end within the bytes, or if it was passed over.
bool CsvDecoder::split_next(const uint8_t* data, size_t size, RecordShape* shape, size_t* passed) {
    const bool ends = split_record(*format_, data, std::min(size, offsets_most), shape);
    if (ends && !shape->damaged) return true;
    if (ends)
        pass_damaged(data, *shape);
    else if (size > offsets_most)
        shape->size = pass_endless(data, size);
    else
        shape->size = 0;
    *passed = shape->size;
    return false;
}

// A record with a quote that is never closed, or too late, is the line that has the quote, and bad.
void CsvDecoder::pass_damaged(const uint8_t* data, const RecordShape& shape) {
    if (!is_header_again(data, shape.separators.back())) {
        const size_t content = record_without_carriage_return(*format_, data, shape);
        PlacePosition at = here();
        at.record_end = at.bytes + int64_t(shape.size);
        structural_error(ErrorCode::unterminated_quote, data, content, at, 0, shape.quote);
        records_++;
    }
    offset_ += shape.size;
    indexed_bytes_ += shape.size;
}

// Whether it reads like the header, where that makes it none.
bool CsvDecoder::is_header_again(const uint8_t* data, size_t size) const {
    if (!format_->repeated_headers) return false;
    const Bytes line{data, without_carriage_return(*format_, data, size)};
    return std::any_of(format_->header_lines.begin(), format_->header_lines.end(),
                       [line](const std::string& header) { return line.equals(header); });
}

bool CsvDecoder::is_record(const uint8_t* data, const RecordShape& shape) const {
    const size_t content = shape.separators.back();
    return !shape.comment && !is_blank(*format_, data, content) && !is_header_again(data, content);
}

// The loops know no bounds, no headers and no comments: of what they found, rows that may pass one or be one are looked at, up to
// the first that does or is.
void CsvDecoder::stop_at_odd_record(const uint8_t* data, const StopChoice& choice, CsvIndex* index) {
    const uint8_t end = uint8_t(format_->record_end[0]);
    const size_t separator = format_->record_end.size();
    const bool many_lines = format_->max_quoted_lines && kernel_->count_byte(data, index->consumed, end) > index->rows;
    const uint64_t most = format_->max_quoted_bytes ? format_->max_quoted_bytes : ~uint64_t(0);
    RecordShape shape;
    const uint32_t* stop = index->stops + choice.stop_count - 1;
    size_t begin = 0;
    for (uint32_t row = 0; row < index->rows; row++, stop += choice.stop_count) {
        const size_t size = *stop - begin;
        const bool suspect = size > most || (many_lines && size && std::memchr(data + begin, end, size));
        const bool damaged = suspect && split_record(*format_, data + begin, size + separator, &shape) && shape.damaged;
        const bool comment = format_->commenting && data[begin] == format_->comment;
        if (damaged || comment || is_header_again(data + begin, size)) {
            index->rows = row;
            index->consumed = begin;
            index->end = comment ? IndexEnd::input : IndexEnd::irregular;
            return;
        }
        begin = size_t(*stop) + separator;
    }
}

// Of the comments that stand there, with their ends, as far as they end within the bytes. Nothing means anything in them but a
// record end.
size_t CsvDecoder::size_of_comments(const uint8_t* data, size_t size) const {
    const std::string& ending = format_->record_end;
    size_t at = 0;
    while (at < size && data[at] == format_->comment) {
        const void* const end = memmem(data + at, size - at, ending.data(), ending.size());
        if (!end) break;
        at = size_t(static_cast<const uint8_t*>(end) - data) + ending.size();
    }
    return at;
}

// A record that no stop can span: an error, and its size; 0 if it does not end within the bytes.
size_t CsvDecoder::pass_endless(const uint8_t* data, size_t size) {
    ScanState state;
    const uint64_t end = scan_csv(*format_, data, size, &state, true).first;
    if (end == RecordEnds::none) return 0;
    structural_error(ErrorCode::record_too_long, data, partial_raw_most, here(), 0);
    records_++;
    offset_ += end;
    indexed_bytes_ += end;
    return size_t(end);
}

size_t CsvDecoder::size_given_up(const uint8_t* data, size_t size) const {
    RecordShape shape;
    return is_left_open(*format_, data, size, &shape) && shape.size < offsets_most ? shape.size : 0;
}

size_t CsvDecoder::index_unterminated(const uint8_t* data, size_t size) {
    RecordShape shape;
    size_t at = 0;
    const bool begins = skip_preamble(data, size, &at);
    if (!begins && leaves_preamble_open(data, size)) return skip_preamble(data, size, &at, true), at;
    if (begins && !format_->unreadable && is_left_open(*format_, data + at, size - at, &shape) &&
        shape.size < offsets_most) {
        pass_damaged(data + at, shape);
        return at + shape.size;
    }
    data += at;
    size -= at;
    const size_t skipped = at;
    if (size >= offsets_most) {
        structural_error(ErrorCode::record_too_long, data, partial_raw_most, here(), 0);
        records_++;
        offset_ += size;
        return skipped + size;
    }
    const size_t terminated_size = size + format_->record_end.size();
    has_room(size);
    if (block_.room() == 0) materialize();
    indexed_bytes_ += size;
    uint8_t* record = block_.keep_bytes(terminated_size);
    std::memcpy(record, data, size);
    std::memcpy(record + size, format_->record_end.data(), format_->record_end.size());
    at = 0;
    const bool begun = skip_preamble(record, size, &at, true);  // the end that was added makes no record of nothing
    if (!begun || at >= size || format_->unreadable) return skipped + size;
    const PlacePosition begin = here();
    const bool ended = split_record(*format_, record + at, terminated_size - at, &shape);
    // Behind a part of one, an end that overlaps its like, as || does in |||, is found sooner than where it was put.
    if (ended && shape.size > size - at) {
        shape.separators.back() = uint32_t(size - at);
        shape.size = terminated_size - at;
    }
    if (!ended) {
        structural_error(ErrorCode::unterminated_quote, record + at, size - at, begin, 0);
        records_++;
    } else if (is_record(record + at, shape)) {
        saw_carriage_return_ = true;
        add_record(record + at, shape, begin, record, record + terminated_size);
        records_++;
    }
    offset_ += size - at;
    return skipped + size;
}

void CsvDecoder::write_stops(uint32_t* out, const RecordShape& shape) const {
    for (size_t i = 0; i < stops_.size(); i++) out[i] = shape.separators[stops_[i]];
}

void CsvDecoder::add_record(const uint8_t* data, const RecordShape& shape, const PlacePosition& at,
                            const uint8_t* readable_begin, const uint8_t* readable_end) {
    if (shape.separators.size() != format_->fields) return add_irregular(data, shape, at);
    if (block_.room() == 0) materialize();
    write_stops(block_.open_segment(data, readable_begin, readable_end, uint32_t(format_->record_end.size()), at),
                shape);
    block_.add_rows(1);
}

void CsvDecoder::add_irregular(const uint8_t* data, const RecordShape& shape, const PlacePosition& at) {
    const uint32_t count = uint32_t(shape.separators.size());
    const uint32_t wanted = format_->fields;
    const bool lenient = format_->nulls_misfits();
    const size_t content = record_without_carriage_return(*format_, data, shape);
    const bool may_pad = lenient || format_->ragged == Ragged::pad || format_->ragged == Ragged::fit;
    const bool cuts = lenient || format_->ragged == Ragged::truncate || format_->ragged == Ragged::fit;
    const bool may_cut = cuts && wanted > 0;
    if (count < wanted && !may_pad) return structural_error(ErrorCode::too_few_fields, data, content, at, count);
    if (count > wanted && !may_cut) return structural_error(ErrorCode::too_many_fields, data, content, at, count);
    if (block_.room() == 0) materialize();
    // Rewritten with the arity it should have, so that everything behind sees a regular record.
    RecordShape regular;
    const size_t cut = count > wanted ? shape.separators[wanted - 1] : content;
    regular.separators.assign(shape.separators.begin(), shape.separators.begin() + std::min(count, wanted) - 1);
    std::string rewritten(reinterpret_cast<const char*>(data), cut);
    for (uint32_t i = count; i < wanted; i++) {
        regular.separators.push_back(uint32_t(rewritten.size()));
        rewritten += format_->delimiter;
    }
    // A '\r' that the cut brought to the end is data: another one takes its place as the one to drop.
    if (without_carriage_return(*format_, reinterpret_cast<const uint8_t*>(rewritten.data()), rewritten.size()) <
        rewritten.size()) {
        rewritten += '\r';
        saw_carriage_return_ = true;
    }
    regular.separators.push_back(uint32_t(rewritten.size()));
    rewritten += format_->record_end;
    uint8_t* kept = block_.keep_bytes(rewritten.size() + content);
    uint8_t* original = kept + rewritten.size();
    std::memcpy(kept, rewritten.data(), rewritten.size());
    std::memcpy(original, data, content);
    std::vector<uint32_t> separators;
    if (format_->rescue_column >= 0) {
        separators = shape.separators;
        separators.back() = uint32_t(content);
    }
    block_.rewritten.push_back({block_.rows(), count, original, content, std::move(separators)});
    if (lenient && !format_->rescues) counters.nulled += count < wanted ? wanted - count : 0;
    write_stops(block_.open_segment(kept, kept, kept + rewritten.size(), uint32_t(format_->record_end.size()), at),
                regular);
    block_.add_rows(1);
}

void CsvDecoder::structural_error(ErrorCode code, const uint8_t* data, size_t size, const PlacePosition& at,
                                  uint32_t found_fields, size_t quote) {
    counters.records++;
    counters.rejected++;
    if (format_->on_error == OnError::skip) return;
    Finding finding = Finding::of_record(code, data, size);
    finding.expected_fields = format_->fields;
    finding.found_fields = found_fields;
    if (quote) finding.opened = quote, finding.set_found(data + quote, size - quote);
    findings.emplace_back(std::move(finding), at);
}

void CsvDecoder::export_batch(ArrowArray* out) {
    columns_.export_batch(out, format_->output_columns);
    text_room_ = columns_.text_room();
}

}  // namespace formatter
