// Binary rows as streams and readers see them. In: a format. Out: how its rows are found and decoded. Refuses to know
// buffers.
#pragma once

#include <memory>

#include "engine/binary/binary_format.hpp"
#include "engine/records/record_format.hpp"

namespace formatter {

RecordFormat binary_record_format(std::shared_ptr<const BinaryFormat>);

}  // namespace formatter
