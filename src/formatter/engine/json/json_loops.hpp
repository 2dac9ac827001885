// A column of JSON values at a time: the loops of the kernels, and what JSON asks for beyond them. In: where the values
// of many rows stand. Out: values, and which rows have to be looked at one by one. Knows types; knows no rows' meaning.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/columns/buffer_pool.hpp"
#include "engine/json_text/json_format.hpp"
#include "engine/json_text/json_text.hpp"

namespace formatter {

class JsonLoops {
  public:
    explicit JsonLoops(const Kernel* kernel) : kernel_(kernel) {}

    void make_room(size_t rows) {
        if (wide_.size() < rows + 64) wide_.resize(rows + 64);
    }
    // Values of a fixed-width type to row `at` of `values` and those behind. `leading_zeros`: some may begin with a zero
    // that a digit follows.
    void decode(const ColumnSpec&, const FieldView&, bool leading_zeros, uint8_t* values, uint64_t at, ValueMarks*);

    struct TextTarget {
        PoolBuffer* text;
        uint64_t bytes;  // of it that are written
        uint64_t first_bytes;  // room to begin with
        uint8_t* ends;  // of the first row
        bool wide, nullable;
        uint64_t* valid;  // bits that are set
    };
    // The strings of a column behind each other. Whatever is no plain matter is asked for: `exactly(row, segment, stops)`
    // returns its text, and clears its bit if it is null; without data if the column cannot be filled. False then, and if
    // there are more bytes than offsets can say.
    template <typename Exactly>
    bool gather_text(const FieldView&, bool plain, TextTarget*, Exactly exactly) const;

  private:
    const Kernel* kernel_;
    std::vector<int64_t> wide_;
};

template <typename Exactly>
bool JsonLoops::gather_text(const FieldView& view, bool plain, TextTarget* to, Exactly exactly) const {
    constexpr uint64_t slack = 64;
    const uint64_t most = to->wide ? uint64_t(INT64_MAX) : uint64_t(INT32_MAX);
    const size_t width = to->wide ? 8 : 4;
    to->text->reserve(std::max(to->bytes, to->bytes ? 0 : to->first_bytes) + slack, to->bytes);
    uint32_t first = 0;  // row of the segment
    for (size_t s = 0; s < view.segment_count; first += view.segments[s++].rows) {
        const Segment& segment = view.segments[s];
        const uint32_t* const stops = view.stops + segment.first_stop + view.begin_stop;
        for (uint32_t row = 0; row < segment.rows;) {
            if (plain) {
                JsonStrings strings{to->text->data(),
                                    to->bytes,
                                    std::min(to->text->capacity() - slack, most),
                                    to->ends + width * (first + row),
                                    to->wide,
                                    to->nullable,
                                    to->valid};
                row =
                    kernel_->gather_json_strings(segment, stops + row * view.stride, view.stride, row, first, strings);
                to->bytes = strings.bytes;
                if (row == segment.rows) break;
            }
            const uint32_t* const at = stops + row * view.stride;
            const uint64_t size = at[1] - at[0];
            if (to->bytes + size > most) return false;
            if (to->bytes + size + slack > to->text->capacity()) {
                to->text->reserve(to->bytes + size + 2 * slack, to->bytes);
                if (plain) continue;
            }
            const Bytes text = exactly(first + row, segment, at);
            if (!text.data || to->bytes + text.size > most) return false;
            to->text->reserve(to->bytes + text.size + slack, to->bytes);
            if (text.size) std::memcpy(to->text->data() + to->bytes, text.data, text.size);
            to->bytes += text.size;
            const int64_t wide_end = int64_t(to->bytes);
            const int32_t end = int32_t(to->bytes);
            std::memcpy(to->ends + width * (first + row), to->wide ? static_cast<const void*>(&wide_end) : &end, width);
            row++;
        }
    }
    return true;
}

}  // namespace formatter
