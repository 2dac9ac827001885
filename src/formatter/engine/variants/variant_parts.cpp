#include "engine/variants/variant_parts.hpp"

#include <cstring>

namespace formatter {
namespace {

constexpr size_t length_bytes = 4;

// Calls `take(value, its bytes, metadata, its bytes)` for each text, with none of both for an empty one.
template <typename Take>
void each_variant(const VariantTexts& texts, Take take) {
    for (size_t i = 0; i < texts.count; i++) {
        const uint8_t* const text = texts.bytes + texts.offsets[i];
        const size_t size = size_t(texts.offsets[i + 1] - texts.offsets[i]);
        if (size < length_bytes) {
            take(text, 0, text, 0);
            continue;
        }
        uint32_t value_bytes;
        std::memcpy(&value_bytes, text, length_bytes);
        const uint8_t* const value = text + length_bytes;
        take(value, size_t(value_bytes), value + value_bytes, size - length_bytes - value_bytes);
    }
}

}  // namespace

VariantBytes variant_ends(const VariantTexts& texts, int32_t* value_ends, int32_t* metadata_ends) {
    VariantBytes bytes{0, 0};
    *value_ends++ = 0;
    *metadata_ends++ = 0;
    each_variant(texts, [&](const uint8_t*, size_t value_bytes, const uint8_t*, size_t metadata_bytes) {
        bytes.values += value_bytes;
        bytes.metadata += metadata_bytes;
        *value_ends++ = int32_t(bytes.values);
        *metadata_ends++ = int32_t(bytes.metadata);
    });
    return bytes;
}

void split_variants(const VariantTexts& texts, uint8_t* values, uint8_t* metadata) {
    each_variant(texts, [&](const uint8_t* value, size_t value_bytes, const uint8_t* keys, size_t key_bytes) {
        std::memcpy(values, value, value_bytes);
        std::memcpy(metadata, keys, key_bytes);
        values += value_bytes;
        metadata += key_bytes;
    });
}

}  // namespace formatter
