// CSV in other encodings than UTF-8. In: a CSV format, whose separators are UTF-8, and an encoding. Out: a format that
// reads source bytes: records are followed in the source, then rewritten to UTF-8 a slice at a time and decoded there.
#pragma once

#include <memory>

#include "engine/records/framing.hpp"
#include "engine/records/text_encoding.hpp"

namespace formatter {

RecordFormat encoded_csv_format(std::shared_ptr<const CsvFormat>, TextEncoding);

}  // namespace formatter
