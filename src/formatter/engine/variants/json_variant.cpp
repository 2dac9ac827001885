#include "engine/variants/json_variant.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/values/exact_values.hpp"

namespace formatter {
namespace {

enum class Basic : uint8_t { primitive, short_text, object, array };
enum class Primitive : uint8_t {
    null,
    true_,
    false_,
    int8,
    int16,
    int32,
    int64,
    float64,
    decimal4,
    decimal8,
    decimal16,
    text = 16
};

constexpr size_t short_text_most = 63;
constexpr size_t few_items = 255;  // so many are counted in a byte
constexpr size_t slack = variant_slack;
constexpr size_t word_digits = 19, decimal_digits = 38;

uint8_t primitive(Primitive type) { return uint8_t(uint8_t(type) << 2 | uint8_t(Basic::primitive)); }

constexpr __int128 power_of_ten(int exponent) { return exponent ? 10 * power_of_ten(exponent - 1) : 1; }
constexpr __int128 ten_to_9 = power_of_ten(9), ten_to_18 = power_of_ten(18), ten_to_38 = power_of_ten(38);

}  // namespace

Skipped VariantWriter::write(const uint8_t* at, const uint8_t* end, Bytes* out) {
    begin_value();
    for (;;) {
        // A value begins here.
        at = skip_json_space(at, end);
        if (at == end) return {at, ErrorCode::malformed};
        if (*at == '{' || *at == '[') {
            if (open_.size() == variant_depth_limit) return {at, ErrorCode::too_deep};
            open(*at == '{');
            Open& opened = open_.back();
            at = skip_json_space(at + 1, end);
            if (at == end || *at != (opened.object ? '}' : ']')) {
                if (opened.object) {
                    const ErrorCode code = read_member(&at, end);
                    if (code != ErrorCode::none) return {at, code};
                } else {
                    entries_.push_back({0, 0, at});
                }
                continue;
            }
            at++;
            const ErrorCode code = close(&at);
            if (code != ErrorCode::none) return {at, code};
        } else {
            const ErrorCode code = write_scalar(&at, end);
            if (code != ErrorCode::none) return {at, code};
        }
        // A value has ended.
        while (!open_.empty()) {
            at = skip_json_space(at, end);
            if (at == end) return {at, ErrorCode::malformed};
            if (*at == ',') break;
            if (*at != (open_.back().object ? '}' : ']')) return {at, ErrorCode::malformed};
            at++;
            const ErrorCode code = close(&at);
            if (code != ErrorCode::none) return {at, code};
        }
        if (bytes_ > variant_bytes_most) return {at, ErrorCode::overflow};
        if (open_.empty()) break;
        at = skip_json_space(at + 1, end);
        if (open_.back().object) {
            const ErrorCode code = read_member(&at, end);
            if (code != ErrorCode::none) return {at, code};
        } else {
            entries_.push_back({0, uint32_t(bytes_ - open_.back().begin), at});
        }
    }
    const Bytes metadata = keys_.metadata();
    if (!metadata.data) return {at, ErrorCode::overflow};
    *out = laid_together(metadata);
    return {at, ErrorCode::none};
}

void VariantWriter::begin_value() {
    scalar_bytes_ = 0;
    bytes_ = 0;
    header_bytes_ = 0;
    containers_.clear();
    open_.clear();
    entries_.clear();
    keys_.begin_record();
}

// The key of the object that was opened last, up to the value behind it.
ErrorCode VariantWriter::read_member(const uint8_t** at, const uint8_t* end) {
    Open& open = open_.back();
    const uint8_t* const key = *at;
    const ErrorCode code = keys_.read(at, end, &open.place);
    entries_.push_back({open.place.last, uint32_t(bytes_ - open.begin), key});
    return code;
}

// ------------------------------------------------------------------------------------------ scalars

ErrorCode VariantWriter::write_scalar(const uint8_t** at, const uint8_t* end) {
    const auto literal = [&](const char* word, size_t size, Primitive type) {
        if (size_t(end - *at) < size || std::memcmp(*at, word, size) != 0) return ErrorCode::malformed;
        *scalar_room(1) = primitive(type);
        scalar_written(1);
        *at += size;
        return ErrorCode::none;
    };
    switch (**at) {
        case '"': return write_string(at, end);
        case 't': return literal("true", 4, Primitive::true_);
        case 'f': return literal("false", 5, Primitive::false_);
        case 'n': return literal("null", 4, Primitive::null);
        default: return write_number(at, end);
    }
}

// Copies sixteen bytes; how many of them stand before a quote, a backslash or a control character.
static size_t copy_plain(const uint8_t* from, uint8_t* to) {
    typedef uint8_t Lanes __attribute__((vector_size(16)));
    typedef uint64_t Pair __attribute__((vector_size(16)));
    Lanes bytes;
    std::memcpy(&bytes, from, 16);
    std::memcpy(to, &bytes, 16);
    const Pair marks =
        Pair(Lanes(bytes == uint8_t('"')) | Lanes(bytes == uint8_t('\\')) | Lanes(bytes < uint8_t(0x20)));
    if (marks[0]) return size_t(__builtin_ctzll(marks[0])) / 8;
    return marks[1] ? 8 + size_t(__builtin_ctzll(marks[1])) / 8 : 16;
}

ErrorCode VariantWriter::write_string(const uint8_t** at, const uint8_t* end) {
    const uint8_t* const text = *at + 1;
    if (end - text >
        int64_t(short_text_most + slack)) {  // most texts are short and plain: copied while they are looked at
        uint8_t* const to = scalar_room(1 + short_text_most + slack);
        for (size_t size = 0; size < short_text_most; size += slack) {
            const size_t plain = copy_plain(text + size, to + 1 + size);
            if (plain == slack) continue;
            size += plain;
            if (text[size] != '"' || size > short_text_most) break;
            to[0] = uint8_t(size << 2 | uint8_t(Basic::short_text));
            scalar_written(1 + size);
            *at = text + size + 1;
            return ErrorCode::none;
        }
    }
    bool escapes;
    const Skipped close = check_string(text, end, &escapes);
    if (close.code != ErrorCode::none) return *at = close.at, close.code;
    size_t size = size_t(close.at - text);
    // Unescaped text is never longer; what stands before it may turn out to be four bytes shorter.
    uint8_t* const to = scalar_room(size + 5 + 16);
    uint8_t* content = to + (size > short_text_most ? 5 : 1);
    if (escapes) {
        const ErrorCode code = unescape({text, size}, content, &size, alone_);
        if (code != ErrorCode::none) return code;
        if (size <= short_text_most && content != to + 1) {
            std::memmove(to + 1, content, size);
            content = to + 1;
        }
    } else {
        std::memcpy(content, text, size);
    }
    if (size > variant_bytes_most) return ErrorCode::overflow;
    if (size > short_text_most) {
        to[0] = primitive(Primitive::text);
        put_number(to + 1, size, 4);
    } else {
        to[0] = uint8_t(size << 2 | uint8_t(Basic::short_text));
    }
    scalar_written(size_t(content - to) + size);
    *at = close.at + 1;
    return ErrorCode::none;
}

// Whole numbers of 64 bits, then decimals of 38 digits, then doubles; those with an exponent are doubles at once.
ErrorCode VariantWriter::write_number(const uint8_t** at, const uint8_t* end) {
    const uint8_t* const begin = *at;
    const uint8_t* p = begin;
    const bool negative = *p == '-';
    p += negative;
    const uint8_t* const digits = p;
    uint64_t value = 0;
    while (p < end && is_digit(*p)) value = value * 10 + unsigned(*p++ - '0');
    size_t count = size_t(p - digits);
    if (count == 0 || (count > 1 && *digits == '0')) return ErrorCode::malformed;
    size_t scale = 0;
    if (p < end && *p == '.') {
        const uint8_t* const fraction = ++p;
        while (p < end && is_digit(*p)) value = value * 10 + unsigned(*p++ - '0');
        scale = size_t(p - fraction);
        count += scale;
        if (scale == 0) return *at = p, ErrorCode::malformed;
    }
    const bool exponent = p < end && (*p | 0x20) == 'e';
    if (exponent) {
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        if (p == end || !is_digit(*p)) return *at = p, ErrorCode::malformed;
        while (p < end && is_digit(*p)) p++;
    }
    *at = p;
    if (!exponent) {
        __int128 unscaled = value;
        size_t significant = count;
        if (count > word_digits) {  // the word has run over
            unscaled = 0;
            const uint8_t* digit = digits;
            while (digit < p && (*digit == '0' || *digit == '.')) significant -= *digit++ == '0';
            for (; digit < p && significant <= decimal_digits; digit++)
                if (*digit != '.') unscaled = unscaled * 10 + unsigned(*digit - '0');
        }
        if (significant <= decimal_digits && scale <= decimal_digits) {
            if (negative) unscaled = -unscaled;
            if (scale == 0 && unscaled >= INT64_MIN && unscaled <= INT64_MAX)
                write_long(int64_t(unscaled));
            else
                write_decimal(unscaled, uint8_t(scale));
            return ErrorCode::none;
        }
    }
    double nearest = 0;
    const Bytes text{begin, size_t(p - begin)};
    if (parse_float(text, double_bits, '.', &nearest) != ErrorCode::none)  // its grammar is in order: it is too large
        nearest = negative ? -HUGE_VAL : HUGE_VAL;
    write_double(nearest);
    return ErrorCode::none;
}

void VariantWriter::write_long(int64_t value) {
    uint8_t* const to = scalar_room(9);
    const auto as = [&](Primitive type, size_t width) {
        to[0] = primitive(type);
        std::memcpy(to + 1, &value, 8);
        scalar_written(1 + width);
    };
    if (value == int8_t(value))
        as(Primitive::int8, 1);
    else if (value == int16_t(value))
        as(Primitive::int16, 2);
    else if (value == int32_t(value))
        as(Primitive::int32, 4);
    else
        as(Primitive::int64, 8);
}

void VariantWriter::write_decimal(__int128 unscaled, uint8_t scale) {
    uint8_t* const to = scalar_room(18);
    const __int128 size = unscaled < 0 ? -unscaled : unscaled;
    const bool small = size < ten_to_9 && scale <= 9, middle = size < ten_to_18 && scale <= 18;
    to[0] = primitive(small ? Primitive::decimal4 : middle ? Primitive::decimal8 : Primitive::decimal16);
    to[1] = scale;
    std::memcpy(to + 2, &unscaled, 16);
    scalar_written(small ? 6 : middle ? 10 : 18);
}

void VariantWriter::write_double(double value) {
    uint8_t* const to = scalar_room(9);
    to[0] = primitive(Primitive::float64);
    std::memcpy(to + 1, &value, 8);
    scalar_written(9);
}

// ------------------------------------------------------------------------------------------ objects and arrays

void VariantWriter::open(bool object) {
    // Below an array stands what stands below its key.
    const Open* const above = open_.empty() ? nullptr : &open_.back();
    const uint32_t owner = !above ? 0 : above->object ? above->place.last : above->place.owner;
    open_.push_back({object, uint32_t(containers_.size()), {owner, 0}, bytes_, entries_.size()});
    containers_.push_back({scalar_bytes_, 0, 0});
}

ErrorCode VariantWriter::close(const uint8_t** at) {
    const Open closed = open_.back();
    open_.pop_back();
    const VariantEntry* const entries = entries_.data() + closed.first_entry;
    const size_t count = entries_.size() - closed.first_entry;
    const uint64_t bytes = bytes_ - closed.begin;
    if (bytes > variant_bytes_most) return ErrorCode::overflow;
    const bool large = count > few_items;
    const size_t offset_width = variant_width(bytes);
    size_t id_width = 0;
    const uint32_t* sorted = nullptr;
    if (closed.object) {
        const uint8_t* twice = nullptr;
        sorted = keys_.sorted(entries, count, &twice);
        if (twice) return *at = twice, ErrorCode::duplicate_key;
        uint32_t largest = 0;
        for (size_t i = 0; i < count; i++) largest = std::max(largest, keys_.number(entries[i].key));
        id_width = variant_width(largest);
    }
    const size_t begin = header_bytes_;
    const size_t size = 1 + (large ? 4 : 1) + count * id_width + (count + 1) * offset_width;
    headers_.reserve(begin + size + slack, begin);
    header_bytes_ += size;
    uint8_t* to = headers_.data() + begin;
    if (closed.object)
        *to++ = uint8_t(large << 6 | (id_width - 1) << 4 | (offset_width - 1) << 2 | uint8_t(Basic::object));
    else
        *to++ = uint8_t(large << 4 | (offset_width - 1) << 2 | uint8_t(Basic::array));
    to = put_number(to, count, large ? 4 : 1);
    if (closed.object) {
        to = put_numbers(to, count, id_width, [&](size_t i) { return keys_.number(entries[sorted[i]].key); });
        to = put_numbers(to, count, offset_width, [&](size_t i) { return entries[sorted[i]].offset; });
    } else {
        to = put_numbers(to, count, offset_width, [&](size_t i) { return entries[i].offset; });
    }
    put_number(to, bytes, offset_width);
    entries_.resize(closed.first_entry);
    containers_[closed.container].header = begin;
    containers_[closed.container].header_size = size;
    bytes_ += size;
    return ErrorCode::none;
}

// Headers between the scalars, where their objects and arrays begin.
Bytes VariantWriter::laid_together(Bytes metadata) {
    const size_t size = 4 + size_t(bytes_) + metadata.size;
    out_.reserve(size, 0);
    uint8_t* to = put_number(out_.data(), bytes_, 4);
    size_t copied = 0;
    const auto copy_scalars = [&](size_t until) {
        if (until > copied) std::memcpy(to, scalars_.data() + copied, until - copied);
        to += until - copied;
        copied = until;
    };
    for (const Container& container : containers_) {
        copy_scalars(container.at);
        std::memcpy(to, headers_.data() + container.header, container.header_size);
        to += container.header_size;
    }
    copy_scalars(scalar_bytes_);
    std::memcpy(to, metadata.data, metadata.size);
    return {out_.data(), size};
}

}  // namespace formatter
