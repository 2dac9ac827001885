#include "engine/record_array.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace formatter {
namespace {

constexpr size_t arena_bytes = 256 << 10;
constexpr uint64_t unlimited = ~uint64_t(0);

// Values lie back to back in the arena, each with the record end that it lacks by itself.
struct Arena {
    std::unique_ptr<uint8_t[]> bytes;
    size_t capacity = 0;
    size_t used = 0;

    uint8_t* copy(const RecordValue& value, const std::string& record_end) {
        uint8_t* at = bytes.get() + used;
        if (value.size) std::memcpy(at, value.data, value.size);
        std::memcpy(at + value.size, record_end.data(), record_end.size());
        used += value.size + record_end.size();
        return at;
    }
    bool fits(size_t size) const { return used + size <= capacity; }
    void make_room(size_t size) {
        if (size > capacity) {
            capacity = std::max(size, arena_bytes);
            bytes.reset(new uint8_t[capacity]);
        }
        used = 0;
    }
};

}  // namespace

RecordArrayResult read_record_array(RecordDecoder& decoder, const RecordValue* values, size_t count,
                                    const std::string& record_end) {
    RecordArrayResult result;
    Arena arena;
    std::vector<uint64_t> first_record(count + 1);  // ordinal of the first record met in each value
    uint64_t ordinal = 0;
    for (size_t i = 0; i < count; i++) {
        first_record[i] = ordinal;
        if (values[i].null) continue;
        // A value may end with a record end of its own; one is no second record.
        RecordValue value = values[i];
        if (value.size >= record_end.size() &&
            std::memcmp(value.data + value.size - record_end.size(), record_end.data(), record_end.size()) == 0)
            value.size -= record_end.size();
        const size_t size = value.size + record_end.size();
        if (!arena.fits(size)) {
            decoder.materialize();
            arena.make_room(size);
        }
        const uint8_t* data = arena.copy(value, record_end);
        decoder.place(Place{0, 0, ordinal, false});
        size_t used = 0;
        while (used < size) {
            const size_t more = decoder.index(data + used, size - used, unlimited);
            if (more == 0) break;
            used += more;
        }
        if (used < size) decoder.index_unterminated(data + used, size - used - record_end.size());
        ordinal += decoder.records_placed();
    }
    first_record[count] = ordinal;
    decoder.materialize();
    decoder.export_batch(&result.batch);

    // Rows are the records in order, less the rejected ones.
    std::vector<bool> rejected(ordinal, false);
    for (const RowError& error : decoder.errors)
        if (error.record < ordinal && !error.row_kept) rejected[error.record] = true;
    result.row_of_value.assign(count, -1);
    int64_t row = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t records = first_record[i + 1] - first_record[i];
        for (uint64_t r = first_record[i]; r < first_record[i + 1]; r++) {
            if (rejected[r]) continue;
            if (records == 1) result.row_of_value[i] = row;  // several records in one value are none
            row++;
        }
    }
    for (RowError& error : decoder.errors) {
        const auto after = std::upper_bound(first_record.begin(), first_record.end() - 1, error.record);
        result.value_of_error.push_back(uint64_t(after - first_record.begin()) - 1);
        result.errors.push_back(std::move(error));
    }
    for (size_t i = 0; i < count; i++) {
        if (first_record[i + 1] - first_record[i] < 2) continue;
        RowError error;
        error.code = ErrorCode::several_records;
        error.found.assign(reinterpret_cast<const char*>(values[i].data), std::min<size_t>(values[i].size, 200));
        error.raw.assign(reinterpret_cast<const char*>(values[i].data), values[i].size);
        result.value_of_error.push_back(i);
        result.errors.push_back(std::move(error));
    }
    decoder.errors.clear();
    result.counters = decoder.counters;
    decoder.counters = DecodeCounters{};
    return result;
}

}  // namespace formatter
