#include "engine/json/json_variant.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/values/exact_values.hpp"

namespace formatter {
namespace {

enum class Basic : uint8_t { primitive, short_text, object, array };
enum class Primitive : uint8_t {
    null, true_, false_, int8, int16, int32, int64, float64, decimal4, decimal8, decimal16, text = 16
};

constexpr size_t short_text_most = 63;
constexpr size_t few_items = 255;  // so many are counted in a byte
constexpr size_t slack = 16;  // short copies are of so many bytes, whatever is wanted of them
constexpr size_t few_members = 12;  // sorted as they are
constexpr uint32_t sorts_before_ranking = 64;
constexpr size_t keys_remembered = 1 << 14, key_bytes_remembered = 1 << 20;
constexpr size_t word_digits = 19, decimal_digits = 38;

uint8_t primitive(Primitive type) { return uint8_t(uint8_t(type) << 2 | uint8_t(Basic::primitive)); }

// The bytes that a count or an offset takes.
uint8_t width_of(uint64_t largest) { return largest < 1 << 8 ? 1 : largest < 1 << 16 ? 2 : largest < 1 << 24 ? 3 : 4; }

uint8_t* put(uint8_t* to, uint64_t value, size_t width) {
    for (size_t i = 0; i < width; i++) to[i] = uint8_t(value >> 8 * i);
    return to + width;
}

// The same for many, to memory that has bytes to spare behind them.
template <typename At>
uint8_t* put_all(uint8_t* to, size_t count, size_t width, At at) {
    if (width == 1) {
        for (size_t i = 0; i < count; i++) to[i] = uint8_t(at(i));
    } else if (width == 2) {
        for (size_t i = 0; i < count; i++) {
            const uint16_t value = uint16_t(at(i));
            std::memcpy(to + 2 * i, &value, 2);
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            const uint32_t value = at(i);
            std::memcpy(to + width * i, &value, 4);
        }
    }
    return to + width * count;
}

uint64_t word_at(const uint8_t* at) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    return word;
}

bool is_digit(uint8_t c) { return uint8_t(c - '0') <= 9; }

constexpr __int128 power_of_ten(int exponent) { return exponent ? 10 * power_of_ten(exponent - 1) : 1; }
constexpr __int128 ten_to_9 = power_of_ten(9), ten_to_18 = power_of_ten(18), ten_to_38 = power_of_ten(38);

uint64_t hash_of(Bytes text) {
    constexpr uint64_t odd = 0x9E3779B97F4A7C15;
    uint64_t hash = text.size * odd;
    for (size_t at = 0; at < text.size; at += 8) {
        uint64_t word = 0;
        std::memcpy(&word, text.data + at, std::min<size_t>(8, text.size - at));
        hash = (hash ^ word) * odd;
        hash ^= hash >> 29;
    }
    return hash;
}

// By UTF-16 units, as Java's strings compare: what lies beyond them all is written in two that come before U+E000.
bool utf16_before(Bytes one, Bytes other) {
    const size_t common = std::min(one.size, other.size);
    for (size_t i = 0; i < common; i++) {
        const uint8_t a = one.data[i], b = other.data[i];
        if (a == b) continue;
        const bool split_a = a >= 0xF0, split_b = b >= 0xF0;
        if (split_a != split_b && (split_a ? b : a) >= 0xEE) return split_a;
        return a < b;
    }
    return one.size < other.size;
}

}  // namespace

Skipped VariantWriter::write(const uint8_t* at, const uint8_t* end, Bytes* out) {
    begin_record();
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
                    const ErrorCode code = read_key(&at, end, opened);
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
            const ErrorCode code = read_key(&at, end, open_.back());
            if (code != ErrorCode::none) return {at, code};
        } else {
            entries_.push_back({0, uint32_t(bytes_ - open_.back().begin), at});
        }
    }
    const ErrorCode code = write_metadata();
    if (code != ErrorCode::none) return {at, code};
    *out = laid_together();
    return {at, ErrorCode::none};
}

void VariantWriter::begin_record() {
    scalar_bytes_ = 0;
    bytes_ = 0;
    header_bytes_ = 0;
    containers_.clear();
    open_.clear();
    entries_.clear();
    record_keys_.clear();
    if (keys_.empty() || keys_.size() > keys_remembered || key_texts_.size() > key_bytes_remembered ||
        record_ == UINT32_MAX)
        forget_keys();
    record_++;
}

// ------------------------------------------------------------------------------------------ keys

void VariantWriter::forget_keys() {
    keys_.assign(1, Key{0, 0, 0, 0, false});
    key_texts_.assign(slack, 0);
    ranked_ = 1;
    sorted_by_text_ = 0;
    orders_.assign(1, Order{});
    slots_.assign(256, 0);
    metadata_keys_.clear();
    metadata_bytes_ = 0;
    record_ = 0;
}

bool VariantWriter::same_text(const Key& key, Bytes text) const {
    return key.size == text.size &&
           (text.size == 0 || std::memcmp(key_texts_.data() + key.begin, text.data, text.size) == 0);
}

bool VariantWriter::key_before(const Key& one, const Key& other) const {
    const uint8_t* const texts = key_texts_.data();
    return utf16_before({texts + one.begin, one.size}, {texts + other.begin, other.size});
}

// `*at` stands at a key; then behind its colon. What follows it is a member of `open`.
ErrorCode VariantWriter::read_key(const uint8_t** at, const uint8_t* end, Open& open) {
    const uint8_t* const quote = *at;
    if (quote == end || *quote != '"') return ErrorCode::malformed;
    const uint8_t* const text = quote + 1;
    uint32_t& guess = open.last ? keys_[open.last].follower : keys_[open.owner].child;
    uint32_t found = guess;
    const Key& guessed = keys_[guess];
    const uint8_t* close = text + guessed.size;
    if (!is_written(guessed, text, end)) {
        bool escapes;
        const Skipped whole = check_string(text, end, &escapes);
        if (whole.code != ErrorCode::none) return *at = whole.at, whole.code;
        close = whole.at;
        Bytes content{text, size_t(close - text)};
        if (escapes) {
            const ErrorCode code = unescape(content, &scratch_);
            if (code != ErrorCode::none) return code;
            content = Bytes{reinterpret_cast<const uint8_t*>(scratch_.data()), scratch_.size()};
        }
        found = key_of(content, !escapes);
        (open.last ? keys_[open.last].follower : keys_[open.owner].child) = found;
    }
    Key& key = keys_[found];
    if (key.record != record_) {
        key.record = record_;
        key.id = uint32_t(record_keys_.size());
        record_keys_.push_back(found);
    }
    entries_.push_back({found, uint32_t(bytes_ - open.begin), quote});
    open.last = found;
    const uint8_t* const colon = skip_json_space(close + 1, end);
    *at = colon;
    if (colon == end || *colon != ':') return ErrorCode::malformed;
    *at = colon + 1;
    return ErrorCode::none;
}

// Whether the key and a quote stand at `text`.
bool VariantWriter::is_written(const Key& key, const uint8_t* text, const uint8_t* end) const {
    if (!key.plain || size_t(end - text) <= std::max<size_t>(key.size, 8) || text[key.size] != '"') return false;
    return ((word_at(text) ^ key.head) & key.head_mask) == 0 &&
           (key.size <= 8 || std::memcmp(key_texts_.data() + key.begin + 8, text + 8, key.size - 8) == 0);
}

uint32_t VariantWriter::key_of(Bytes text, bool plain) {
    const size_t mask = slots_.size() - 1;
    size_t slot = hash_of(text) & mask;
    for (; slots_[slot]; slot = (slot + 1) & mask)
        if (same_text(keys_[slots_[slot]], text)) return slots_[slot];
    const uint32_t found = uint32_t(keys_.size());
    // Text that was written with escapes may hold what ends a string.
    const size_t head = std::min<size_t>(text.size, 8), begin = key_texts_.size() - slack;
    Key key{0, head == 8 ? ~uint64_t(0) : (uint64_t(1) << 8 * head) - 1, uint32_t(begin), uint32_t(text.size), plain};
    if (head) std::memcpy(&key.head, text.data, head);
    key_texts_.resize(begin + text.size + slack);
    if (text.size) std::memcpy(key_texts_.data() + begin, text.data, text.size);
    keys_.push_back(key);
    slots_[slot] = found;
    if (2 * keys_.size() > slots_.size()) rehash(4 * slots_.size());
    return found;
}

void VariantWriter::rehash(size_t slots) {
    slots_.assign(slots, 0);
    for (uint32_t i = 1; i < keys_.size(); i++) {
        size_t slot = hash_of({key_texts_.data() + keys_[i].begin, keys_[i].size}) & (slots - 1);
        while (slots_[slot]) slot = (slot + 1) & (slots - 1);
        slots_[slot] = i;
    }
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
    const Pair marks = Pair(Lanes(bytes == uint8_t('"')) | Lanes(bytes == uint8_t('\\')) | Lanes(bytes < uint8_t(0x20)));
    if (marks[0]) return size_t(__builtin_ctzll(marks[0])) / 8;
    return marks[1] ? 8 + size_t(__builtin_ctzll(marks[1])) / 8 : 16;
}

ErrorCode VariantWriter::write_string(const uint8_t** at, const uint8_t* end) {
    const uint8_t* const text = *at + 1;
    if (end - text > int64_t(short_text_most + slack)) {  // most texts are short and plain: copied while they are looked at
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
        const ErrorCode code = unescape({text, size}, content, &size);
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
        put(to + 1, size, 4);
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
    const uint32_t owner = open_.empty() ? 0 : open_.back().object ? open_.back().last : open_.back().owner;
    open_.push_back({object, uint32_t(containers_.size()), owner, 0, bytes_, entries_.size()});
    containers_.push_back({scalar_bytes_, 0, 0});
}

ErrorCode VariantWriter::close(const uint8_t** at) {
    const Open closed = open_.back();
    open_.pop_back();
    const Entry* const entries = entries_.data() + closed.first_entry;
    const size_t count = entries_.size() - closed.first_entry;
    const uint64_t bytes = bytes_ - closed.begin;
    if (bytes > variant_bytes_most) return ErrorCode::overflow;
    const bool large = count > few_items;
    const size_t offset_width = width_of(bytes);
    size_t id_width = 0;
    const uint32_t* sorted = nullptr;
    if (closed.object) {
        const uint8_t* twice = nullptr;
        sorted = sorted_entries(entries, count, &twice);
        if (twice) return *at = twice, ErrorCode::duplicate_key;
        uint32_t largest = 0;
        for (size_t i = 0; i < count; i++) largest = std::max(largest, keys_[entries[i].key].id);
        id_width = width_of(largest);
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
    to = put(to, count, large ? 4 : 1);
    if (closed.object) {
        to = put_all(to, count, id_width, [&](size_t i) { return keys_[entries[sorted[i]].key].id; });
        to = put_all(to, count, offset_width, [&](size_t i) { return entries[sorted[i]].offset; });
    } else {
        to = put_all(to, count, offset_width, [&](size_t i) { return entries[i].offset; });
    }
    put(to, bytes, offset_width);
    entries_.resize(closed.first_entry);
    containers_[closed.container].header = begin;
    containers_[closed.container].header_size = size;
    bytes_ += size;
    return ErrorCode::none;
}

// The places of an object's members, by their keys. `twice`: where a key stands that was there before.
const uint32_t* VariantWriter::sorted_entries(const Entry* entries, size_t count, const uint8_t** twice) {
    if (count == 0) return nullptr;
    Key& first = keys_[entries[0].key];
    if (first.order == 0) {
        first.order = uint32_t(orders_.size());
        orders_.emplace_back();
    }
    Order& order = orders_[first.order];
    bool known = order.keys.size() == count;
    for (size_t i = 0; known && i < count; i++) known = order.keys[i] == entries[i].key;
    if (known) return order.sorted.data();
    order.keys.resize(count);
    order.sorted.resize(count);
    for (uint32_t i = 0; i < count; i++) {
        order.keys[i] = entries[i].key;
        order.sorted[i] = i;
    }
    if (count < few_members || !sort_by_rank(entries, &order.sorted)) sort_by_text(entries, &order.sorted);
    for (size_t i = 1; i < count; i++) {
        const Entry& entry = entries[order.sorted[i]];
        if (entry.key == entries[order.sorted[i - 1]].key && (!*twice || entry.at < *twice)) *twice = entry.at;
    }
    if (*twice) order.keys.clear();
    return order.sorted.data();
}

void VariantWriter::sort_by_text(const Entry* entries, std::vector<uint32_t>* places) const {
    std::sort(places->begin(), places->end(), [&](uint32_t one, uint32_t other) {
        if (entries[one].key == entries[other].key) return one < other;
        return key_before(keys_[entries[one].key], keys_[entries[other].key]);
    });
}

// A mark for each rank that is there, read in order. False where a key has no rank, or stands twice.
bool VariantWriter::sort_by_rank(const Entry* entries, std::vector<uint32_t>* places) {
    const size_t count = places->size();
    if (ranked_ < keys_.size() && (sorted_by_text_ >= sorts_before_ranking || 2 * ranked_ < keys_.size())) rank_keys();
    if (ranked_ / 64 > count) return false;
    ranks_there_.assign(ranked_ / 64 + 1, 0);
    place_of_rank_.resize(ranked_);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t rank = keys_[entries[i].key].rank;
        const uint64_t bit = uint64_t(1) << rank % 64;
        if (rank == 0 || ranks_there_[rank / 64] & bit) return sorted_by_text_++, false;
        ranks_there_[rank / 64] |= bit;
        place_of_rank_[rank] = i;
    }
    uint32_t* to = places->data();
    for (size_t word = 0; word < ranks_there_.size(); word++)
        for (uint64_t bits = ranks_there_[word]; bits; bits &= bits - 1)
            *to++ = place_of_rank_[64 * word + size_t(__builtin_ctzll(bits))];
    return true;
}

void VariantWriter::rank_keys() {
    std::vector<uint32_t> sorted(keys_.size() - 1);
    for (uint32_t i = 1; i < keys_.size(); i++) sorted[i - 1] = i;
    std::sort(sorted.begin(), sorted.end(),
              [&](uint32_t one, uint32_t other) { return key_before(keys_[one], keys_[other]); });
    for (uint32_t i = 0; i < sorted.size(); i++) keys_[sorted[i]].rank = i + 1;
    ranked_ = keys_.size();
    sorted_by_text_ = 0;
}

// The keys of the record, in the order of their ids.
ErrorCode VariantWriter::write_metadata() {
    if (metadata_bytes_ && record_keys_ == metadata_keys_) return ErrorCode::none;
    uint64_t text_bytes = 0;
    for (const uint32_t key : record_keys_) text_bytes += keys_[key].size;
    const size_t count = record_keys_.size();
    const size_t width = width_of(std::max<uint64_t>(text_bytes, count));
    const uint64_t size = 1 + width + (count + 1) * width + text_bytes;
    if (size > variant_bytes_most) return ErrorCode::overflow;
    metadata_.reserve(size + slack, 0);
    metadata_bytes_ = size;
    uint8_t* to = metadata_.data();
    *to++ = uint8_t(1 | (width - 1) << 6);
    to = put(to, count, width);
    uint64_t offset = 0;
    to = put_all(to, count + 1, width, [&](size_t i) {
        const uint64_t begin = offset;
        if (i < count) offset += keys_[record_keys_[i]].size;
        return uint32_t(begin);
    });
    for (const uint32_t key : record_keys_) {
        const size_t bytes = keys_[key].size;
        std::memcpy(to, key_texts_.data() + keys_[key].begin, bytes > slack ? bytes : slack);
        to += bytes;
    }
    metadata_keys_ = record_keys_;
    return ErrorCode::none;
}

// Headers between the scalars, where their objects and arrays begin.
Bytes VariantWriter::laid_together() {
    const size_t size = 4 + size_t(bytes_) + metadata_bytes_;
    out_.reserve(size, 0);
    uint8_t* to = put(out_.data(), bytes_, 4);
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
    std::memcpy(to, metadata_.data(), metadata_bytes_);
    return {out_.data(), size};
}

}  // namespace formatter
