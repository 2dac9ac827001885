// A JSON format as streams and readers see it: records end at every '\n', so buffers can be used in any order.
#pragma once

#include <memory>

#include "engine/records/framing.hpp"
#include "engine/json/json_format.hpp"

namespace formatter {

RecordFormat json_record_format(std::shared_ptr<const JsonFormat>);

}  // namespace formatter
