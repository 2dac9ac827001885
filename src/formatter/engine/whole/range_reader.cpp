#include "engine/whole/range_reader.hpp"

#include <algorithm>

#include "engine/whole/chunk_survey.hpp"
#include "engine/csv/csv_decoder.hpp"

namespace formatter {
namespace {

size_t find_record(const RecordFormat& format, const RangeRequest& request) {
    const Framing& framing = format.framing;
    const uint8_t* data = request.data + request.begin;
    // Records that start behind the range are not its own: a long one is not followed by every range it covers.
    const size_t size = std::min(request.size, request.end) - request.begin;
    if (framing.scanner) {  // records of one size
        const uint64_t width = framing.scanner->fixed_size();
        const uint64_t at = uint64_t(request.byte_offset) + request.begin;
        return std::min(request.size, size_t((at / width + 1) * width - uint64_t(request.byte_offset)));
    }
    int inside = 0;
    if (framing.kind == FramingKind::parity)
        inside = guess_inside(*framing.csv, request.data, request.size, request.begin);
    for (size_t window = 4096;; window *= 8) {
        const size_t seen = std::min(window, size);
        if (framing.kind == FramingKind::parity) {
            const QuoteSummary summary = framing.summarize(data, seen);
            if (summary.first_end[inside] != QuoteSummary::none) return request.begin + summary.first_end[inside] + 1;
        } else {
            const FrameEnds ends = framing.ends_anywhere(data, seen);
            if (ends.any()) return request.begin + ends.first;
        }
        if (seen == size) return request.size;
    }
}

void hand_out(RecordDecoder& decoder, RangeResult* result) {
    decoder.materialize();
    if (decoder.rows() == 0) return;
    result->batches.emplace_back();
    decoder.export_batch(&result->batches.back());
}

}  // namespace

RangeResult read_range(const RecordFormat& format, RecordDecoder& decoder, const RangeRequest& request) {
    RangeResult result;
    size_t at = request.begins_record ? request.begin : find_record(format, request);
    result.first_record = at;
    decoder.place(Place{0, request.byte_offset + int64_t(at), 0, request.stream_start});
    decoder.expect(std::max(request.end, at) - at);
    const auto full = [&] {
        return decoder.rows() >= request.max_rows || decoder.byte_count() >= request.max_batch_bytes;
    };
    const auto read = [&](size_t size, uint64_t most) {
        const size_t used = decoder.index(request.data + at, size, std::min(most, request.max_rows - decoder.rows()));
        at += used;
        if (full()) hand_out(decoder, &result);
        return used;
    };
    while (at < request.end && read(request.end - at, request.max_rows) != 0) {}
    while (at <= request.end && at < request.size && read(request.size - at, 1) != 0) {}
    const bool tell_end = format.framing.checks_end() && (at > 0 || request.byte_offset > 0);
    if (request.input_ends && at <= request.end && (at < request.size || tell_end)) {
        decoder.index_unterminated(request.data + at, request.size - at);
        at = request.size;
    }
    result.next_record = at;
    result.records = decoder.records_placed();
    hand_out(decoder, &result);
    result.errors.swap(decoder.errors);
    result.counters = decoder.counters;
    decoder.counters = DecodeCounters{};
    return result;
}

namespace {

Preamble read_csv_preamble(const CsvFormat& csv, const uint8_t* data, size_t size) {
    Preamble preamble;
    size_t begin = 0;
    RecordShape shape;
    if (!find_header(csv, data, size, &begin, &shape)) return preamble;
    auto mapped = std::make_shared<CsvFormat>(csv);
    preamble.complete = true;
    preamble.missing = map_header(mapped.get(), data + begin, shape);
    mapped->unreadable = !preamble.missing.empty();
    preamble.size = begin + shape.size;
    preamble.header.assign(reinterpret_cast<const char*>(data + begin), shape.separators.back());
    preamble.format = std::make_shared<RecordFormat>(csv_record_format(std::move(mapped)));
    return preamble;
}

}  // namespace

RecordFormat csv_record_format(std::shared_ptr<const CsvFormat> csv) {
    RecordFormat format;
    Framing& framing = format.framing;
    framing.kind = !csv->plain() ? FramingKind::scanned : csv->quoting ? FramingKind::parity : FramingKind::stateless;
    framing.record_end = uint8_t(csv->record_end[0]);
    framing.quote = csv->quote;
    framing.kernel = csv->kernel;
    framing.csv = csv;
    format.has_header = csv->header;
    format.read_preamble = [csv](const uint8_t* data, size_t size) { return read_csv_preamble(*csv, data, size); };
    format.make_decoder = [csv] { return std::unique_ptr<RecordDecoder>(new CsvDecoder(csv)); };
    return format;
}

}  // namespace formatter
