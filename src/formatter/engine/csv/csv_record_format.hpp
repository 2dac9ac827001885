// A CSV format as streams and readers see it. In: a dialect, whose separators are UTF-8, and an encoding. Out: how its
// records are found and decoded. In other encodings than UTF-8 records are followed in the source, then rewritten to UTF-8
// a stretch at a time and decoded there. Refuses to know buffers.
#pragma once

#include <memory>

#include "engine/csv/csv_format.hpp"
#include "engine/records/record_format.hpp"
#include "engine/records/text_encoding.hpp"

namespace formatter {

// The dialect with its separators as they stand in the source, where that has bytes for them.
std::shared_ptr<const CsvFormat> in_source(std::shared_ptr<const CsvFormat>, TextEncoding);

RecordFormat csv_record_format(std::shared_ptr<const CsvFormat>, TextEncoding);

}  // namespace formatter
