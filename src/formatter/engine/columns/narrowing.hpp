// Wide numbers to narrower types. In: what the kernels' loops decoded, or one exact value. Out: the values that fit; the
// others are marked odd, once each, and are decided from their text.
#pragma once

#include <cstdint>

#include "engine/columns/columns.hpp"

namespace formatter {

// `to`: where the first value goes, in the width of `type`, an integer other than int64.
void narrow_integers(ColumnType type, const int64_t* from, uint8_t* to, uint32_t rows, ValueMarks* marks);

// `to`: where the first value goes, of type float32 or float16.
void narrow_floats(ColumnType type, const double* from, uint8_t* to, uint32_t rows, ValueMarks* marks);

// A value that is exact in `type` to position `at` of a column of it.
void store_float(ColumnType type, double value, uint8_t* values, uint64_t at);

}  // namespace formatter
