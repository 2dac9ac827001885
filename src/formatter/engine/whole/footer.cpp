// All records are counted from the first on, with a mark now and then, and those behind the last mark that is far enough from
// the end once more: quotes can be followed in one direction only.
#include "engine/whole/footer.hpp"

#include <algorithm>
#include <vector>

namespace formatter {
namespace {

constexpr uint64_t records_a_mark = 4096;

struct Mark {
    size_t bytes;
    uint64_t records;
};

void forget_rows(RecordDecoder& decoder) {
    decoder.materialize();
    decoder.findings.clear();
    ArrowArray batch{};
    decoder.export_batch(&batch);
    if (batch.release) batch.release(&batch);
}

}  // namespace

size_t bytes_before_footer(const RecordFormat& format, const uint8_t* data, size_t size, uint64_t footer_records,
                           bool input_ends) {
    const std::unique_ptr<RecordDecoder> decoder = format.make_decoder();
    std::vector<Mark> marks{{0, 0}};
    decoder->place(Place{});
    size_t at = 0;
    while (at < size) {
        size_t used = decoder->index(data + at, size - at, records_a_mark);
        if (used == 0 && input_ends) used = decoder->index_unterminated(data + at, size - at);
        if (used == 0) break;
        at += used;
        marks.push_back({at, decoder->records_placed()});
        forget_rows(*decoder);
    }
    const uint64_t records = marks.back().records;
    if (records <= footer_records) return 0;
    const uint64_t kept = records - footer_records;
    const Mark near = *std::prev(std::upper_bound(
        marks.begin(), marks.end(), kept, [](uint64_t wanted, const Mark& mark) { return wanted < mark.records; }));
    decoder->place(Place{});
    at = near.bytes;
    while (near.records + decoder->records_placed() < kept) {
        const uint64_t more = kept - near.records - decoder->records_placed();
        size_t used = decoder->index(data + at, size - at, more);
        if (used == 0) used = decoder->index_unterminated(data + at, size - at);
        at += used;
        forget_rows(*decoder);
    }
    return at;
}

}  // namespace formatter
