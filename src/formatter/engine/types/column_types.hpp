// The column types there are: one line each, and a file of this room that has the entry. In: nothing. Out: the entries, in
// one order. Refuses to know what is in them.
#pragma once

#include "engine/columns/column_type.hpp"

namespace formatter {

// clang-format off
#define FORMATTER_COLUMN_TYPES(each) \
    each(int8) \
    each(int16) \
    each(int32) \
    each(int64) \
    each(uint8) \
    each(uint16) \
    each(uint32) \
    each(uint64) \
    each(float16) \
    each(float32) \
    each(float64) \
    each(decimal128) \
    each(boolean) \
    each(date32) \
    each(timestamp) \
    each(string) \
    each(large_string) \
    each(binary) \
    each(large_binary)
// clang-format on

#define FORMATTER_TYPE(name) extern const ColumnType name##_type;
FORMATTER_COLUMN_TYPES(FORMATTER_TYPE)
#undef FORMATTER_TYPE

inline const std::vector<const ColumnType*>& column_types() {
#define FORMATTER_TYPE(name) &name##_type,
    static const std::vector<const ColumnType*> types{FORMATTER_COLUMN_TYPES(FORMATTER_TYPE)};
#undef FORMATTER_TYPE
    return types;
}

}  // namespace formatter
