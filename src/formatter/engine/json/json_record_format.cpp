#include "engine/json/json_record_format.hpp"

#include <algorithm>

#include "engine/documents/json_array_lines.hpp"
#include "engine/json/json_decoder.hpp"
#include "engine/documents/json_documents.hpp"
#include "engine/json/json_needles.hpp"
#include "engine/records/needle_decoder.hpp"

namespace formatter {
namespace {

bool keeps_text(const JsonNodeSpec& node) {
    return node.scalar.raw || node.scalar.any_value ||
           std::any_of(node.children.begin(), node.children.end(), keeps_text);
}

}  // namespace

RecordFormat json_record_format(std::shared_ptr<const JsonFormat> json) {
    RecordFormat format;
    RecordEnding& ending = format.ending;
    ending.kernel = json->kernel;
    if (json->layout == JsonLayout::lines) {  // records end at every '\n', so buffers can be used in any order
        format.line_ends_inside = true;
        format.keeps_text = std::any_of(json->columns.begin(), json->columns.end(),
                                        [](const JsonColumn& column) { return keeps_text(column.node); });
        if (const auto needles = json_needles(*json))
            format.make_decoder = [json, needles] {
                return std::unique_ptr<RecordDecoder>(new NeedleDecoder<JsonDecoder>(json, needles));
            };
        else
            format.make_decoder = [json] { return std::unique_ptr<RecordDecoder>(new JsonDecoder(json)); };
        return format;
    }
    ending.kind = EndingKind::scanned;
    std::shared_ptr<const Rewriter> lines;
    if (json->layout == JsonLayout::array) {
        ending.record_end_size = 1;
        const auto arrays = std::make_shared<JsonArrays>(json->kernel, json->array_path);
        ending.scanner = arrays;
        lines = std::make_shared<JsonArrayLines>(arrays, *json);
    } else {
        ending.record_end_size = 0;
        if (json->layout == JsonLayout::prefixed)
            ending.scanner = std::make_shared<PrefixedRecords>(json->length);
        else
            ending.scanner = std::make_shared<JsonDocuments>();
        lines = std::make_shared<JsonAsLines>(*json);
    }
    format.make_decoder = [json, lines] {
        std::unique_ptr<RecordDecoder> inner(new JsonDecoder(json));
        return std::unique_ptr<RecordDecoder>(new RewritingDecoder(lines, std::move(inner)));
    };
    return format;
}

}  // namespace formatter
