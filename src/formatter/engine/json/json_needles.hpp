// What the bytes of a JSON line must hold if a filter may keep it. In: a format and its filter. Out: needles, or none.
// Refuses to know bytes.
#pragma once

#include "engine/json_text/json_format.hpp"
#include "engine/records/needles.hpp"

namespace formatter {

// Null where all records are to be looked at.
std::shared_ptr<const RecordNeedles> json_needles(const JsonFormat&);

}  // namespace formatter
