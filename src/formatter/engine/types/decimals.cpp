// Decimals of up to 38 digits: whole numbers of sixteen bytes, in units of the last place. In: fields, one value's text,
// binary rows. Out: values, exact or refused. Refuses to know formats.
#include "engine/types/column_types.hpp"
#include "engine/types/fixed_width.hpp"
#include "engine/values/exact_values.hpp"
#include "engine/values/json_numbers.hpp"

namespace formatter {
namespace {

constexpr int most_digits = 38;

struct PowersOfTen {
    __int128 of[most_digits + 1];
};

constexpr PowersOfTen make_powers() {
    PowersOfTen powers{};
    powers.of[0] = 1;
    for (int i = 1; i <= most_digits; i++) powers.of[i] = powers.of[i - 1] * 10;
    return powers;
}

constexpr PowersOfTen powers = make_powers();

bool has_digits(__int128 value, int digits) { return value < powers.of[digits] && value > -powers.of[digits]; }

bool decode(const FieldLoop& c) {
    if (c.spec.scale < 0 || c.spec.scale > most_digits) return false;
    c.kernel->decode_decimal128(c.fields, c.spelling.decimal_point, c.spec.precision, uint32_t(c.spec.scale),
                                reinterpret_cast<uint8_t*>(c.out<__int128>()), *c.marks);
    return true;
}

ErrorCode parse_number(Bytes number, const ColumnSpec& spec, void* out) {
    __int128 value = 0;
    ErrorCode code = parse_scaled(number, spec.scale, &value);
    if (code == ErrorCode::none && !has_digits(value, spec.precision)) code = ErrorCode::overflow;
    return stored(code, value, out);
}

ErrorCode parse_text(Bytes text, const ColumnSpec& spec, const Spelling& spelling, void* out) {
    if (spelling.typed) return is_json_number(text) ? parse_number(text, spec, out) : ErrorCode::invalid;
    __int128 value = 0;
    const ErrorCode code = parse_decimal(text, spec.precision, spec.scale, spelling.decimal_point, &value);
    return stored(code, value, out);
}

__int128 load_wide(const void* at) {
    __int128 value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

// What they are compared with are unscaled values of the column's own scale, as texts.
void test(const Predicate& p, const ColumnView& c, uint64_t count, uint64_t* keep) {
    const uint8_t* const values = c.values;
    std::vector<__int128> wanted;
    for (const std::string& w : p.texts) wanted.push_back(load_wide(w.data()));
    test_rows<__int128>(p, wanted, c, count, keep, [values](uint64_t row) { return load_wide(values + 16 * row); });
}

// A two's complement of 4, 8 or 16 bytes.
template <bool swap>
__int128 load(const uint8_t* at, uint32_t width) {
    if (width == 4) return load_packed<int32_t, swap>(at);
    if (width == 8) return load_packed<int64_t, swap>(at);
    const uint64_t low = load_packed<uint64_t, swap>(at + (swap ? 8 : 0));
    const uint64_t high = load_packed<uint64_t, swap>(at + (swap ? 0 : 8));
    return __int128((unsigned __int128)(high) << 64 | low);
}

template <bool swap>
void gather_as(const PackedFields& fields, uint8_t* out) {
    const auto from = [&](auto width) {
        each_packed(fields, [out, width](size_t i, const uint8_t* field) {
            const __int128 value = load<swap>(field, width);
            std::memcpy(out + 16 * i, &value, sizeof value);
        });
    };
    switch (fields.width) {
        case 4: return from(std::integral_constant<uint32_t, 4>());
        case 8: return from(std::integral_constant<uint32_t, 8>());
        default: return from(std::integral_constant<uint32_t, 16>());
    }
}

void gather(const PackedFields& fields, uint8_t* values, uint64_t at) {
    fields.big_endian ? gather_as<true>(fields, values + 16 * at) : gather_as<false>(fields, values + 16 * at);
}

size_t next_wrong(const PackedFields& fields, const ColumnSpec& spec, size_t from, ErrorCode* why) {
    const uint32_t width = fields.width;
    const int digits = spec.precision;
    *why = ErrorCode::overflow;
    if (fields.big_endian)
        return next_wrong_packed(fields, from,
                                 [=](const uint8_t* field) { return has_digits(load<true>(field, width), digits); });
    return next_wrong_packed(fields, from,
                             [=](const uint8_t* field) { return has_digits(load<false>(field, width), digits); });
}

constexpr ColumnType decimal() {
    ColumnType type;
    type.name = "decimal128";
    type.width = sizeof(__int128);
    type.operands = Operands::wide;
    type.json = JsonWriting::number_or_string;
    type.cost = 20;
    type.decode = decode;
    type.parse_text = parse_text;
    type.parse_number = parse_number;
    type.test = test;
    type.gather = gather;
    type.next_wrong = next_wrong;
    return type;
}

}  // namespace

constexpr ColumnType decimal128_type = decimal();

}  // namespace formatter
