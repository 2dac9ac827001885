#include "engine/documents/json_documents.hpp"

#include "engine/documents/json_line_writer.hpp"
#include "engine/records/byte_order_mark.hpp"

namespace formatter {

RecordEnds JsonDocuments::scan(const uint8_t* data, size_t size, ScanState* state, bool first_only) const {
    RecordEnds ends;
    for (size_t at = 0; at < size;) {
        bool ended = false;
        if (state->inside) {
            at = pass_string(data, at, size, state);
            if (state->inside) break;
            ended = state->count == 0;
        } else {
            const uint8_t c = data[at++];
            if (state->mark < mark_bytes && is_next_mark_byte(c, &state->mark)) continue;
            if (state->at_record_start && is_json_space(c)) continue;
            const bool first = state->at_record_start;
            state->at_record_start = false;
            switch (c) {
                case '"': state->inside = true; break;
                case '[':
                case '{': state->count++; break;
                case ']':
                case '}':
                    if (state->count) state->count--;
                    ended = state->count == 0;
                    break;
                case ',':
                case ' ':
                case '\n':
                case '\r':
                case '\t': ended = state->count == 0 && (c == ',' || !first); break;
                default: break;
            }
        }
        if (!ended) continue;
        state->at_record_start = true;
        ends.add(at);
        if (first_only) return ends;
    }
    return ends;
}

RewrittenText JsonAsLines::rewrite(const RewriteSource& source, uint8_t* out, std::vector<TextMark>* marks) const {
    JsonLineWriter lines(source, out, marks);
    if (layout_ == JsonLayout::prefixed) return rewrite_prefixed(source, &lines);
    size_t at = 0;
    while (at < source.size) {
        const bool first = at == 0 && source.stream_start;
        ScanState state;
        if (first) state.mark = 0;
        const RecordEnds found = documents_.scan(source.data + at, source.size - at, &state, true);
        if (!found.any()) break;
        const size_t end = at + found.first;
        lines.add(first ? mark_size(source.data, end) : at, end, end);
        at = end;
    }
    if (!source.final) return lines.done();
    if (at == 0 && source.stream_start) at = mark_size(source.data, source.size);
    const size_t begin = skip_space(source.data, at, source.size);
    if (begin < source.size) lines.add(begin, source.size, source.size);
    return lines.done();
}

RewrittenText JsonAsLines::rewrite_prefixed(const RewriteSource& source, JsonLineWriter* lines) const {
    size_t at = 0;
    while (at < source.size) {
        const PrefixedRecord record = prefixed_record_at(length_, source.data + at, source.size - at);
        if (!record.complete) break;
        const size_t begin = at + record.prefix, end = begin + size_t(record.size);
        lines->add(begin, end, end);
        at = end;
    }
    return source.final && at < source.size ? lines->done(ErrorCode::unterminated_record, at) : lines->done();
}

}  // namespace formatter
