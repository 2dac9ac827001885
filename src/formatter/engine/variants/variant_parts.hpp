// Variants as they are decoded, to the two columns that they leave as. In: texts, each of four bytes that say how long a value is,
// the value and its metadata; or nothing. Out: values and metadata, each behind offsets. Refuses to know what is in them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace formatter {

struct VariantTexts {
    const int32_t* offsets;  // one more than there are texts
    const uint8_t* bytes;
    size_t count;
};
struct VariantBytes {
    uint64_t values, metadata;
};

// Where values and metadata end, offset by offset, and how many bytes they have in all.
VariantBytes variant_ends(const VariantTexts&, int32_t* value_ends, int32_t* metadata_ends);
// Copies both to memory for all of them.
void split_variants(const VariantTexts&, uint8_t* values, uint8_t* metadata);

}  // namespace formatter
