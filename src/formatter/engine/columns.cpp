#include "engine/columns.hpp"

#include <atomic>
#include <cstring>

namespace formatter {

uint32_t value_width(ColumnType type) {
    switch (type) {
        case ColumnType::int8:
        case ColumnType::uint8: return 1;
        case ColumnType::int16:
        case ColumnType::uint16: return 2;
        case ColumnType::int32:
        case ColumnType::uint32:
        case ColumnType::float32:
        case ColumnType::date32: return 4;
        case ColumnType::int64:
        case ColumnType::uint64:
        case ColumnType::float64:
        case ColumnType::timestamp: return 8;
        case ColumnType::decimal128: return 16;
        default: return 0;
    }
}

namespace {

size_t fixed_bytes(ColumnType type, uint64_t rows) {
    if (type == ColumnType::boolean) return (rows + 7) / 8 + 16;  // copy_bits writes whole words
    if (is_text(type)) return (rows + 1) * (has_large_offsets(type) ? 8 : 4);
    return rows * value_width(type);
}

}  // namespace

void copy_bits(uint8_t* target, uint64_t at, const uint64_t* source, uint32_t count) {
    // The target is grown with 16 bytes of slack, so whole words may be written behind the last bit.
    uint8_t* byte = target + at / 8;
    const unsigned shift = at % 8;
    for (uint32_t done = 0; done < count; done += 64, byte += 8) {
        uint64_t word = source[done / 64];
        if (count - done < 64) word &= (uint64_t(1) << (count - done)) - 1;
        if (shift == 0) {
            std::memcpy(byte, &word, 8);
            continue;
        }
        const uint64_t low = (byte[0] & ((1u << shift) - 1)) | (word << shift);
        std::memcpy(byte, &low, 8);
        byte[8] = uint8_t(word >> (64 - shift));
    }
}

uint64_t ColumnSet::byte_count() const {
    uint64_t bytes = 0;
    for (size_t i = 0; i < columns_.size(); i++)
        bytes += fixed_bytes((*specs_)[i].type, rows_) + columns_[i].text_bytes;
    return bytes;
}

void ColumnSet::reserve_rows(uint64_t more) {
    for (size_t i = 0; i < columns_.size(); i++) {
        Column& c = columns_[i];
        const ColumnType type = (*specs_)[i].type;
        c.validity.reserve((rows_ + more + 7) / 8 + 16, (rows_ + 7) / 8);
        const bool first = c.values.capacity() == 0;
        c.values.reserve(fixed_bytes(type, rows_ + more), rows_ || !first ? fixed_bytes(type, rows_) : 0);
        if (first && is_text(type)) std::memset(c.values.data(), 0, 8);  // the first offset
    }
}

void ColumnSet::write_validity(size_t i, uint64_t at, const uint64_t* valid_words, uint32_t count) {
    Column& c = columns_[i];
    copy_bits(c.validity.data(), at, valid_words, count);
    uint32_t valid = 0;
    for (uint32_t done = 0; done < count; done += 64) {
        uint64_t word = valid_words[done / 64];
        if (count - done < 64) word &= (uint64_t(1) << (count - done)) - 1;
        valid += __builtin_popcountll(word);
    }
    c.null_count += count - valid;
}

namespace {

// What a released batch gives back: its columns' blocks, and the small ABI structs, all in one allocation each.
// Consumers may move children out and release them on their own: the last one to go takes the whole with it.
struct ExportedBatch {
    std::vector<Column> columns;
    std::vector<ArrowArray> children;
    std::vector<ArrowArray*> child_pointers;
    std::vector<const void*> buffers;  // three a child
    const void* no_validity = nullptr;
    std::atomic<size_t> holders{0};
};

void let_go(ArrowArray* array) {
    ExportedBatch* batch = static_cast<ExportedBatch*>(array->private_data);
    array->release = nullptr;
    if (batch->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete batch;
}

void release_batch(ArrowArray* array) {
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release) array->children[i]->release(array->children[i]);
    let_go(array);
}

}  // namespace

void ColumnSet::export_batch(ArrowArray* out, size_t exported_columns) {
    ExportedBatch* const batch = new ExportedBatch;
    const size_t n = exported_columns;
    const size_t all = columns_.size();
    reserve_rows(0);
    batch->columns = std::move(columns_);
    batch->holders = n + 1;
    batch->children.resize(n);
    batch->child_pointers.resize(n);
    batch->buffers.assign(3 * n, nullptr);
    for (size_t i = 0; i < n; i++) {
        Column& c = batch->columns[i];
        const ColumnType type = (*specs_)[i].type;
        const void** buffers = &batch->buffers[3 * i];
        buffers[0] = c.null_count ? c.validity.data() : nullptr;
        buffers[1] = c.values.data();
        // A text column without bytes still needs a non-null data pointer.
        buffers[2] = c.text.data() ? c.text.data() : c.values.data();
        ArrowArray& child = batch->children[i];
        child = ArrowArray{};
        child.length = int64_t(rows_);
        child.null_count = int64_t(c.null_count);
        child.n_buffers = is_text(type) ? 3 : 2;
        child.buffers = buffers;
        child.release = let_go;
        child.private_data = batch;
        batch->child_pointers[i] = &child;
    }
    *out = ArrowArray{};
    out->length = int64_t(rows_);
    out->n_buffers = 1;
    out->buffers = &batch->no_validity;
    out->n_children = int64_t(n);
    out->children = batch->child_pointers.data();
    out->release = release_batch;
    out->private_data = batch;
    columns_ = std::vector<Column>(all);
    rows_ = 0;
}

}  // namespace formatter
