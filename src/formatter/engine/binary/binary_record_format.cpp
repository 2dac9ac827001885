#include "engine/binary/binary_record_format.hpp"

#include "engine/binary/binary_decoder.hpp"

namespace formatter {

RecordFormat binary_record_format(std::shared_ptr<const BinaryFormat> binary) {
    RecordFormat format;
    format.ending.kind = EndingKind::scanned;
    format.ending.record_end_size = 0;
    format.ending.kernel = binary->kernel;
    if (binary->length.width)
        format.ending.scanner = std::make_shared<PrefixedRecords>(binary->length);
    else
        format.ending.scanner = std::make_shared<FixedRows>(binary->row_width);
    format.make_decoder = [binary] { return std::unique_ptr<RecordDecoder>(new BinaryDecoder(binary)); };
    return format;
}

}  // namespace formatter
