# In: variants as the engine decodes them, each one text behind offsets. Out: their values and metadata, in memory of
# the caller.

cdef extern from "engine/variants/variant_parts.hpp" namespace "formatter" nogil:
    cdef cppclass VariantTexts:
        const int32_t* offsets
        const uint8_t* bytes
        size_t count
    cdef cppclass VariantBytes:
        uint64_t values, metadata
    VariantBytes c_variant_ends "formatter::variant_ends"(const VariantTexts&, int32_t*, int32_t*)
    void c_split_variants "formatter::split_variants"(const VariantTexts&, uint8_t*, uint8_t*)


cdef VariantTexts variant_texts(const int32_t[::1] offsets, const uint8_t[::1] texts):
    cdef VariantTexts described
    described.offsets = &offsets[0]
    described.bytes = &texts[0]
    described.count = <size_t>offsets.shape[0] - 1
    return described


def variant_sizes(const int32_t[::1] offsets, const uint8_t[::1] texts, uint8_t[::1] value_ends,
                  uint8_t[::1] metadata_ends):
    """(Bytes of all values, of all metadata); where each ends is written behind a zero, as int32."""
    cdef VariantTexts described = variant_texts(offsets, texts)
    cdef VariantBytes found
    with nogil:
        found = c_variant_ends(described, <int32_t*>&value_ends[0], <int32_t*>&metadata_ends[0])
    return found.values, found.metadata


def split_variants(const int32_t[::1] offsets, const uint8_t[::1] texts, uint8_t[::1] values, uint8_t[::1] metadata):
    """Copies both. The memory is as large as `variant_sizes` says."""
    cdef VariantTexts described = variant_texts(offsets, texts)
    cdef uint8_t* value = &values[0] if values.shape[0] else NULL
    cdef uint8_t* keys = &metadata[0] if metadata.shape[0] else NULL
    with nogil:
        c_split_variants(described, value, keys)
