// Nested columns under construction and their hand-over to Arrow. In: values in order, one append each. Out: ArrowArrays.
// Knows types and buffers, and how to take back what was appended last; knows no JSON.
#pragma once

#include <memory>
#include <vector>

#include "engine/columns/owned_array.hpp"
#include "engine/json_text/json_format.hpp"
#include "engine/json/json_loops.hpp"
#include "engine/json/json_scalars.hpp"

namespace formatter {

class JsonBuilder {
  public:
    explicit JsonBuilder(const JsonNodeSpec* spec);

    const JsonNodeSpec& spec() const { return *spec_; }
    uint64_t length() const { return length_; }
    uint64_t byte_count() const;
    JsonBuilder& child(size_t i) { return children_[i]; }
    // The key of child i as it is usually written, with quotes and colon; empty if it cannot be written plainly.
    const std::string& usual_key(size_t i) const { return usual_keys_[i]; }
    // Bytes of text that all offsets, those of children too, still have room for, if all of it went there.
    uint64_t text_room() const;

    void append_scalar(const JsonScalar&);
    // Structures: once every child has one value more. Lists and maps: once the items are appended.
    void append_nested();
    // A null, or the zero of the type where the schema allows none (it stands below a null then).
    void append_null();
    // Many values at once: their room, what is written into it, and that they are there. Text goes to text_target();
    // write_end tells where items of value `i` end.
    void reserve_more(uint64_t rows) { reserve(length_ + rows); }
    uint8_t* values() const { return values_.data(); }
    JsonLoops::TextTarget text_target(uint64_t* valid);
    void set_text_bytes(uint64_t bytes) { text_bytes_ = bytes; }
    void write_end(uint64_t i, uint64_t end, bool wide) {
        if (wide)
            values_.as<int64_t>()[i + 1] = int64_t(end);
        else
            values_.as<int32_t>()[i + 1] = int32_t(end);
    }
    bool wide_offsets() const;
    void append_written(uint64_t rows, const uint64_t* valid_words);
    // Forgets the values from `length` on.
    void truncate(uint64_t length);

    // Moves everything out; empty and usable afterwards.
    void export_array(ArrowArray* out);

  private:
    void reserve(uint64_t rows);
    void append_validity(bool valid);
    void append_offset(uint64_t end) { write_end(length_, end, wide_offsets()); }
    uint64_t offset_at(uint64_t i) const;
    uint64_t item_count() const;  // bytes of text, or items of a list
    bool has_offsets() const;

    const JsonNodeSpec* spec_;
    std::vector<JsonBuilder> children_;
    std::vector<std::string> usual_keys_;
    PoolBuffer validity_, values_, text_;
    uint64_t length_ = 0;
    uint64_t null_count_ = 0;
    uint64_t capacity_ = 0;
    uint64_t text_bytes_ = 0;
    // Of what was exported last: the next will be much the same, and growing step by step is copying.
    uint64_t usual_length_ = 0, usual_text_bytes_ = 0;
};

// A struct array of whole columns, taken from arrays that are already complete.
void export_columns(std::vector<OwnedArray> columns, uint64_t rows, ArrowArray* out);

}  // namespace formatter
