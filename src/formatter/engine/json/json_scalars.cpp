#include "engine/json/json_scalars.hpp"

#include <algorithm>
#include <cstring>

#include "engine/values/exact_values.hpp"
#include "engine/values/json_numbers.hpp"
#include "engine/values/plain_spelling.hpp"

namespace formatter {
namespace {

const Spelling spelling{
    true, '.', {"true"}, {"false"}, {}, {{4, {'t', 'r', 'u', 'e'}}}, {{5, {'f', 'a', 'l', 's', 'e'}}}};

ErrorCode take_text(const ColumnSpec& spec, Bytes content, JsonScalar* out) {
    out->text = content;
    if (spec.encoding != BinaryEncoding::plain) {
        if (spec.plain && !is_plain_base64(content)) return ErrorCode::invalid;
        std::string decoded;
        const ErrorCode code =
            spec.encoding == BinaryEncoding::hex ? decode_hex(content, &decoded) : decode_base64(content, &decoded);
        if (code != ErrorCode::none) return code;
        out->scratch.swap(decoded);
        out->text = bytes_of(out->scratch);
    }
    return has_width(spec, out->text.size) ? ErrorCode::none : ErrorCode::invalid;
}

ErrorCode parse_string(const JsonNodeSpec& node, Bytes content, bool escapes, JsonScalar* out) {
    const ColumnSpec& spec = node.scalar;
    if (escapes) {
        const ErrorCode code = unescape(content, &out->scratch, node.lone_surrogates);
        if (code != ErrorCode::none) return code;
        content = bytes_of(out->scratch);
    }
    if (is_text(spec)) return take_text(spec, content, out);
    const JsonWriting writing = spec.type->json;
    if (writing != JsonWriting::string && writing != JsonWriting::number_or_string) return ErrorCode::wrong_type;
    return spec.type->parse_text(content, spec, node.spelling ? *node.spelling : spelling, out->value);
}

ErrorCode parse_number(const ColumnSpec& spec, Bytes number, JsonScalar* out) {
    return spec.type->parse_number ? spec.type->parse_number(number, spec, out->value) : ErrorCode::wrong_type;
}

}  // namespace

const Spelling& json_spelling() { return spelling; }

std::shared_ptr<const Spelling> json_spelling_with(std::vector<std::string> timestamp_formats) {
    auto own = std::make_shared<Spelling>(spelling);
    own->timestamp_formats = std::move(timestamp_formats);
    return own;
}

Skipped parse_json_scalar(const JsonNodeSpec& node, const uint8_t* at, const uint8_t* end, JsonScalar* out) {
    const ColumnSpec& spec = node.scalar;
    out->null = false;
    if (at == end) return {at, ErrorCode::malformed};
    if (spec.encoding == BinaryEncoding::variant) {
        if (!out->variants) out->variants = std::make_shared<VariantWriter>(node.lone_surrogates);
        return out->variants->write(at, end, &out->text);
    }
    if (spec.raw || *at == '{' || *at == '[') {
        const Skipped whole = check_value(at, end);
        if (whole.code != ErrorCode::none) return whole;
        if (!spec.raw && !spec.any_value) return {at, ErrorCode::wrong_type};
        out->text = Bytes{at, size_t(whole.at - at)};
        out->null = out->text.equals("null");
        return whole;
    }
    if (*at == '"') {
        bool escapes;
        const Skipped close = check_string(at + 1, end, &escapes);
        if (close.code != ErrorCode::none) return close;
        const ErrorCode code = parse_string(node, Bytes{at + 1, size_t(close.at - at - 1)}, escapes, out);
        return {code == ErrorCode::none ? close.at + 1 : at, code};
    }
    const uint8_t* behind = at;
    while (behind < end && !is_json_space(*behind) && *behind != ',' && *behind != '}' && *behind != ']') behind++;
    const Bytes token{at, size_t(behind - at)};
    ErrorCode code = ErrorCode::malformed;
    out->text = token;
    if (*at == '-' || is_digit(*at)) {  // first, since most are
        if (is_json_number(token)) code = spec.any_value ? ErrorCode::none : parse_number(spec, token, out);
    } else if (token.equals("null")) {
        out->null = true;
        code = ErrorCode::none;
    } else if (token.equals("true") || token.equals("false")) {
        code = spec.any_value                            ? ErrorCode::none
               : spec.type->json == JsonWriting::boolean ? spec.type->parse_text(token, spec, spelling, out->value)
                                                         : ErrorCode::wrong_type;
    }
    return {code == ErrorCode::none ? behind : at, code};
}

ErrorCode parse_json_key(const JsonNodeSpec& node, Bytes key, JsonScalar* out) {
    const ColumnSpec& spec = node.scalar;
    const JsonWriting writing = spec.type->json;
    out->null = false;
    if (writing == JsonWriting::boolean) return spec.type->parse_text(key, spec, spelling, out->value);
    const bool numbers = writing != JsonWriting::string || spec.epoch != EpochUnit::none;
    if (numbers && is_json_number(key)) return parse_number(spec, key, out);
    return writing == JsonWriting::string ? parse_string(node, key, false, out) : ErrorCode::invalid;
}

namespace {

struct KeyImage {  // of a key that is no text
    uint64_t words[2] = {0, 0};

    KeyImage(const ColumnType& type, const JsonScalar& key) {
        std::memcpy(words, key.value, std::max<size_t>(type.width, 1));
        // Zero has two signs and is one key.
        const uint64_t sign = uint64_t(1) << (8 * type.width - 1) % 64;
        if (type.operands == Operands::floats && words[0] == sign) words[0] = 0;
    }
};

}  // namespace

std::string identity_of_key(const ColumnSpec& spec, const JsonScalar& key) {
    if (is_text(spec)) return {reinterpret_cast<const char*>(key.text.data), key.text.size};
    const KeyImage image(*spec.type, key);
    return {reinterpret_cast<const char*>(image.words), sizeof image.words};
}

uint64_t digest_of_key(const ColumnSpec& spec, const JsonScalar& key) {
    constexpr uint64_t odd = 0x9E3779B97F4A7C15;
    if (!is_text(spec)) {
        const KeyImage image(*spec.type, key);
        return image.words[0] ^ (image.words[1] * odd);
    }
    uint64_t digest = key.text.size;
    for (size_t at = 0; at < key.text.size; at += 8) {
        uint64_t word = 0;
        std::memcpy(&word, key.text.data + at, std::min<size_t>(8, key.text.size - at));
        digest = (digest ^ word) * odd;
        digest ^= digest >> 29;
    }
    return digest;
}

}  // namespace formatter
