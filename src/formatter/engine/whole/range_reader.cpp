#include "engine/whole/range_reader.hpp"

#include <algorithm>

#include "engine/whole/chunk_survey.hpp"

namespace formatter {
namespace {

size_t find_record(const RecordFormat& format, const RangeRequest& request) {
    const RecordEnding& ending = format.ending;
    const uint8_t* data = request.data + request.begin;
    // Records that start behind the range are not its own: a long one is not followed by every range it covers.
    const size_t size = std::min(request.size, request.end) - request.begin;
    if (const uint64_t width = ending.fixed_size()) {
        const uint64_t at = uint64_t(request.byte_offset) + request.begin;
        return std::min(request.size, size_t((at / width + 1) * width - uint64_t(request.byte_offset)));
    }
    if (ending.guesses_records()) {
        const uint64_t guess = ending.scanner->guess_record(request.data, request.size, request.begin,
                                                            std::min(request.size, request.end));
        return guess == RecordEnds::none ? request.size : size_t(guess);
    }
    const bool by_quotes = ending.kind == EndingKind::parity || ending.kind == EndingKind::courses;
    const bool inside = by_quotes && guess_inside(ending, request.data, request.size, request.begin);
    const bool fresh = request.begin > 0 && ending.separates(data[-1]);
    for (size_t window = 4096;; window *= 8) {
        const size_t seen = std::min(window, size);
        if (ending.kind == EndingKind::parity) {
            const QuoteSummary summary = ending.summarize(data, seen);
            if (summary.first_end[inside] != QuoteSummary::none) return request.begin + summary.first_end[inside] + 1;
        } else if (ending.kind == EndingKind::courses) {
            QuoteCourse course{{inside, fresh && !inside, false}, 0, 0};
            ending.kernel->follow_quotes(data, seen, ending.bytes, &course, 1);
            if (course.first_end != QuoteSummary::none) return request.begin + course.first_end + 1;
        } else {
            const RecordEnds ends = ending.ends_anywhere(data, seen);
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
    const int64_t begin = request.byte_offset + int64_t(at);
    decoder.place(Place{0, request.stream_start});
    decoder.expect(std::max(request.end, at) - at);
    const auto full = [&] {
        return decoder.rows() >= request.max_rows || decoder.byte_count() >= request.max_batch_bytes;
    };
    const auto make_room = [&](size_t size) {
        if (decoder.rows() == 0 || decoder.fits(size)) return false;
        hand_out(decoder, &result);
        return true;
    };
    const auto index = [&](size_t size, uint64_t most) {
        return decoder.index(request.data + at, size, std::min(most, request.max_rows - decoder.rows()));
    };
    const auto read = [&](size_t size, uint64_t most) {
        size_t used = index(size, most);
        if (used == 0 && make_room(size)) used = index(size, most);
        at += used;
        if (full()) hand_out(decoder, &result);
        return used;
    };
    bool end_told = false;
    const auto tell_end = [&] {  // true if there is more to read behind the record that was open
        if (!request.input_ends || at > request.end) return false;
        const bool end_matters = format.ending.checks_end() && (at > 0 || request.byte_offset > 0);
        if (at == request.size && !end_matters) return false;
        make_room(request.size - at);
        end_told = true;
        at += decoder.index_unterminated(request.data + at, request.size - at);
        return at < request.size;
    };
    do {
        while (at < request.end && read(request.end - at, request.max_rows) != 0) {}
        while (at <= request.end && at < request.size && read(request.size - at, 1) != 0) {}
    } while (tell_end());
    result.next_record = at;
    result.open = at == request.size ? end_told : at <= request.end;
    result.records = decoder.records_placed();
    hand_out(decoder, &result);
    result.findings.reserve(decoder.findings.size());
    for (FindingAt<PlacePosition>& found : decoder.findings)
        result.findings.emplace_back(std::move(found),
                                     StretchPosition{begin + found.at.bytes, found.at.record.records});
    decoder.findings.clear();
    result.counters.take(&decoder.counters);
    return result;
}

}  // namespace formatter
