// A declared format as streams and readers see it. In: a declaration. Out: how its records are found and decoded. Refuses to
// know buffers.
#pragma once

#include "engine/delimited/delimited_format.hpp"
#include "engine/records/record_format.hpp"

namespace formatter {

RecordFormat delimited_record_format(std::shared_ptr<const DelimitedFormat>);

}  // namespace formatter
