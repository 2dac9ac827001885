#include "engine/columns/columns.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace formatter {

uint64_t offsets_most = uint64_t(1) << 31;

bool Bytes::equals(const std::string& text) const {
    return size == text.size() && std::memcmp(data, text.data(), size) == 0;
}

void store_value(const ColumnType& type, const void* value, uint8_t* values, uint64_t at) {
    if (type.layout != ValueLayout::bits) {
        std::memcpy(values + at * type.width, value, type.width);
        return;
    }
    const unsigned bit = *static_cast<const uint8_t*>(value);
    values[at / 8] = uint8_t((values[at / 8] & ~(1u << at % 8)) | bit << at % 8);
}

namespace {

// A batch copies the dictionary it refers to. One that has grown beyond this starts anew with the next batch.
constexpr uint32_t kept_entries_most = 4096;
constexpr uint64_t kept_bytes_most = 256 << 10;

size_t fixed_bytes(const ColumnSpec& spec, uint64_t rows) {
    if (is_coded(spec)) return rows * sizeof(int32_t);
    switch (spec.type->layout) {
        case ValueLayout::bits: return (rows + 7) / 8 + 16;  // copy_bits writes whole words
        case ValueLayout::text: return (rows + 1) * 4;
        case ValueLayout::large_text: return (rows + 1) * 8;
        default: return rows * spec.type->width;
    }
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
        bytes += fixed_bytes((*specs_)[i], rows_) + columns_[i].text_bytes + dictionaries_[i].added_bytes();
    return bytes;
}

uint64_t ColumnSet::text_room() const {
    uint64_t room = offsets_most;
    for (size_t i = 0; i < columns_.size(); i++) {
        const ColumnSpec& spec = (*specs_)[i];
        if (has_large_offsets(spec)) continue;
        const uint64_t used = std::max(columns_[i].text_bytes, dictionaries_[i].text_bytes());
        room = std::min(room, (offsets_most - std::min(used, offsets_most)) / text_growth(spec));
    }
    return room;
}

void ColumnSet::make_room(uint64_t rows, uint64_t ahead) {
    if (rows_ + rows <= reserved_) return;
    const uint64_t more = std::max({rows, rows_, ahead});
    reserve_rows(more);
    reserved_ = rows_ + more;
}

void ColumnSet::begin_rows() {
    for (Column& c : columns_) {
        c.text_before = c.text_bytes;
        c.nulls_before = c.null_count;
    }
}

void ColumnSet::forget_rows() {
    for (size_t i = 0; i < columns_.size(); i++) forget_rows(i);
}

void ColumnSet::reserve_rows(uint64_t more) {
    for (size_t i = 0; i < columns_.size(); i++) {
        Column& c = columns_[i];
        const ColumnSpec& spec = (*specs_)[i];
        c.validity.reserve((rows_ + more + 7) / 8 + 16, (rows_ + 7) / 8);
        const bool first = c.values.capacity() == 0;
        c.values.reserve(fixed_bytes(spec, rows_ + more), rows_ || !first ? fixed_bytes(spec, rows_) : 0);
        if (first && is_text(spec) && !is_coded(spec)) std::memset(c.values.data(), 0, 8);  // the first offset
    }
}

void ColumnSet::prefetch_rows(size_t i, uint32_t rows) const {
    constexpr size_t line = 64, bytes_most = 24 * line;
    const Column& c = columns_[i];
    const ColumnSpec& spec = (*specs_)[i];
    const uint8_t* begin = c.values.data() + fixed_bytes(spec, rows_);
    const size_t bytes = std::min<size_t>(fixed_bytes(spec, rows), bytes_most);
    for (size_t at = 0; at < bytes; at += line) __builtin_prefetch(begin + at, 1);
    __builtin_prefetch(c.validity.data() + rows_ / 8, 1);
}

void ColumnSet::write_validity(size_t i, uint64_t at, const uint64_t* valid_words, uint32_t count) {
    Column& c = columns_[i];
    copy_bits(c.validity.data(), at, valid_words, count);
    c.null_count += count - count_bits(valid_words, count);
}

namespace {

// What a released batch gives back: its columns' blocks, and the small ABI structs, all in one allocation each.
// Consumers may move children out and release them on their own: the last one to go takes the whole with it.
struct ExportedBatch {
    std::vector<Column> columns;
    std::vector<ArrowArray> children;
    std::vector<ArrowArray*> child_pointers;
    std::vector<const void*> buffers;  // four a child
    std::vector<int64_t> text_bytes;   // of a child that is a view
    std::vector<PoolBuffer> dictionary_offsets, dictionary_texts;
    std::vector<ArrowArray> dictionaries;
    std::vector<const void*> dictionary_buffers;  // three each
    const void* no_validity = nullptr;
    std::atomic<size_t> holders{0};
};

// Dictionaries live and die with the child that refers to them.
void let_go_dictionary(ArrowArray* array) { array->release = nullptr; }

void let_go(ArrowArray* array) {
    if (array->dictionary && array->dictionary->release) array->dictionary->release(array->dictionary);
    ExportedBatch* batch = static_cast<ExportedBatch*>(array->private_data);
    array->release = nullptr;
    if (batch->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete batch;
}

void release_batch(ArrowArray* array) {
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release) array->children[i]->release(array->children[i]);
    let_go(array);
}

constexpr uint32_t inline_most = 12;  // bytes of text that a view holds by itself

// Sixteen bytes a value: its size, then all of it if that is at most twelve, else its first four, the number of its
// buffer (there is one) and where it begins there. Both ways are computed: sizes come in any order.
template <typename Offset>
void write_views(const Column& c, uint64_t rows, PoolBuffer* views) {
    static const uint8_t no_text[16] = {};
    views->reserve(16 * (rows + 1), 0);
    const Offset* offsets = c.values.as<Offset>();
    const uint8_t* text = c.text.data() ? c.text.data() : no_text;  // else with slack: twelve bytes can always be read
    uint8_t* view = views->data();
    for (uint64_t row = 0; row < rows; row++, view += 16) {
        const uint64_t begin = uint64_t(offsets[row]);
        const uint32_t size = uint32_t(uint64_t(offsets[row + 1]) - begin);
        uint64_t first;
        uint32_t last;
        std::memcpy(&first, text + begin, 8);
        std::memcpy(&last, text + begin + 8, 4);
        const bool is_long = size > inline_most;
        const unsigned low_bits = size < 8 ? 8 * size : 63;
        const unsigned high_bits = size < 8 ? 0 : 8 * (size & 7);
        const uint64_t low_mask = size < 8 ? (uint64_t(1) << low_bits) - 1 : ~uint64_t(0);
        const uint32_t high_mask = size == inline_most ? ~uint32_t(0) : uint32_t((uint64_t(1) << high_bits) - 1);
        first = is_long ? uint32_t(first) : first & low_mask;
        last = is_long ? uint32_t(begin) : last & high_mask;
        std::memcpy(view, &size, 4);
        std::memcpy(view + 4, &first, 8);
        std::memcpy(view + 12, &last, 4);
    }
}

void export_dictionary(const TextDictionary& dictionary, bool large, size_t number, ExportedBatch* batch,
                       ArrowArray* child) {
    PoolBuffer& offsets = batch->dictionary_offsets[number];
    PoolBuffer& text = batch->dictionary_texts[number];
    dictionary.copy_to(&offsets, &text, large);
    const void** buffers = &batch->dictionary_buffers[3 * number];
    buffers[0] = nullptr;
    buffers[1] = offsets.data();
    buffers[2] = text.data();
    ArrowArray& out = batch->dictionaries[number];
    out = ArrowArray{};
    out.length = int64_t(dictionary.size());
    out.n_buffers = 3;
    out.buffers = buffers;
    out.release = let_go_dictionary;
    child->dictionary = &out;
}

}  // namespace

void ColumnSet::export_batch(ArrowArray* out, size_t exported_columns) {
    std::unique_ptr<ExportedBatch> batch(new ExportedBatch);
    const size_t n = exported_columns;
    std::vector<Column> columns(columns_.size());
    reserve_rows(0);
    columns.swap(columns_);
    batch->columns = std::move(columns);
    batch->holders = n + 1;
    batch->children.resize(n);
    batch->child_pointers.resize(n);
    batch->buffers.assign(4 * n, nullptr);
    batch->text_bytes.resize(n);
    size_t coded = 0;
    for (size_t i = 0; i < n; i++) coded += is_coded((*specs_)[i]);
    batch->dictionary_offsets.resize(coded);
    batch->dictionary_texts.resize(coded);
    batch->dictionaries.resize(coded);
    batch->dictionary_buffers.resize(3 * coded);
    coded = 0;
    for (size_t i = 0; i < n; i++) {
        Column& c = batch->columns[i];
        const ColumnSpec& spec = (*specs_)[i];
        const void** buffers = &batch->buffers[4 * i];
        buffers[0] = c.null_count ? c.validity.data() : nullptr;
        buffers[1] = c.values.data();
        // A text column without bytes still needs a non-null data pointer.
        buffers[2] = c.text.data() ? c.text.data() : c.values.data();
        ArrowArray& child = batch->children[i];
        child = ArrowArray{};
        child.length = int64_t(rows_);
        child.null_count = int64_t(c.null_count);
        child.n_buffers = is_text(spec) ? 3 : 2;
        child.buffers = buffers;
        child.release = let_go;
        child.private_data = batch.get();
        if (is_coded(spec)) {
            child.n_buffers = 2;
            export_dictionary(dictionaries_[i], has_large_offsets(spec), coded++, batch.get(), &child);
        } else if (is_text(spec) && spec.layout == TextLayout::view) {
            PoolBuffer views;
            if (has_large_offsets(spec))
                write_views<int64_t>(c, rows_, &views);
            else
                write_views<int32_t>(c, rows_, &views);
            c.values = std::move(views);
            buffers[1] = c.values.data();
            batch->text_bytes[i] = int64_t(c.text_bytes);
            buffers[3] = &batch->text_bytes[i];
            child.n_buffers = 4;
        }
        batch->child_pointers[i] = &child;
    }
    *out = ArrowArray{};
    out->length = int64_t(rows_);
    out->n_buffers = 1;
    out->buffers = &batch->no_validity;
    out->n_children = int64_t(n);
    out->children = batch->child_pointers.data();
    out->release = release_batch;
    out->private_data = batch.release();
    for (TextDictionary& dictionary : dictionaries_) {
        if (dictionary.size() > kept_entries_most || dictionary.text_bytes() > kept_bytes_most) dictionary.clear();
        dictionary.keep();
    }
    rows_ = reserved_ = 0;
}

}  // namespace formatter
