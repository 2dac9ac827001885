#include "engine/whole/record_array.hpp"

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

// Reads values into a decoder. A run of values that are certainly one record each is indexed in one go, as if it were
// a file; every other value goes by itself, so that nothing in it can reach its neighbour. That they are is seen in all of a
// run at once where it holds no quotes, and no more record ends than values.
class RecordArrayReader {
  public:
    RecordArrayReader(const RecordFormat& format, const std::string& record_end, size_t count, bool runs)
        : format_(format),
          record_end_(record_end),
          end_overlaps_(overlaps_its_like(record_end)),
          runs_(runs),
          decoder_(format.make_decoder()),
          first_record_(count + 1),
          base_(count) {
        decoder_->row_records = &row_records_;
    }

    // False if a run was not what it seemed: then all is to be read anew without runs. Or if it is too large.
    bool read(const RecordValues& values) {
        const size_t count = values.count();
        for (size_t i = 0; i < count; i++) {
            first_record_[i] = ordinal_;
            const RecordValue given = values[i];
            if (given.null) continue;
            const RecordValue value = without_end(given);
            const bool as_it_is = format_.keeps_text && value.size && std::memchr(value.data, '\n', value.size);
            if (!as_it_is && runs_ && value.size && may_be_one_record(value)) {
                if (!add_to_run(value, i)) return false;
                continue;
            }
            if (!end_run(i)) return false;
            first_record_[i] = ordinal_;
            if (!(as_it_is ? read_as_it_is(value) : read_alone(value))) return false;
        }
        if (!end_run(count)) return false;
        first_record_[count] = ordinal_;
        decoder_->materialize();
        return true;
    }

    bool too_large() const { return too_large_; }

    RecordArrayResult result(const RecordValues& values) {
        const size_t count = values.count();
        RecordArrayResult result;
        result.too_large = too_large_;
        if (too_large_) return result;
        row_count_ = decoder_->rows();
        result.in_order = is_row_by_row(count);
        decoder_->export_batch(&result.batch);
        if (!result.in_order) {
            place_rows(&result, count);
            place_errors(&result, values);
        }
        result.counters = decoder_->counters;
        result.values_decoded = decoder_->values_decoded;
        return result;
    }

  private:
    // A value may end with a record end of its own; one is no second record.
    RecordValue without_end(RecordValue value) const {
        const size_t size = record_end_.size();
        if (value.size < size || size == 0 || value.data[value.size - 1] != uint8_t(record_end_[size - 1]))
            return value;
        if (std::memcmp(value.data + value.size - size, record_end_.data(), size) == 0) value.size -= size;
        return value;
    }

    bool may_be_one_record(const RecordValue& value) const {
        return format_.line_ends_inside ? !is_space(value) : *value.data > ' ';  // it may be blank, which is no record
    }

    static bool is_space(const RecordValue& value) {
        return std::all_of(value.data, value.data + value.size, [](uint8_t c) { return c <= ' '; });
    }

    // The decoder takes a line for a record. A '\r' is space where a '\n' is, and an error where that is one.
    void soften_line_ends(uint8_t* data, size_t size) const {
        uint8_t* const end = data + size;
        for (uint8_t* at = data; (at = static_cast<uint8_t*>(std::memchr(at, '\n', size_t(end - at)))); at++)
            *at = '\r';
    }

    bool add_to_run(const RecordValue& value, size_t i) {
        const size_t size = value.size + record_end_.size();
        if (!arena_.fits(size)) {
            if (!end_run(i)) return false;
            first_record_[i] = ordinal_;
            decoder_->materialize();
            arena_.make_room(size);
        }
        run_.push_back({i, arena_.used});
        arena_.copy(value, record_end_);
        ordinal_++;
        return true;
    }

    // All rows are to stand in one batch.
    bool fits(size_t size) {
        if (decoder_->fits(size)) return true;
        decoder_->materialize();
        too_large_ = decoder_->rows() != 0 && !decoder_->fits(size);
        return !too_large_;
    }

    // What has been gathered stands before value `behind`.
    bool end_run(size_t behind) {
        if (run_.empty()) return true;
        const size_t begin = run_[0].at, size = arena_.used - begin;
        uint8_t* const bytes = arena_.bytes.get();
        const uint8_t record_end = format_.ending.bytes.record_end;
        const bool lines_alone = format_.ending.kernel->count_byte(bytes + begin, size, record_end) == run_.size();
        if (!lines_alone && format_.line_ends_inside)
            for (size_t k = 0; k < run_.size(); k++) soften_line_ends(bytes + run_[k].at, size_in_run(k));
        const bool certain = (lines_alone || format_.line_ends_inside) && all_end_outside(begin, size);
        const bool fine = certain ? read_run(0, run_.size()) : read_with_care(behind);
        run_.clear();
        return fine;
    }

    size_t size_in_run(size_t k) const {
        return (k + 1 < run_.size() ? run_[k + 1].at : arena_.used) - run_[k].at - record_end_.size();
    }

    bool all_end_outside(size_t begin, size_t size) const {
        const RecordEnding& ending = format_.ending;
        const uint8_t* const bytes = arena_.bytes.get();
        if (ending.kind == EndingKind::stateless) return true;
        if (ending.kernel->count_byte(bytes + begin, size, ending.bytes.quote) == 0) return true;
        for (size_t k = 0; k < run_.size(); k++)
            if (!ending.ends_outside(bytes + run_[k].at, size_in_run(k))) return false;
        return true;
    }

    // Values of the run that are one record each.
    bool read_run(size_t first, size_t behind) {
        if (first == behind) return true;
        const size_t begin = run_[first].at;
        const size_t size = (behind < run_.size() ? run_[behind].at : arena_.used) - begin;
        place(first_record_[run_[first].value]);
        for (size_t k = first; k < behind; k++) base_[run_[k].value] = run_[k].at - begin;
        if (!fits(size)) return false;
        const size_t used = decoder_->index(arena_.bytes.get() + begin, size, unlimited);
        return used == size && decoder_->records_placed() == behind - first;
    }

    // Value by value: those that are no record by themselves, or several, go by themselves.
    bool read_with_care(size_t behind) {
        const uint8_t* const bytes = arena_.bytes.get();
        const uint8_t record_end = format_.ending.bytes.record_end;
        size_t first = 0, value = run_[0].value;
        ordinal_ = first_record_[value];
        for (size_t k = 0; k < run_.size(); k++) {
            while (value <= run_[k].value) first_record_[value++] = ordinal_;
            const uint8_t* const at = bytes + run_[k].at;
            const size_t size = size_in_run(k);
            if (!std::memchr(at, record_end, size) && format_.ending.ends_outside(at, size)) {
                ordinal_++;
                continue;
            }
            if (!read_run(first, k) || !index_alone(at, size)) return false;
            first = k + 1;
        }
        while (value < behind) first_record_[value++] = ordinal_;
        return read_run(first, run_.size());
    }

    bool read_alone(const RecordValue& value) {
        const size_t size = value.size + record_end_.size();
        if (!arena_.fits(size)) {
            decoder_->materialize();
            arena_.make_room(size);
        }
        uint8_t* const data = arena_.copy(value, record_end_);
        if (format_.line_ends_inside && value.size) soften_line_ends(data, value.size);
        return index_alone(data, value.size);
    }

    // As || does in |||: behind a value that ends with a part of one, an end is not where it was put.
    static bool overlaps_its_like(const std::string& end) {
        for (size_t shift = 1; shift < end.size(); shift++)
            if (end.compare(shift, std::string::npos, end, 0, end.size() - shift) == 0) return true;
        return false;
    }

    // What is not known to be one record; its record end stands behind it.
    bool index_alone(const uint8_t* data, size_t size_without_end) {
        place(ordinal_);
        const size_t size = size_without_end + (end_overlaps_ ? 0 : record_end_.size());
        if (!fits(size)) return false;
        size_t used = 0;
        while (used < size) {
            const size_t more = decoder_->index(data + used, size - used, unlimited);
            if (more == 0) break;
            used += more;
        }
        if (used < size) decoder_->index_unterminated(data + used, size_without_end - used);
        ordinal_ += decoder_->records_placed();
        return true;
    }

    // By its text: line ends stay what they are.
    bool read_as_it_is(const RecordValue& value) {
        place(ordinal_);
        if (!fits(value.size)) return false;
        decoder_->index_unterminated(value.data, value.size);
        ordinal_ += decoder_->records_placed();
        return true;
    }

    void place(uint64_t ordinal) {
        decoder_->place(Place{uint32_t(first_of_place_.size())});
        first_of_place_.push_back(ordinal);
    }

    uint64_t ordinal_of(const PlaceRecord& record) const { return first_of_place_[record.place] + record.records; }
    uint64_t records_in(size_t value) const { return first_record_[value + 1] - first_record_[value]; }
    size_t value_of(uint64_t record) const {
        const auto after = std::upper_bound(first_record_.begin(), first_record_.end() - 1, record);
        return size_t(after - first_record_.begin()) - 1;
    }

    // Whether every value was one record, and every record is a row, with nothing to say of any.
    bool is_row_by_row(size_t count) const {
        if (row_count_ != count || ordinal_ != count || !decoder_->findings.empty()) return false;
        uint64_t elsewhere = 0;
        for (size_t i = 0; i < count; i++) elsewhere |= first_record_[i] ^ i;
        return elsewhere == 0;
    }

    void place_rows(RecordArrayResult* result, size_t count) const {
        std::vector<uint64_t> row_ordinals(row_count_);
        uint64_t* ordinal = row_ordinals.data();
        for (const RecordRun& run : row_records_)
            for (uint64_t first = ordinal_of(run.first), k = 0; k < run.count; k++) *ordinal++ = first + k;
        std::vector<bool> rejected(ordinal_, false);
        for (const FindingAt<PlacePosition>& found : decoder_->findings)
            if (!found.row_kept) rejected[ordinal_of(found.at.record)] = true;
        result->row_of_value.assign(count, RecordArrayResult::no_row);
        bool in_order = row_ordinals.size() == count;
        size_t row = 0;
        for (size_t i = 0; i < count; i++) {
            int64_t* placed = &result->row_of_value[i];
            if (records_in(i) == 1 && !rejected[first_record_[i]]) *placed = RecordArrayResult::filtered;
            for (; row < row_ordinals.size() && row_ordinals[row] < first_record_[i + 1]; row++)
                if (records_in(i) == 1) *placed = int64_t(row);  // several records in one value are none
            in_order &= *placed == int64_t(i);
        }
        result->in_order = in_order;
    }

    void place_errors(RecordArrayResult* result, const RecordValues& values) {
        for (FindingAt<PlacePosition>& found : decoder_->findings) {
            const size_t value = value_of(ordinal_of(found.at.record));
            if (found.row_kept && result->row_of_value[value] == RecordArrayResult::filtered) continue;
            const ValuePosition position{value, found.at.bytes - int64_t(base_[value])};
            if (format_.line_ends_inside) {
                restore_line_ends(&found.found, values[value], position.bytes);
                restore_line_ends(&found.raw, values[value], 0);
            }
            result->findings.emplace_back(std::move(found), position);
        }
        for (size_t i = 0; i < values.count(); i++) {
            if (records_in(i) < 2) continue;
            const RecordValue value = values[i];
            result->findings.emplace_back(Finding::of_record(ErrorCode::several_records, value.data, value.size),
                                          ValuePosition{i});
        }
    }

    // What stood where a line was to be without them. `at`: where the text begins in the value.
    static void restore_line_ends(std::string* text, const RecordValue& value, int64_t at) {
        for (size_t i = 0; i < text->size() && size_t(at) + i < value.size; i++)
            if ((*text)[i] == '\r' && value.data[size_t(at) + i] == '\n') (*text)[i] = '\n';
    }

    const RecordFormat& format_;
    const std::string& record_end_;
    const bool end_overlaps_;
    const bool runs_;
    std::unique_ptr<RecordDecoder> decoder_;
    Arena arena_;
    struct RunValue {
        size_t value;  // of the array
        size_t at;  // in the arena
    };
    std::vector<RunValue> run_;
    uint64_t ordinal_ = 0;
    uint64_t row_count_ = 0;
    std::vector<uint64_t> first_record_;  // ordinal of the first record met in each value
    std::vector<size_t> base_;  // where a value stands in its run
    bool too_large_ = false;
    std::vector<uint64_t> first_of_place_;  // ordinal of the first record of each place of the decoder
    std::vector<RecordRun> row_records_;
};

}  // namespace

RecordArrayResult read_record_array(const RecordFormat& format, const RecordValues& values,
                                    const std::string& record_end) {
    const bool runs = format.ending.kind != EndingKind::scanned && record_end.size() == 1;
    RecordArrayReader reader(format, record_end, values.count(), runs);
    if (reader.read(values) || reader.too_large()) return reader.result(values);
    RecordArrayReader one_by_one(format, record_end, values.count(), false);
    one_by_one.read(values);
    return one_by_one.result(values);
}

}  // namespace formatter
