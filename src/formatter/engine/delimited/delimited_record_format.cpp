// Where the records of a declaration end, and its decoder. In: a declaration. Out: the record format that streams and readers take. Refuses to
// know buffers.
#include "engine/delimited/delimited_record_format.hpp"

#include "engine/csv/csv_record_format.hpp"
#include "engine/delimited/delimited_decoder.hpp"

namespace formatter {

// Records end as CSV's do where nothing is quoted: wherever a record end stands.
RecordFormat delimited_record_format(std::shared_ptr<const DelimitedFormat> declared) {
    RecordFormat format = csv_record_format(declared->fields, TextEncoding::utf8);
    format.make_decoder = [declared] { return std::unique_ptr<RecordDecoder>(new DelimitedDecoder(declared)); };
    return format;
}

}  // namespace formatter
