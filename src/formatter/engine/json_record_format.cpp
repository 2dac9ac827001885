#include "engine/json_record_format.hpp"

#include "engine/json_decoder.hpp"

namespace formatter {

RecordFormat json_record_format(std::shared_ptr<const JsonFormat> json) {
    RecordFormat format;
    format.framing.kind = FramingKind::stateless;
    format.framing.record_end = '\n';
    format.framing.kernel = json->kernel;
    format.line_ends_inside = true;
    format.make_decoder = [json] { return std::unique_ptr<RecordDecoder>(new JsonDecoder(json)); };
    return format;
}

}  // namespace formatter
