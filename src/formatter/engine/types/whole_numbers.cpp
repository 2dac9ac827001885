// Whole numbers of 8 to 64 bits, with and without a sign. In: fields, one value's text, binary rows. Out: values. Refuses to
// know formats.
#include <algorithm>
#include <limits>

#include "engine/types/column_types.hpp"
#include "engine/types/fixed_width.hpp"
#include "engine/types/narrowing.hpp"
#include "engine/values/exact_values.hpp"
#include "engine/values/json_numbers.hpp"

namespace formatter {
namespace {

template <typename T>
bool decode(const FieldLoop& c) {
    if constexpr (std::is_same_v<T, int64_t>) {
        c.kernel->decode_int64(c.fields, c.out<T>(), *c.marks);
    } else if constexpr (std::is_same_v<T, uint64_t>) {
        c.kernel->decode_uint64(c.fields, c.out<T>(), *c.marks);
    } else {
        c.kernel->decode_int64(c.fields, c.wide, *c.marks);
        narrow(c.wide, c.out<T>(), c.fields.rows, c.marks);
    }
    return true;
}

template <typename T>
ErrorCode parse(Bytes text, void* out) {
    int64_t value = 0;
    const ErrorCode code = parse_integer(text, range_of<T>(), &value);
    return stored(code, T(value), out);
}

template <typename T>
ErrorCode parse_text(Bytes text, const ColumnSpec&, const Spelling&, void* out) {
    return parse<T>(text, out);
}

// 1.0 and 1e3 are whole numbers too, unless there is one way to write them; what is lost otherwise is an error.
template <typename T>
ErrorCode parse_number(Bytes number, const ColumnSpec& spec, void* out) {
    if (std::all_of(number.data + (*number.data == '-'), number.data + number.size, is_digit))
        return parse<T>(number, out);
    if (spec.plain) return ErrorCode::invalid;
    __int128 exact = 0;
    const ErrorCode code = parse_scaled(number, 0, &exact);
    if (code != ErrorCode::none) return code;
    if (exact > std::numeric_limits<T>::max() || exact < std::numeric_limits<T>::min()) return ErrorCode::overflow;
    return stored(code, T(exact), out);
}

template <typename T>
constexpr ColumnType whole_number(const char* name) {
    ColumnType type;
    type.name = name;
    type.width = sizeof(T);
    type.json = JsonWriting::number;
    type.decode = decode<T>;
    type.parse_text = parse_text<T>;
    type.parse_number = parse_number<T>;
    type.gather = gather_fixed<T>;
    if constexpr (std::is_signed_v<T>) {
        type.operands = Operands::integers;
        type.test = test_fixed<T, int64_t, &Predicate::integers>;
    } else {
        type.operands = Operands::naturals;
        type.test = test_fixed<T, uint64_t, &Predicate::naturals>;
    }
    return type;
}

}  // namespace

constexpr ColumnType int8_type = whole_number<int8_t>("int8");
constexpr ColumnType int16_type = whole_number<int16_t>("int16");
constexpr ColumnType int32_type = whole_number<int32_t>("int32");
constexpr ColumnType int64_type = whole_number<int64_t>("int64");
constexpr ColumnType uint8_type = whole_number<uint8_t>("uint8");
constexpr ColumnType uint16_type = whole_number<uint16_t>("uint16");
constexpr ColumnType uint32_type = whole_number<uint32_t>("uint32");
constexpr ColumnType uint64_type = whole_number<uint64_t>("uint64");

}  // namespace formatter
