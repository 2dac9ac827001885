// Floats of 16, 32 and 64 bits. In: fields, one value's text, binary rows. Out: values, correctly rounded. Refuses to know
// formats.
#include <cmath>

#include "engine/types/column_types.hpp"
#include "engine/types/fixed_width.hpp"
#include "engine/types/narrowing.hpp"
#include "engine/values/exact_values.hpp"
#include "engine/values/plain_spelling.hpp"

namespace formatter {
namespace {

// Of a column of one spelling of numbers as JSON writes them: those that might be written in another.
template <typename T>
void leave_other_spellings(const FieldLoop& c) {
    if (!c.spec.plain || !c.spelling.typed) return;
    T* const out = c.out<T>();
    for (uint32_t row = 0; row < c.fields.rows; row++) {
        const double value = double(out[row]);
        const bool negative_zero = value == 0 && std::signbit(value);
        const bool large = sizeof(T) == 4 && std::fabs(value) >= plain_whole_floats;
        if (!negative_zero && !large) continue;
        out[row] = T{};
        mark_odd(c.marks, row, true);
    }
}

template <typename T>
bool decode(const FieldLoop& c) {
    const uint8_t point = c.spelling.decimal_point;
    if constexpr (std::is_same_v<T, double>) {
        c.kernel->decode_float64(c.fields, point, c.out<T>(), *c.marks);
    } else {
        double* const wide = reinterpret_cast<double*>(c.wide);
        c.kernel->decode_float64(c.fields, point, wide, *c.marks);
        narrow(wide, c.out<T>(), c.fields.rows, c.marks);
    }
    leave_other_spellings<T>(c);
    return true;
}

template <typename T>
ErrorCode parse(Bytes text, uint8_t decimal_point, void* out) {
    constexpr int mantissa_bits = sizeof(T) == 2 ? half_bits : sizeof(T) == 4 ? single_bits : double_bits;
    double value = 0;
    const ErrorCode code = parse_float(text, mantissa_bits, decimal_point, &value);
    if constexpr (std::is_same_v<T, Half>)
        return stored(code, nearest_half(value).bits, out);
    else
        return stored(code, T(value), out);
}

template <typename T>
ErrorCode parse_text(Bytes text, const ColumnSpec&, const Spelling& spelling, void* out) {
    return parse<T>(text, spelling.decimal_point, out);
}

template <typename T>
ErrorCode parse_number(Bytes number, const ColumnSpec& spec, void* out) {
    if (spec.plain && !is_plain_float(number, sizeof(T) == 4)) return ErrorCode::invalid;
    return parse<T>(number, '.', out);
}

template <typename T>
constexpr ColumnType binary_float(const char* name, uint8_t cost) {
    ColumnType type;
    type.name = name;
    type.width = sizeof(T);
    type.operands = Operands::floats;
    type.json = JsonWriting::number;
    type.cost = cost;
    type.decode = decode<T>;
    type.parse_text = parse_text<T>;
    type.parse_number = parse_number<T>;
    type.test = test_fixed<T, double, &Predicate::floats>;
    type.gather = sizeof(T) == 2   ? gather_fixed<uint16_t>
                  : sizeof(T) == 4 ? gather_fixed<uint32_t>
                                   : gather_fixed<uint64_t>;
    return type;
}

}  // namespace

constexpr ColumnType float16_type = binary_float<Half>("float16", 1);
constexpr ColumnType float32_type = binary_float<float>("float32", 1);
constexpr ColumnType float64_type = binary_float<double>("float64", 2);

}  // namespace formatter
