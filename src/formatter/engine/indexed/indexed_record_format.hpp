// A format with an indexer of others as streams and readers see it. In: the format. Out: how its records are found and decoded.
// Refuses to know buffers.
#pragma once

#include "engine/indexed/indexed_format.hpp"
#include "engine/records/record_format.hpp"

namespace formatter {

RecordFormat indexed_record_format(std::shared_ptr<const IndexedFormat>);

}  // namespace formatter
