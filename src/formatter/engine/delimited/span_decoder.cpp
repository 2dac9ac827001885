#include "engine/delimited/span_decoder.hpp"

#include <algorithm>
#include <numeric>

namespace formatter {
namespace {

std::vector<uint32_t> stop_numbers(const CsvFormat& fields) {
    std::vector<uint32_t> numbers(2 * fields.columns.size() + 1);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

}  // namespace

SpanDecoder::SpanDecoder(const std::shared_ptr<const CsvFormat>& fields)
    : CsvDecoder(fields, stop_numbers(*fields)), last_stop_(uint32_t(2 * fields->columns.size())) {
    indexed_ = plain_ = true;  // as far as values are concerned: quotes are off when they are read
    saw_carriage_return_ = true;
    for (uint32_t i = 0; i < access_.size(); i++) access_[i] = {int32_t(2 * i), int32_t(2 * i + 1), 0, false};
}

bool SpanDecoder::is_absent(const Segment& segment, const uint32_t* stops, const uint8_t* field) const {
    return uint32_t(field - segment.base) == stops[last_stop_] + 1;
}

PlacePosition SpanDecoder::value_position(const RowBlock::Location& at, const uint8_t* field, size_t, uint32_t) const {
    return at.position(std::min(field, at.segment->base + at.stops[last_stop_]));
}

}  // namespace formatter
