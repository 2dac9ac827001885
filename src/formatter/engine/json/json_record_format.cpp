#include "engine/json/json_record_format.hpp"

#include <algorithm>

#include "engine/json/json_decoder.hpp"
#include "engine/json/json_frames.hpp"

namespace formatter {
namespace {

bool keeps_text(const JsonNodeSpec& node) {
    return node.scalar.raw || node.scalar.any_value ||
           std::any_of(node.children.begin(), node.children.end(), keeps_text);
}

}  // namespace

RecordFormat json_record_format(std::shared_ptr<const JsonFormat> json) {
    RecordFormat format;
    format.framing.kind = FramingKind::stateless;
    format.framing.record_end = '\n';
    format.framing.kernel = json->kernel;
    format.line_ends_inside = true;
    format.keeps_text = std::any_of(json->columns.begin(), json->columns.end(),
                                    [](const JsonColumn& column) { return keeps_text(column.node); });
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
