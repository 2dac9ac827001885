#include "engine/json/json_record_format.hpp"

#include "engine/json/json_decoder.hpp"
#include "engine/json/json_frames.hpp"

namespace formatter {

RecordFormat json_record_format(std::shared_ptr<const JsonFormat> json) {
    RecordFormat format;
    format.framing.kind = FramingKind::stateless;
    format.framing.record_end = '\n';
    format.framing.kernel = json->kernel;
    format.line_ends_inside = true;
    format.make_decoder = [json] { return std::unique_ptr<RecordDecoder>(new JsonDecoder(json)); };
    if (json->layout == JsonLayout::lines) return format;
    format.framing.kind = FramingKind::scanned;
    format.framing.scanner = std::make_shared<JsonFrames>(json->layout);
    const auto lines = std::make_shared<JsonLines>(json->layout, json->tells_errors());
    format.make_decoder = [json, lines] {
        std::unique_ptr<RecordDecoder> inner(new JsonDecoder(json));
        return std::unique_ptr<RecordDecoder>(new RewritingDecoder(lines, std::move(inner)));
    };
    return format;
}

}  // namespace formatter
