// Columns of wide numbers to narrower types. In: what the kernels' loops decoded. Out: the values that fit; the others
// are marked odd, once each, and are decided from their text.
#pragma once

#include <cstdint>

#include "engine/columns/columns.hpp"

namespace formatter {

// `to`: where the first value goes, in the width of `type`, an integer other than int64.
void narrow_integers(ColumnType type, const int64_t* from, uint8_t* to, uint32_t rows, ValueMarks* marks);

void narrow_floats(const double* from, float* to, uint32_t rows, ValueMarks* marks);

}  // namespace formatter
