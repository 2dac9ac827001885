#include "engine/variants/json_variant_keys.hpp"

#include <algorithm>

namespace formatter {
namespace {

constexpr size_t few_members = 12;  // sorted as they are
constexpr uint32_t sorts_before_ranking = 64;
constexpr size_t keys_remembered = 1 << 14, key_bytes_remembered = 1 << 20;

uint64_t word_at(const uint8_t* at) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    return word;
}

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

void VariantKeys::forget() {
    keys_.assign(1, Key{0, 0, 0, 0, false});
    texts_.assign(variant_slack, 0);
    ranked_ = 1;
    sorted_by_text_ = 0;
    orders_.assign(1, Order{});
    slots_.assign(256, 0);
    of_metadata_.clear();
    metadata_bytes_ = 0;
    record_ = 0;
}

void VariantKeys::begin_record() {
    of_record_.clear();
    if (keys_.size() > keys_remembered || texts_.size() > key_bytes_remembered || record_ == UINT32_MAX) forget();
    record_++;
}

bool VariantKeys::same_text(const Key& key, Bytes text) const {
    return key.size == text.size &&
           (text.size == 0 || std::memcmp(texts_.data() + key.begin, text.data, text.size) == 0);
}

bool VariantKeys::before(const Key& one, const Key& other) const {
    const uint8_t* const texts = texts_.data();
    return utf16_before({texts + one.begin, one.size}, {texts + other.begin, other.size});
}

ErrorCode VariantKeys::read(const uint8_t** at, const uint8_t* end, VariantPlace* place) {
    if (*at == end || **at != '"') return ErrorCode::malformed;
    const uint8_t* const text = *at + 1;
    uint32_t found = place->last ? keys_[place->last].follower : keys_[place->owner].child;
    const uint8_t* close = text + keys_[found].size;
    if (!is_written(keys_[found], text, end)) {
        bool escapes;
        const Skipped whole = check_string(text, end, &escapes);
        if (whole.code != ErrorCode::none) return *at = whole.at, whole.code;
        close = whole.at;
        Bytes content{text, size_t(close - text)};
        if (escapes) {
            const ErrorCode code = unescape(content, &scratch_, alone_);
            if (code != ErrorCode::none) return code;
            content = bytes_of(scratch_);
        }
        found = key_of(content, !escapes);
        (place->last ? keys_[place->last].follower : keys_[place->owner].child) = found;
    }
    Key& key = keys_[found];
    if (key.record != record_) {
        key.record = record_;
        key.number = uint32_t(of_record_.size());
        of_record_.push_back(found);
    }
    place->last = found;
    *at = skip_json_space(close + 1, end);
    if (*at == end || **at != ':') return ErrorCode::malformed;
    ++*at;
    return ErrorCode::none;
}

// Whether the key and a quote stand at `text`.
bool VariantKeys::is_written(const Key& key, const uint8_t* text, const uint8_t* end) const {
    if (!key.plain || size_t(end - text) <= std::max<size_t>(key.size, 8) || text[key.size] != '"') return false;
    return ((word_at(text) ^ key.head) & key.head_mask) == 0 &&
           (key.size <= 8 || std::memcmp(texts_.data() + key.begin + 8, text + 8, key.size - 8) == 0);
}

uint32_t VariantKeys::key_of(Bytes text, bool plain) {
    const size_t mask = slots_.size() - 1;
    size_t slot = hash_of(text) & mask;
    for (; slots_[slot]; slot = (slot + 1) & mask)
        if (same_text(keys_[slots_[slot]], text)) return slots_[slot];
    const uint32_t found = uint32_t(keys_.size());
    // Text that was written with escapes may hold what ends a string.
    const size_t head = std::min<size_t>(text.size, 8), begin = texts_.size() - variant_slack;
    Key key{0, head == 8 ? ~uint64_t(0) : (uint64_t(1) << 8 * head) - 1, uint32_t(begin), uint32_t(text.size), plain};
    if (head) std::memcpy(&key.head, text.data, head);
    texts_.resize(begin + text.size + variant_slack);
    if (text.size) std::memcpy(texts_.data() + begin, text.data, text.size);
    keys_.push_back(key);
    slots_[slot] = found;
    if (2 * keys_.size() > slots_.size()) rehash(4 * slots_.size());
    return found;
}

void VariantKeys::rehash(size_t slots) {
    slots_.assign(slots, 0);
    for (uint32_t i = 1; i < keys_.size(); i++) {
        size_t slot = hash_of({texts_.data() + keys_[i].begin, keys_[i].size}) & (slots - 1);
        while (slots_[slot]) slot = (slot + 1) & (slots - 1);
        slots_[slot] = i;
    }
}

const uint32_t* VariantKeys::sorted(const VariantEntry* entries, size_t count, const uint8_t** twice) {
    if (count == 0) return nullptr;
    if (keys_[entries[0].key].order == 0) {
        orders_.emplace_back();
        keys_[entries[0].key].order = uint32_t(orders_.size() - 1);
    }
    Order& order = orders_[keys_[entries[0].key].order];
    bool known = order.keys.size() == count;
    for (size_t i = 0; known && i < count; i++) known = order.keys[i] == entries[i].key;
    if (known) return order.sorted.data();
    order.keys.clear();  // until all is done: memory may run out on the way
    order.sorted.resize(count);
    for (uint32_t i = 0; i < count; i++) order.sorted[i] = i;
    if (count < few_members || !sort_by_rank(entries, &order.sorted)) sort_by_text(entries, &order.sorted);
    for (size_t i = 1; i < count; i++) {
        const VariantEntry& entry = entries[order.sorted[i]];
        if (entry.key == entries[order.sorted[i - 1]].key && (!*twice || entry.at < *twice)) *twice = entry.at;
    }
    if (*twice) return nullptr;
    order.keys.resize(count);
    for (size_t i = 0; i < count; i++) order.keys[i] = entries[i].key;
    return order.sorted.data();
}

void VariantKeys::sort_by_text(const VariantEntry* entries, std::vector<uint32_t>* places) const {
    std::sort(places->begin(), places->end(), [&](uint32_t one, uint32_t other) {
        if (entries[one].key == entries[other].key) return one < other;
        return before(keys_[entries[one].key], keys_[entries[other].key]);
    });
}

// A mark for each rank that is there, read in order. False where a key has no rank, or stands twice.
bool VariantKeys::sort_by_rank(const VariantEntry* entries, std::vector<uint32_t>* places) {
    const size_t count = places->size();
    if (ranked_ < keys_.size() && (sorted_by_text_ >= sorts_before_ranking || 2 * ranked_ < keys_.size())) rank();
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

void VariantKeys::rank() {
    std::vector<uint32_t> sorted(keys_.size() - 1);
    for (uint32_t i = 1; i < keys_.size(); i++) sorted[i - 1] = i;
    std::sort(sorted.begin(), sorted.end(),
              [&](uint32_t one, uint32_t other) { return before(keys_[one], keys_[other]); });
    for (uint32_t i = 0; i < sorted.size(); i++) keys_[sorted[i]].rank = i + 1;
    ranked_ = keys_.size();
    sorted_by_text_ = 0;
}

Bytes VariantKeys::metadata() {
    if (metadata_bytes_ && of_record_ == of_metadata_) return {metadata_.data(), metadata_bytes_};
    uint64_t text_bytes = 0;
    for (const uint32_t key : of_record_) text_bytes += keys_[key].size;
    const size_t count = of_record_.size();
    const size_t width = variant_width(std::max<uint64_t>(text_bytes, count));
    const uint64_t size = 1 + width + (count + 1) * width + text_bytes;
    if (size > variant_bytes_most) return {nullptr, 0};
    metadata_bytes_ = 0;  // until all is done: memory may run out on the way
    metadata_.reserve(size + variant_slack, 0);
    uint8_t* to = metadata_.data();
    *to++ = uint8_t(1 | (width - 1) << 6);
    to = put_number(to, count, width);
    uint64_t offset = 0;
    to = put_numbers(to, count + 1, width, [&](size_t i) {
        const uint64_t begin = offset;
        if (i < count) offset += keys_[of_record_[i]].size;
        return uint32_t(begin);
    });
    for (const uint32_t key : of_record_) {
        const size_t bytes = keys_[key].size;
        std::memcpy(to, texts_.data() + keys_[key].begin, bytes > variant_slack ? bytes : variant_slack);
        to += bytes;
    }
    of_metadata_ = of_record_;
    metadata_bytes_ = size;
    return {metadata_.data(), metadata_bytes_};
}

}  // namespace formatter
