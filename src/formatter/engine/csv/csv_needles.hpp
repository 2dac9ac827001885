// What the bytes of a CSV record must hold if a filter may keep it. In: a dialect and its filter. Out: needles, or none.
// Refuses to know bytes.
#pragma once

#include "engine/csv/csv_format.hpp"
#include "engine/records/needles.hpp"

namespace formatter {

// Null where all records are to be looked at.
std::shared_ptr<const RecordNeedles> csv_needles(const CsvFormat&);

}  // namespace formatter
