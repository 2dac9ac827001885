// What decoders have in common whose fields stand anywhere in a record. In: rows of stops: two a column, where its value begins
// and ends, and then where the record ends. Out: columns, as CSV makes them. Refuses to know who found the stops.
//
// A value that is not there begins and ends one byte behind the record's end.
#pragma once

#include <memory>

#include "engine/csv/csv_decoder.hpp"

namespace formatter {

class SpanDecoder : public CsvDecoder {
  protected:
    explicit SpanDecoder(const std::shared_ptr<const CsvFormat>& fields);

    // Where the next row's stops are to be written; opens a segment at `base`, whose first byte is `offset` past the place,
    // unless *stops tells that one is open. A row is closed when they are written, or a segment is left by *stops = nullptr.
    uint32_t* open_row(uint32_t** stops, const uint8_t* base, const uint8_t* readable_begin,
                       const uint8_t* readable_end, int64_t offset, uint32_t begin) {
        if (block_.room() == 0) {
            materialize();
            *stops = nullptr;
        }
        if (!*stops) {
            *stops = block_.open_segment(base, readable_begin, readable_end, 0, {{place_.number, records_}, offset});
            (*stops)[-1] = begin - uint32_t(format_->record_end.size());  // what goes before the first record
        }
        return *stops;
    }
    void close_row(uint32_t** stops) {
        block_.add_rows(1);
        *stops += last_stop_ + 1;
    }
    bool is_absent(const Segment&, const uint32_t* stops, const uint8_t* field) const final;
    PlacePosition value_position(const RowBlock::Location&, const uint8_t* field, size_t column,
                                 uint32_t row) const override;

    const uint32_t last_stop_;
};

}  // namespace formatter
