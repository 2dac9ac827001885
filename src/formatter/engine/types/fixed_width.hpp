// What entries of fixed width have in common. In: columns and binary rows. Out: which values pass, values in a column's
// order of bytes. Refuses to know how values are written as text.
#pragma once

#include <cstring>

#include "engine/columns/columns.hpp"
#include "engine/columns/value_tests.hpp"

namespace formatter {

template <typename T>
ErrorCode stored(ErrorCode code, T value, void* out) {
    if (code == ErrorCode::none) std::memcpy(out, &value, sizeof value);
    return code;
}

// `wanted`: the list of the predicate that values of the type are compared with.
template <typename T, typename Wide, std::vector<Wide> Predicate::* wanted>
void test_fixed(const Predicate& p, const ColumnView& c, uint64_t count, uint64_t* keep) {
    const T* const values = reinterpret_cast<const T*>(c.values);
    test_rows<Wide>(p, p.*wanted, c, count, keep, [values](uint64_t row) { return Wide(values[row]); });
}

template <typename T, bool swap>
T load_packed(const uint8_t* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    if constexpr (swap && sizeof(T) == 2) return T(__builtin_bswap16(uint16_t(value)));
    if constexpr (swap && sizeof(T) == 4) return T(__builtin_bswap32(uint32_t(value)));
    if constexpr (swap && sizeof(T) == 8) return T(__builtin_bswap64(uint64_t(value)));
    return value;
}

// Calls visit(number of the field, its bytes): one loop where fields stand at equal distances, and another where they do not.
template <typename Visit>
void each_packed(const PackedFields& fields, Visit visit) {
    if (fields.stride) {
        const uint8_t* const first = fields.rows[0] + fields.offset;
        for (size_t i = 0; i < fields.count; i++) visit(i, first + i * fields.stride);
    } else {
        for (size_t i = 0; i < fields.count; i++) visit(i, fields.rows[i] + fields.offset);
    }
}

template <typename IsValue>
size_t next_wrong_packed(const PackedFields& fields, size_t from, IsValue is_value) {
    if (fields.stride && fields.count) {
        const uint8_t* const first = fields.rows[0] + fields.offset;
        while (from < fields.count && is_value(first + from * fields.stride)) from++;
    } else {
        while (from < fields.count && is_value(fields.rows[from] + fields.offset)) from++;
    }
    return from;
}

template <typename T>  // a whole number of the values' width
void gather_fixed(const PackedFields& fields, uint8_t* values, uint64_t at) {
    T* const out = reinterpret_cast<T*>(values) + at;
    if (fields.big_endian)
        each_packed(fields, [out](size_t i, const uint8_t* field) { out[i] = load_packed<T, true>(field); });
    else
        each_packed(fields, [out](size_t i, const uint8_t* field) { out[i] = load_packed<T, false>(field); });
}

}  // namespace formatter
