#include "engine/json/json_columns.hpp"

#include <algorithm>
#include <cstring>

namespace formatter {
namespace {

constexpr uint64_t first_rows = 64;

// What an exported array owns. Consumers may move children out, so every array owns its own.
struct ExportedArray {
    PoolBuffer validity, values, text;
    const void* buffers[3] = {nullptr, nullptr, nullptr};
    std::vector<OwnedArray> children;
    std::vector<ArrowArray*> child_pointers;
};

void release_array(ArrowArray* array) {
    array->release = nullptr;
    delete static_cast<ExportedArray*>(array->private_data);
}

// What is owned becomes an array's, which has this length.
void hand_over(std::unique_ptr<ExportedArray> owned, uint64_t length, ArrowArray* out) {
    for (OwnedArray& child : owned->children) owned->child_pointers.push_back(&child);
    *out = ArrowArray{};
    out->length = int64_t(length);
    out->n_buffers = 1;
    out->n_children = int64_t(owned->children.size());
    out->children = owned->child_pointers.data();
    out->buffers = owned->buffers;
    out->release = release_array;
    out->private_data = owned.release();
}

}  // namespace

JsonBuilder::JsonBuilder(const JsonNodeSpec* spec) : spec_(spec) {
    for (const JsonNodeSpec& child : spec->children) {
        children_.emplace_back(&child);
        const std::string& name = child.scalar.name;
        const bool plain = is_plain_string(bytes_of(name));
        usual_keys_.push_back(plain ? '"' + name + "\":" : std::string());
    }
}

bool JsonBuilder::has_offsets() const {
    switch (spec_->kind) {
        case JsonKind::scalar: return is_text(spec_->scalar);
        case JsonKind::list:
        case JsonKind::large_list:
        case JsonKind::map: return true;
        default: return false;
    }
}

bool JsonBuilder::wide_offsets() const {
    return spec_->kind == JsonKind::scalar ? has_large_offsets(spec_->scalar) : spec_->kind == JsonKind::large_list;
}

uint64_t JsonBuilder::offset_at(uint64_t i) const {
    return wide_offsets() ? uint64_t(values_.as<int64_t>()[i]) : uint64_t(values_.as<int32_t>()[i]);
}

uint64_t JsonBuilder::item_count() const {
    if (spec_->kind == JsonKind::scalar) return text_bytes_;
    return children_[0].length_;
}

uint64_t JsonBuilder::text_room() const {
    uint64_t room = !has_offsets() || wide_offsets() ? offsets_most : offsets_most - item_count();
    room /= text_growth(spec_->scalar);
    for (const JsonBuilder& child : children_) room = std::min(room, child.text_room());
    return room;
}

uint64_t JsonBuilder::byte_count() const {
    uint64_t bytes = text_bytes_ + length_ / 8;
    if (has_offsets())
        bytes += length_ * (wide_offsets() ? 8 : 4);
    else if (spec_->kind == JsonKind::scalar)
        bytes += length_ * spec_->scalar.type->width;
    for (const JsonBuilder& child : children_) bytes += child.byte_count();
    return bytes;
}

void JsonBuilder::reserve(uint64_t rows) {
    if (rows <= capacity_) return;
    const uint64_t wanted = std::max({rows, 2 * capacity_, first_rows, capacity_ ? 0 : usual_length_});
    validity_.reserve(wanted / 8 + 24, capacity_ / 8 + (capacity_ != 0));
    if (has_offsets()) {
        const uint64_t width = wide_offsets() ? 8 : 4;
        values_.reserve((wanted + 1) * width, capacity_ ? (length_ + 1) * width : 0);
        if (capacity_ == 0) std::memset(values_.data(), 0, width);
    } else if (spec_->kind == JsonKind::scalar) {
        const ColumnType& type = *spec_->scalar.type;
        const bool bits = type.layout == ValueLayout::bits;
        values_.reserve(bits ? wanted / 8 + 24 : wanted * type.width, bits ? (length_ + 7) / 8 : length_ * type.width);
    }
    capacity_ = wanted;
}

void JsonBuilder::append_validity(bool valid) {
    uint8_t& byte = validity_.data()[length_ / 8];
    byte = uint8_t((byte & ~(1u << length_ % 8)) | unsigned(valid) << length_ % 8);
    null_count_ += !valid;
    length_++;
}

JsonLoops::TextTarget JsonBuilder::text_target(uint64_t* valid) {
    const bool wide = wide_offsets();
    uint8_t* const ends = values_.data() + (wide ? 8 : 4) * (length_ + 1);
    return {&text_, text_bytes_, usual_text_bytes_, ends, wide, spec_->scalar.nullable, valid};
}

void JsonBuilder::append_written(uint64_t rows, const uint64_t* valid_words) {
    copy_bits(validity_.data(), length_, valid_words, uint32_t(rows));
    null_count_ += rows - count_bits(valid_words, rows);
    length_ += rows;
}

void JsonBuilder::append_scalar(const JsonScalar& value) {
    reserve(length_ + 1);
    if (is_text(spec_->scalar)) {
        text_.reserve(text_bytes_ + value.text.size + 64, text_bytes_);
        if (value.text.size) std::memcpy(text_.data() + text_bytes_, value.text.data, value.text.size);
        text_bytes_ += value.text.size;
        append_offset(text_bytes_);
    } else {
        store_value(*spec_->scalar.type, value.value, values_.data(), length_);
    }
    append_validity(true);
}

void JsonBuilder::append_nested() {
    reserve(length_ + 1);
    if (has_offsets()) append_offset(item_count());
    append_validity(true);
}

void JsonBuilder::append_null() {
    reserve(length_ + 1);
    switch (spec_->kind) {
        case JsonKind::structure:
            for (JsonBuilder& child : children_) child.append_null();
            break;
        case JsonKind::fixed_list:
            for (uint32_t i = 0; i < spec_->list_size; i++) children_[0].append_null();
            break;
        case JsonKind::scalar:
            if (!has_offsets()) {
                store_value(*spec_->scalar.type, JsonScalar{}.value, values_.data(), length_);
                break;
            }
            if (const size_t zeros = zero_bytes(spec_->scalar)) {
                text_.reserve(text_bytes_ + zeros + 64, text_bytes_);
                std::memset(text_.data() + text_bytes_, 0, zeros);
                text_bytes_ += zeros;
            }
            [[fallthrough]];
        default: append_offset(item_count());
    }
    append_validity(!spec_->scalar.nullable);
}

void JsonBuilder::truncate(uint64_t length) {
    // Children may be ahead: a value that failed half way appended to them only.
    switch (spec_->kind) {
        case JsonKind::structure:
            for (JsonBuilder& child : children_) child.truncate(length);
            break;
        case JsonKind::fixed_list: children_[0].truncate(length * spec_->list_size); break;
        case JsonKind::scalar:
            if (has_offsets()) text_bytes_ = capacity_ ? offset_at(length) : 0;
            break;
        default: {
            const uint64_t items = capacity_ ? offset_at(length) : 0;
            for (JsonBuilder& child : children_) child.truncate(items);
        }
    }
    for (; length_ > length; length_--)
        null_count_ -= !(validity_.data()[(length_ - 1) / 8] >> ((length_ - 1) % 8) & 1);
}

void JsonBuilder::export_array(ArrowArray* out) {
    reserve(1);
    std::unique_ptr<ExportedArray> owned(new ExportedArray);
    if (spec_->kind == JsonKind::map) {
        // A map's child is the struct of its entries.
        std::unique_ptr<ExportedArray> entries(new ExportedArray);
        entries->children.resize(2);
        owned->children.resize(1);
        const uint64_t entry_count = children_[0].length_;
        for (size_t i = 0; i < 2; i++) children_[i].export_array(&entries->children[i]);
        hand_over(std::move(entries), entry_count, &owned->children[0]);
    } else {
        owned->children.resize(children_.size());
        for (size_t i = 0; i < children_.size(); i++) children_[i].export_array(&owned->children[i]);
    }
    owned->validity = std::move(validity_);
    owned->values = std::move(values_);
    owned->text = std::move(text_);
    owned->buffers[0] = null_count_ ? owned->validity.data() : nullptr;
    owned->buffers[1] = owned->values.data();
    owned->buffers[2] = owned->text.data() ? owned->text.data() : owned->values.data();
    hand_over(std::move(owned), length_, out);
    out->null_count = int64_t(null_count_);
    const bool text = spec_->kind == JsonKind::scalar && is_text(spec_->scalar);
    out->n_buffers = text ? 3 : spec_->kind == JsonKind::structure || spec_->kind == JsonKind::fixed_list ? 1 : 2;
    usual_length_ = length_ + length_ / 16;
    usual_text_bytes_ = text_bytes_ + text_bytes_ / 16;
    length_ = null_count_ = capacity_ = text_bytes_ = 0;
}

void export_columns(std::vector<OwnedArray> columns, uint64_t rows, ArrowArray* out) {
    std::unique_ptr<ExportedArray> owned(new ExportedArray);
    owned->children = std::move(columns);
    hand_over(std::move(owned), rows, out);
}

}  // namespace formatter
