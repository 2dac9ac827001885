#include "engine/whole/value_explosion.hpp"

namespace formatter {

ExplodedValues explode_values(const RecordFormat& format, const RecordValues& values) {
    ExplodedValues exploded;
    const std::unique_ptr<RecordDecoder> decoder = format.make_decoder();
    std::vector<RecordRun> row_runs;
    decoder->row_records = &row_runs;
    std::vector<uint64_t> first_record(values.count());
    for (size_t i = 0; i < values.count(); i++) {
        const RecordValue value = values[i];
        first_record[i] = exploded.value_of_record.size();
        if (value.null || value.size == 0) continue;
        if (!decoder->fits(value.size)) {
            decoder->materialize();
            exploded.too_large = decoder->rows() != 0 && !decoder->fits(value.size);
            if (exploded.too_large) return exploded;
        }
        decoder->place(Place{uint32_t(i), true, value.size});
        decoder->index_unterminated(value.data, value.size);
        exploded.value_of_record.resize(first_record[i] + decoder->records_placed(), int64_t(i));
    }
    decoder->materialize();
    decoder->export_batch(&exploded.batch);
    exploded.row_of_record.assign(exploded.value_of_record.size(), RecordArrayResult::filtered);
    int64_t row = 0;
    for (const RecordRun& run : row_runs) {
        const uint64_t first = first_record[run.first.place] + run.first.records;
        for (uint64_t k = 0; k < run.count; k++) exploded.row_of_record[first + k] = row++;
    }
    for (FindingAt<PlacePosition>& found : decoder->findings) {
        const uint32_t value = found.at.record.place;
        const uint64_t record = first_record[value] + found.at.record.records;
        if (found.row_kept && exploded.row_of_record[record] == RecordArrayResult::filtered) continue;
        if (!found.row_kept) exploded.row_of_record[record] = RecordArrayResult::no_row;
        exploded.findings.emplace_back(std::move(found), ExplodedPosition{value, record, found.at.bytes});
    }
    exploded.values_decoded = decoder->values_decoded;
    return exploded;
}

}  // namespace formatter
