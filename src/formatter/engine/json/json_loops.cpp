#include "engine/json/json_loops.hpp"

#include "engine/json/json_scalars.hpp"
#include "engine/records/row_block.hpp"

namespace formatter {
namespace {

void mark_leading_zeros(const FieldView& view, ValueMarks* marks) {
    each_row(view, [&](uint32_t row, const Segment& segment, const uint32_t* stops) {
        // A line end follows at least, so two more bytes can be read.
        const bool bad = has_leading_zero(segment.base + stops[view.begin_stop]);
        marks->odd[row / 64] |= uint64_t(bad) << row % 64;
        marks->odd_count += bad;
    });
}

}  // namespace

void JsonLoops::decode(const ColumnSpec& spec, const FieldView& v, bool leading_zeros, uint8_t* values, uint64_t at,
                       ValueMarks* marks) {
    const uint32_t rows = v.rows;
    if (spec.type->decode && spec.type->decode({kernel_, spec, json_spelling(), v, values, at, wide_.data(), marks})) {
        if (leading_zeros) mark_leading_zeros(v, marks);
        return;
    }
    // Each value exactly: digits decide, there is no approximation to start from.
    for (uint32_t row = 0; row < rows; row += 64) {
        marks->empty[row / 64] = 0;
        marks->odd[row / 64] = rows - row < 64 ? (uint64_t(1) << (rows - row)) - 1 : ~uint64_t(0);
    }
    marks->odd_count = rows;
}

}  // namespace formatter
