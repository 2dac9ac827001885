// One JSON value as Spark's VARIANT: the bytes that its parse_json makes of it. In: text that begins at a value. Out: the value and
// its metadata, or what is wrong with the text. Refuses to know rows and columns.
//
// A variant's header says how many bytes its members take, so it stands in front of what is not read yet. Scalars go to one
// buffer as they are read, headers to another as objects and arrays close; at the end both are laid together once.
#pragma once

#include <vector>

#include "engine/variants/json_variant_keys.hpp"

namespace formatter {

constexpr uint32_t variant_depth_limit = 1000;  // brackets open at once, as in Spark

class VariantWriter {
  public:
    explicit VariantWriter(Surrogate alone) : alone_(alone), keys_(alone) {}
    // Reads the value at `at` and stops behind it; on an error, where the offending byte stands. `out`, until the next call:
    // four bytes that say how long the value is, the value, its metadata.
    Skipped write(const uint8_t* at, const uint8_t* end, Bytes* out);

  private:
    struct Open {
        bool object;
        uint32_t container;
        VariantPlace place;
        uint64_t begin;  // of its members, counted in bytes_
        size_t first_entry;
    };
    struct Container {
        size_t at;  // how many bytes of scalars stand before it
        size_t header, header_size;
    };

    void begin_value();
    ErrorCode read_member(const uint8_t** at, const uint8_t* end);
    ErrorCode write_scalar(const uint8_t** at, const uint8_t* end);
    ErrorCode write_string(const uint8_t** at, const uint8_t* end);
    ErrorCode write_number(const uint8_t** at, const uint8_t* end);
    void write_long(int64_t value);
    void write_decimal(__int128 unscaled, uint8_t scale);
    void write_double(double value);
    void open(bool object);
    ErrorCode close(const uint8_t** at);
    Bytes laid_together(Bytes metadata);
    uint8_t* scalar_room(size_t bytes) {
        scalars_.reserve(scalar_bytes_ + bytes, scalar_bytes_);
        return scalars_.data() + scalar_bytes_;
    }
    void scalar_written(size_t bytes) {
        scalar_bytes_ += bytes;
        bytes_ += bytes;
    }

    const Surrogate alone_;
    PoolBuffer scalars_, headers_, out_;
    size_t scalar_bytes_ = 0, header_bytes_ = 0;
    uint64_t bytes_ = 0;  // of the value so far, headers of what is closed included
    std::vector<Container> containers_;
    std::vector<Open> open_;
    std::vector<VariantEntry> entries_;
    VariantKeys keys_;
};

}  // namespace formatter
