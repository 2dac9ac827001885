#include "engine/json/json_scalars.hpp"

#include <algorithm>
#include <cstring>

#include "engine/columns/narrowing.hpp"

namespace formatter {
namespace {

bool is_digit(uint8_t c) { return uint8_t(c - '0') <= 9; }

// A JSON number times 10^scale as a whole number: precision if it is none, overflow beyond 38 digits.
ErrorCode parse_scaled(Bytes number, int64_t scale, __int128* out) {
    const uint8_t* at = number.data;
    const uint8_t* end = at + number.size;
    const bool negative = *at == '-';
    at += negative;
    const uint8_t* mantissa_end = at;
    const uint8_t* point = nullptr;
    for (; mantissa_end < end && (*mantissa_end | 0x20) != 'e'; mantissa_end++)
        if (*mantissa_end == '.') point = mantissa_end;
    int64_t exponent = 0;
    if (mantissa_end < end) {
        const uint8_t* e = mantissa_end + 1;
        const bool below = *e == '-';
        if (*e == '-' || *e == '+') e++;
        for (; e < end; e++)
            if (exponent < int64_t(1) << 50) exponent = exponent * 10 + (*e - '0');
        if (below) exponent = -exponent;
    }
    const uint8_t* last = mantissa_end;
    exponent += scale - (point ? mantissa_end - point - 1 : 0);
    while (last > at && (last[-1] == '0' || last[-1] == '.')) exponent += *--last == '0';
    while (at < last && (*at == '0' || *at == '.')) at++;
    if (at == last) {
        *out = 0;
        return ErrorCode::none;
    }
    if (exponent < 0) return ErrorCode::precision;
    const int64_t digits = last - at - (point && point > at && point < last);
    if (digits > 38 || exponent > 38 - digits) return ErrorCode::overflow;
    __int128 value = 0;
    for (; at < last; at++)
        if (*at != '.') value = value * 10 + (*at - '0');
    for (; exponent > 0; exponent--) value *= 10;
    *out = negative ? -value : value;
    return ErrorCode::none;
}

ErrorCode parse_json_integer(Bytes number, ColumnType type, int64_t* out) {
    const bool whole = std::all_of(number.data + (*number.data == '-'), number.data + number.size, is_digit);
    if (whole) return parse_integer(number, type, out);
    // 1.0 and 1e3 are whole numbers too; what is lost otherwise is an error.
    __int128 exact = 0;
    const ErrorCode code = parse_scaled(number, 0, &exact);
    if (code != ErrorCode::none) return code;
    const bool natural = type >= ColumnType::uint8 && type <= ColumnType::uint64;
    const unsigned bits = 8 * value_width(type);
    const __int128 most = (__int128(1) << (natural ? bits : bits - 1)) - 1;
    const __int128 least = natural ? 0 : -most - 1;
    if (exact > most || exact < least) return ErrorCode::overflow;
    *out = int64_t(exact);
    return ErrorCode::none;
}

ErrorCode parse_json_decimal(Bytes number, const ColumnSpec& spec, __int128* out) {
    if (!is_json_number(number)) return ErrorCode::invalid;
    const ErrorCode code = parse_scaled(number, spec.scale, out);
    if (code != ErrorCode::none) return code;
    __int128 limit = 1;
    for (int i = 0; i < spec.precision; i++) limit *= 10;
    return *out >= limit || *out <= -limit ? ErrorCode::overflow : code;
}

int64_t decimals_of(TimeUnit unit) { return 3 * int64_t(unit); }
int64_t decimals_of(EpochUnit unit) { return 3 * (int64_t(unit) - int64_t(EpochUnit::second)); }

ErrorCode parse_epoch(Bytes number, const JsonNodeSpec& node, int64_t* out) {
    if (node.epoch == EpochUnit::none) return ErrorCode::wrong_type;
    const bool date = node.scalar.type == ColumnType::date32;
    const bool days = node.epoch == EpochUnit::day;
    const int64_t decimals = date ? 0 : decimals_of(node.scalar.unit);
    __int128 exact = 0;
    const ErrorCode code = parse_scaled(number, days ? 0 : decimals - decimals_of(node.epoch), &exact);
    if (code != ErrorCode::none) return code;
    if (date && !days) {
        if (exact % 86400) return ErrorCode::precision;
        exact /= 86400;
    }
    const __int128 most = date ? INT32_MAX : INT64_MAX;
    if (exact > most || exact < -most - 1) return ErrorCode::overflow;
    *out = int64_t(exact);
    return ErrorCode::none;
}

ErrorCode parse_text(const JsonNodeSpec& node, Bytes content, bool escapes, JsonScalar* out) {
    const ColumnSpec& spec = node.scalar;
    std::string& scratch = out->scratch;
    if (escapes) {
        const ErrorCode code = unescape(content, &scratch, node.lone_surrogates);
        if (code != ErrorCode::none) return code;
        content = Bytes{reinterpret_cast<const uint8_t*>(scratch.data()), scratch.size()};
    }
    switch (spec.type) {
        case ColumnType::string:
        case ColumnType::large_string:
        case ColumnType::binary:
        case ColumnType::large_binary: {
            out->text = content;
            const auto fits = [&] { return has_width(spec, out->text.size) ? ErrorCode::none : ErrorCode::invalid; };
            if (spec.encoding == BinaryEncoding::plain) return fits();
            std::string decoded;
            const ErrorCode code =
                spec.encoding == BinaryEncoding::hex ? decode_hex(content, &decoded) : decode_base64(content, &decoded);
            scratch.swap(decoded);
            out->text = Bytes{reinterpret_cast<const uint8_t*>(scratch.data()), scratch.size()};
            return code == ErrorCode::none ? fits() : code;
        }
        case ColumnType::date32: {
            int32_t days = 0;
            const ErrorCode code = parse_date(content, &days);
            out->integer = days;
            return code;
        }
        case ColumnType::timestamp:
            return spec.time_of_day ? parse_time_of_day(content, spec.unit, &out->integer)
                                    : parse_timestamp(content, spec.unit, &out->integer);
        case ColumnType::decimal128: return parse_json_decimal(content, spec, &out->wide);
        default: return ErrorCode::wrong_type;
    }
}

ErrorCode parse_number(const JsonNodeSpec& node, Bytes number, JsonScalar* out) {
    const ColumnSpec& spec = node.scalar;
    switch (spec.type) {
        case ColumnType::float16:
        case ColumnType::float32:
        case ColumnType::float64: return parse_float(number, spec.type, '.', &out->real);
        case ColumnType::decimal128: return parse_json_decimal(number, spec, &out->wide);
        case ColumnType::date32:
        case ColumnType::timestamp: return parse_epoch(number, node, &out->integer);
        default:
            if (is_text(spec.type) || spec.type == ColumnType::boolean) return ErrorCode::wrong_type;
            return parse_json_integer(number, spec.type, &out->integer);
    }
}

}  // namespace

Skipped parse_json_scalar(const JsonNodeSpec& node, const uint8_t* at, const uint8_t* end, JsonScalar* out) {
    out->null = false;
    if (at == end) return {at, ErrorCode::malformed};
    if (node.scalar.raw || *at == '{' || *at == '[') {
        const Skipped whole = check_value(at, end);
        if (whole.code != ErrorCode::none) return whole;
        if (!node.scalar.raw && !node.scalar.any_value) return {at, ErrorCode::wrong_type};
        out->text = Bytes{at, size_t(whole.at - at)};
        out->null = out->text.equals("null");
        return whole;
    }
    if (*at == '"') {
        bool escapes;
        const Skipped close = check_string(at + 1, end, &escapes);
        if (close.code != ErrorCode::none) return close;
        const ErrorCode code = parse_text(node, Bytes{at + 1, size_t(close.at - at - 1)}, escapes, out);
        return {code == ErrorCode::none ? close.at + 1 : at, code};
    }
    const uint8_t* behind = at;
    while (behind < end && !is_json_space(*behind) && *behind != ',' && *behind != '}' && *behind != ']') behind++;
    const Bytes token{at, size_t(behind - at)};
    ErrorCode code = ErrorCode::malformed;
    const bool yes = token.equals("true");
    if (token.equals("null")) {
        out->null = true;
        code = ErrorCode::none;
    } else if (yes || token.equals("false")) {
        out->integer = yes;
        out->text = token;
        const bool fits = node.scalar.type == ColumnType::boolean || node.scalar.any_value;
        code = fits ? ErrorCode::none : ErrorCode::wrong_type;
    } else if (is_json_number(token)) {
        out->text = token;
        code = node.scalar.any_value ? ErrorCode::none : parse_number(node, token, out);
    }
    return {code == ErrorCode::none ? behind : at, code};
}

ErrorCode parse_json_key(const JsonNodeSpec& node, Bytes key, JsonScalar* out) {
    out->null = false;
    const ColumnType type = node.scalar.type;
    const bool time = type == ColumnType::date32 || type == ColumnType::timestamp;
    const bool epoch = time && node.epoch != EpochUnit::none && is_json_number(key);
    if (is_text(type) || (time && !epoch)) return parse_text(node, key, false, out);
    if (type == ColumnType::boolean) {
        out->integer = key.equals("true");
        return out->integer || key.equals("false") ? ErrorCode::none : ErrorCode::invalid;
    }
    return is_json_number(key) ? parse_number(node, key, out) : ErrorCode::invalid;
}

// Zero has two signs and is one key.
static double one_zero(const JsonScalar& key) { return key.real == 0 ? 0 : key.real; }

std::string identity_of_key(const ColumnSpec& spec, const JsonScalar& key) {
    const auto bytes_of = [](const void* value, size_t size) {
        return std::string(static_cast<const char*>(value), size);
    };
    if (is_text(spec.type)) return bytes_of(key.text.data, key.text.size);
    if (spec.type == ColumnType::decimal128) return bytes_of(&key.wide, sizeof key.wide);
    if (!is_float(spec.type)) return bytes_of(&key.integer, sizeof key.integer);
    const double real = one_zero(key);
    return bytes_of(&real, sizeof real);
}

uint64_t digest_of_key(const ColumnSpec& spec, const JsonScalar& key) {
    constexpr uint64_t odd = 0x9E3779B97F4A7C15;
    if (spec.type == ColumnType::decimal128) return uint64_t(key.wide) ^ (uint64_t(key.wide >> 64) * odd);
    if (is_float(spec.type)) {
        const double real = one_zero(key);
        uint64_t bits;
        std::memcpy(&bits, &real, 8);
        return bits;
    }
    if (!is_text(spec.type)) return uint64_t(key.integer);
    uint64_t digest = key.text.size;
    for (size_t at = 0; at < key.text.size; at += 8) {
        uint64_t word = 0;
        std::memcpy(&word, key.text.data + at, std::min<size_t>(8, key.text.size - at));
        digest = (digest ^ word) * odd;
        digest ^= digest >> 29;
    }
    return digest;
}

void store_json_scalar(const ColumnSpec& spec, const JsonScalar& value, uint8_t* values, uint64_t at) {
    switch (spec.type) {
        case ColumnType::float16:
        case ColumnType::float32:
        case ColumnType::float64: store_float(spec.type, value.real, values, at); break;
        case ColumnType::decimal128: std::memcpy(values + 16 * at, &value.wide, 16); break;
        case ColumnType::boolean:
            values[at / 8] = uint8_t((values[at / 8] & ~(1u << at % 8)) | unsigned(value.integer & 1) << at % 8);
            break;
        default: std::memcpy(values + at * value_width(spec.type), &value.integer, value_width(spec.type));
    }
}

}  // namespace formatter
