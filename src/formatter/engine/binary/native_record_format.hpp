// What streams and readers need to know of binary rows, and of records behind their length.
#pragma once

#include <memory>

#include "engine/records/framing.hpp"
#include "engine/binary/native_format.hpp"

namespace formatter {

RecordFormat native_record_format(std::shared_ptr<const NativeFormat>);
// Records of another format behind their length: JSON documents, each whatever stands in its frame.
RecordFormat framed_record_format(const RecordFormat& inner, FrameLength, bool tells_errors);

}  // namespace formatter
