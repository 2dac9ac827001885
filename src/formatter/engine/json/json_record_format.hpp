// A JSON format as streams and readers see it. In: a format. Out: how its records are found and decoded: as lines, or as
// documents of another layout that are rewritten to lines. Refuses to know buffers.
#pragma once

#include <memory>

#include "engine/json_text/json_format.hpp"
#include "engine/records/record_format.hpp"

namespace formatter {

RecordFormat json_record_format(std::shared_ptr<const JsonFormat>);

}  // namespace formatter
