#include "engine/json/json_needles.hpp"

namespace formatter {
namespace {

// A character is written as it is or by an escape, so a line with a backslash may hold any text; a quote, a backslash and a
// line end only by one. Text of other values (text=any) has no quotes around it.
void add_text(const ColumnSpec& spec, Compare compare, const std::string& text, ClauseNeedles* out) {
    out->escapes = true;
    const bool bare = spec.any_value;
    if (text.find_first_of(bare ? "\n" : "\"\\\n") != std::string::npos) return;
    const bool whole = compare == Compare::equal || compare == Compare::in;
    const bool from_begin = !bare && (whole || compare == Compare::starts_with);
    const bool to_end = !bare && (whole || compare == Compare::ends_with);
    out->any_of.push_back({(from_begin ? "\"" : "") + text + (to_end ? "\"" : "")});
}

}  // namespace

std::shared_ptr<const RecordNeedles> json_needles(const JsonFormat& format) {
    if (!format.counts_unmatched) return nullptr;
    NeedleSpelling spelling;
    spelling.text = [](const ColumnSpec& spec, Compare compare, const std::string& text, ClauseNeedles* out) {
        add_text(spec, compare, text, out);
        return out->any_of.empty() || !out->any_of.back().bytes.empty();
    };
    spelling.exponents = true;
    const CsvBytes bytes{0, '\n', '"', false};
    return RecordNeedles::of_filter(format.filter, spelling, bytes, BlankLines::spaces, [&](uint32_t column) {
        const JsonNodeSpec& node = format.columns[column].node;
        return node.kind == JsonKind::scalar ? &node.scalar : nullptr;
    });
}

}  // namespace formatter
