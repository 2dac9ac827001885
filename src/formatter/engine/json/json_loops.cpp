#include "engine/json/json_loops.hpp"

#include "engine/columns/narrowing.hpp"
#include "engine/records/row_block.hpp"

namespace formatter {
namespace {

// What an epoch number is multiplied with, or 0 if it must be divided.
int64_t epoch_factor(const JsonNodeSpec& node) {
    const int steps = int(node.scalar.unit) - (int(node.epoch) - int(EpochUnit::second));
    static const int64_t factors[] = {1, 1000, 1000000, 1000000000};
    return steps < 0 ? 0 : factors[steps];
}

// JSON has no number that begins with a zero and another digit; the kernels' loops do not mind.
void mark_leading_zeros(const FieldView& view, ValueMarks* marks) {
    each_row(view, [&](uint32_t row, const Segment& segment, const uint32_t* stops) {
        // A line end follows at least, so two more bytes can be read.
        const uint8_t* at = segment.base + stops[view.begin_stop];
        at += *at == '-';
        const bool bad = *at == '0' && uint8_t(at[1] - '0') <= 9;
        marks->odd[row / 64] |= uint64_t(bad) << row % 64;
        marks->odd_count += bad;
    });
}

}  // namespace

void JsonLoops::decode(const JsonNodeSpec& node, const FieldView& v, bool leading_zeros, uint8_t* values, uint64_t at,
                       ValueMarks* marks) {
    const uint32_t rows = v.rows;
    const auto zeros = [&] {
        if (leading_zeros) mark_leading_zeros(v, marks);
    };
    const auto integers = [&] {
        kernel_->decode_int64(v, wide_.data(), *marks);
        zeros();
    };
    const auto to = [&](auto type) { return reinterpret_cast<decltype(type)*>(values) + at; };
    switch (node.scalar.type) {
        case ColumnType::int64: kernel_->decode_int64(v, to(int64_t()), *marks); return zeros();
        case ColumnType::float64: kernel_->decode_float64(v, '.', to(double()), *marks); return zeros();
        case ColumnType::float16:
        case ColumnType::float32: {
            double* wide = reinterpret_cast<double*>(wide_.data());
            kernel_->decode_float64(v, '.', wide, *marks);
            zeros();
            return narrow_floats(node.scalar.type, wide, values + at * value_width(node.scalar.type), rows, marks);
        }
        case ColumnType::boolean: {
            static const Token yes{4, {'t', 'r', 'u', 'e'}}, no{5, {'f', 'a', 'l', 's', 'e'}};
            uint64_t* bits = reinterpret_cast<uint64_t*>(wide_.data());
            kernel_->decode_bool(v, &yes, 1, &no, 1, bits, *marks);
            return copy_bits(values, at, bits, rows);
        }
        case ColumnType::date32:
            if (node.epoch == EpochUnit::none) return kernel_->decode_date32(v, to(int32_t()), *marks);
            break;
        case ColumnType::timestamp: {
            if (node.scalar.time_of_day) break;
            if (node.epoch == EpochUnit::none)
                return kernel_->decode_timestamp(v, node.scalar.unit, to(int64_t()), *marks);
            const int64_t factor = epoch_factor(node);
            if (factor == 0) break;
            integers();
            int64_t* out = to(int64_t());
            for (uint32_t row = 0; row < rows; row++) {
                const bool over = __builtin_mul_overflow(wide_[row], factor, &out[row]);
                marks->odd[row / 64] |= uint64_t(over) << row % 64;
                marks->odd_count += over;
            }
            return;
        }
        case ColumnType::int8:
        case ColumnType::int16:
        case ColumnType::int32:
        case ColumnType::uint8:
        case ColumnType::uint16:
        case ColumnType::uint32:
        case ColumnType::uint64:
            integers();
            return narrow_integers(node.scalar.type, wide_.data(), values + at * value_width(node.scalar.type), rows,
                                   marks);
        default: break;
    }
    // Each value exactly: digits decide, there is no approximation to start from.
    for (uint32_t row = 0; row < rows; row += 64) {
        marks->empty[row / 64] = 0;
        marks->odd[row / 64] = rows - row < 64 ? (uint64_t(1) << (rows - row)) - 1 : ~uint64_t(0);
    }
    marks->odd_count = rows;
}

}  // namespace formatter
