// Where the last records of an input begin, which are none of its table. In: bytes that begin at a record, and how many records
// are left out. Out: how many bytes those before them have. Refuses to know what is in a record.
#pragma once

#include "engine/records/record_format.hpp"

namespace formatter {

// `input_ends`: what stands behind the last record end is a record, too; else it is none yet.
size_t bytes_before_footer(const RecordFormat&, const uint8_t* data, size_t size, uint64_t footer_records,
                           bool input_ends);

}  // namespace formatter
