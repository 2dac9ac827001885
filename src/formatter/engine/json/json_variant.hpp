// One JSON value as Spark's VARIANT: the bytes that its parse_json makes of it. In: text that begins at a value. Out: the value and
// its metadata, or what is wrong with the text. Refuses to know rows and columns.
//
// A variant's header says how many bytes its members take, so it stands in front of what is not read yet. Scalars go to one
// buffer as they are read, headers to another as objects and arrays close; at the end both are laid together once.
// Metadata is the keys of the value, in the order in which they were met. Keys and the order of an object's members are much
// the same from record to record: they are remembered, and compared instead of looked up and sorted.
#pragma once

#include <vector>

#include "engine/columns/buffer_pool.hpp"
#include "engine/json/json_text.hpp"

namespace formatter {

constexpr uint32_t variant_depth_limit = 1000;  // brackets open at once, as in Spark
constexpr uint64_t variant_bytes_most = 128 << 20;  // of a value, and of its metadata

class VariantWriter {
  public:
    // Reads the value at `at` and stops behind it; on an error, where the offending byte stands. `out`, until the next call:
    // four bytes that say how long the value is, the value, its metadata.
    Skipped write(const uint8_t* at, const uint8_t* end, Bytes* out);

  private:
    struct Key {
        uint64_t head, head_mask;  // its first eight bytes, and which of them it has
        uint32_t begin, size;  // of its text
        bool plain;  // in quotes it is written as it is
        uint32_t rank = 0;  // among all keys that were there when they were ranked; the others have none
        uint32_t record = 0, id = 0;  // its place in the metadata of the record that had it last
        uint32_t follower = 0, child = 0;  // the keys that came behind it, and first below it, when that was met last
        uint32_t order = 0;  // of the members of objects that begin with it: a place in orders_
    };
    struct Entry {  // a member of an object, an item of an array
        uint32_t key;
        uint32_t offset;
        const uint8_t* at;
    };
    struct Order {  // members by their keys
        std::vector<uint32_t> keys;
        std::vector<uint32_t> sorted;
    };
    struct Open {
        bool object;
        uint32_t container;
        uint32_t owner;  // the key that it stands under
        uint32_t last;  // the key that was met last in it
        uint64_t begin;  // of its members, counted in bytes_
        size_t first_entry;
    };
    struct Container {
        size_t at;  // how many bytes of scalars stand before it
        size_t header, header_size;
    };

    void begin_record();
    ErrorCode read_key(const uint8_t** at, const uint8_t* end, Open& open);
    uint32_t key_of(Bytes text, bool plain);
    void forget_keys();
    bool same_text(const Key& key, Bytes text) const;
    bool key_before(const Key& one, const Key& other) const;
    void rehash(size_t slots);
    ErrorCode write_scalar(const uint8_t** at, const uint8_t* end);
    ErrorCode write_string(const uint8_t** at, const uint8_t* end);
    ErrorCode write_number(const uint8_t** at, const uint8_t* end);
    void write_long(int64_t value);
    void write_decimal(__int128 unscaled, uint8_t scale);
    void write_double(double value);
    void open(bool object);
    ErrorCode close(const uint8_t** at);
    const uint32_t* sorted_entries(const Entry* entries, size_t count, const uint8_t** twice);
    void sort_by_text(const Entry* entries, std::vector<uint32_t>* places) const;
    bool sort_by_rank(const Entry* entries, std::vector<uint32_t>* places);
    void rank_keys();
    bool is_written(const Key& key, const uint8_t* text, const uint8_t* end) const;
    ErrorCode write_metadata();
    Bytes laid_together();
    uint8_t* scalar_room(size_t bytes) {
        scalars_.reserve(scalar_bytes_ + bytes, scalar_bytes_);
        return scalars_.data() + scalar_bytes_;
    }
    void scalar_written(size_t bytes) {
        scalar_bytes_ += bytes;
        bytes_ += bytes;
    }

    PoolBuffer scalars_, headers_, metadata_, out_;
    size_t scalar_bytes_ = 0, header_bytes_ = 0, metadata_bytes_ = 0;
    uint64_t bytes_ = 0;  // of the value so far, headers of what is closed included
    std::vector<Container> containers_;
    std::vector<Open> open_;
    std::vector<Entry> entries_;

    // What outlives records: keys, the first of which stands for none.
    std::vector<Key> keys_;
    std::vector<uint8_t> key_texts_;
    std::vector<uint32_t> slots_;  // of a hash table: places in keys_
    std::vector<Order> orders_;
    size_t ranked_ = 1;  // of the keys
    uint32_t sorted_by_text_ = 0;  // objects since they were ranked
    std::vector<uint64_t> ranks_there_;
    std::vector<uint32_t> place_of_rank_;
    uint32_t record_ = 0;
    std::vector<uint32_t> record_keys_, metadata_keys_;  // of this record, and those that metadata_ holds
    std::string scratch_;
};

}  // namespace formatter
