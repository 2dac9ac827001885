// The keys of variants. In: the keys of a record's objects, one after the other. Out: their numbers in the record's metadata, that
// metadata, the order of an object's members. Refuses to know values.
//
// Keys stand in metadata in the order in which they are met; members of an object are sorted by their keys, as UTF-16 compares them.
// Both are much the same from record to record: which key follows which, and how the members of an object are sorted, is
// remembered, and compared instead of looked up and sorted.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "engine/columns/buffer_pool.hpp"
#include "engine/json_text/json_text.hpp"

namespace formatter {

constexpr uint64_t variant_bytes_most = 128 << 20;  // of a value, and of its metadata
constexpr size_t variant_slack = 16;  // short copies are of so many bytes, whatever is wanted of them

// The bytes that a count or an offset takes.
inline uint8_t variant_width(uint64_t largest) {
    return largest < 1 << 8 ? 1 : largest < 1 << 16 ? 2 : largest < 1 << 24 ? 3 : 4;
}
inline uint8_t* put_number(uint8_t* to, uint64_t value, size_t width) {
    for (size_t i = 0; i < width; i++) to[i] = uint8_t(value >> 8 * i);
    return to + width;
}
// The same for many, to memory that has bytes to spare behind them.
template <typename At>
uint8_t* put_numbers(uint8_t* to, size_t count, size_t width, At at) {
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

// A member of an object, or an item of an array, which has no key.
struct VariantEntry {
    uint32_t key;
    uint32_t offset;
    const uint8_t* at;
};

// An object that is being read: the key it stands under, and that of its last member, each 0 if there is none.
struct VariantPlace {
    uint32_t owner, last;
};

class VariantKeys {
  public:
    explicit VariantKeys(Surrogate alone) : alone_(alone) { forget(); }
    void begin_record();
    // `*at` stands at a key; then behind its colon, and the key is the last one of `place`.
    ErrorCode read(const uint8_t** at, const uint8_t* end, VariantPlace* place);
    // In the metadata of this record.
    uint32_t number(uint32_t key) const { return keys_[key].number; }
    // The places of an object's members, sorted by their keys. `twice`: where a key stands that was there before.
    const uint32_t* sorted(const VariantEntry* entries, size_t count, const uint8_t** twice);
    // Of this record; without data if there is too much of it.
    Bytes metadata();

  private:
    struct Key {
        uint64_t head, head_mask;  // its first eight bytes, and which of them it has
        uint32_t begin, size;  // of its text
        bool plain;  // in quotes it is written as it is
        uint32_t rank = 0;  // among all keys that were there when they were ranked; the others have none
        uint32_t record = 0, number = 0;  // its place in the metadata of the record that had it last
        uint32_t follower = 0, child = 0;  // the keys that came behind it, and first below it, when that was met last
        uint32_t order = 0;  // of the members of objects that begin with it: a place in orders_
    };
    struct Order {
        std::vector<uint32_t> keys;
        std::vector<uint32_t> sorted;
    };

    void forget();
    uint32_t key_of(Bytes text, bool plain);
    void rehash(size_t slots);
    bool is_written(const Key& key, const uint8_t* text, const uint8_t* end) const;
    bool same_text(const Key& key, Bytes text) const;
    bool before(const Key& one, const Key& other) const;
    void sort_by_text(const VariantEntry* entries, std::vector<uint32_t>* places) const;
    bool sort_by_rank(const VariantEntry* entries, std::vector<uint32_t>* places);
    void rank();

    const Surrogate alone_;
    std::vector<Key> keys_;  // the first one stands for none
    std::vector<uint8_t> texts_;
    std::vector<uint32_t> slots_;  // of a hash table: places in keys_
    std::vector<Order> orders_;
    size_t ranked_ = 1;  // of the keys
    uint32_t sorted_by_text_ = 0;  // objects since they were ranked
    std::vector<uint64_t> ranks_there_;
    std::vector<uint32_t> place_of_rank_;

    uint32_t record_ = 0;
    std::vector<uint32_t> of_record_, of_metadata_;  // keys of this record, and those that metadata_ holds
    PoolBuffer metadata_;
    size_t metadata_bytes_ = 0;
    std::string scratch_;
};

}  // namespace formatter
