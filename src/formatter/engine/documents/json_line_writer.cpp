#include "engine/documents/json_line_writer.hpp"

#include <cstring>

namespace formatter {

size_t pass_string(const uint8_t* data, size_t at, size_t size, ScanState* state) {
    while (at < size) {
        if (state->escaped) {
            state->escaped = false;
            at++;
            continue;
        }
        constexpr uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;
        while (size - at >= 8) {  // eight bytes without a quote or a backslash
            uint64_t word;
            std::memcpy(&word, data + at, 8);
            const uint64_t quote = word ^ ones * '"', escape = word ^ ones * '\\';
            if ((((quote - ones) & ~quote) | ((escape - ones) & ~escape)) & highs) break;
            at += 8;
        }
        if (at == size) break;
        const uint8_t c = data[at++];
        if (c == '"') {
            state->inside = false;
            break;
        }
        state->escaped = c == '\\';
    }
    return at;
}

namespace {

// A record's bytes as a line. Line breaks between tokens become spaces; in a string, where none may stand, they become
// another character that may not.
void copy_json_as_line(const uint8_t* data, size_t size, uint8_t* out) {
    if (size == 0) return;
    std::memcpy(out, data, size);
    uint8_t* at = static_cast<uint8_t*>(std::memchr(out, '\n', size));
    if (!at) return;
    ScanState state;
    for (size_t i = 0; i < size;) {
        if (state.inside) {
            const size_t end = pass_string(data, i, size, &state);
            for (; i < end; i++)
                if (out[i] == '\n') out[i] = 1;
            continue;
        }
        if (data[i] == '"') state.inside = true;
        if (data[i] == '\n') out[i] = ' ';
        i++;
    }
}

}  // namespace

void JsonLineWriter::add(size_t begin, size_t end, size_t record_end, bool continues) {
    uint8_t* const line = out_ + text_.size;
    marks_->push_back(TextMark{text_.size, begin, record_end, true, continues});
    copy_json_as_line(source_.data + begin, end - begin, line);
    line[end - begin] = '\n';
    text_.size += end - begin + 1;
}

void JsonLineWriter::add_fault(ErrorCode code, size_t begin, size_t record_end, bool continues, bool spoiled) {
    add(begin, record_end, record_end, continues);
    marks_->back().problem = code;
    if (!spoiled) return;
    out_[text_.size - 1] = ']';
    out_[text_.size++] = '\n';
}

void JsonLineWriter::add_nothing(size_t begin, size_t record_end) { add(begin, begin, record_end); }

RewrittenText JsonLineWriter::done(ErrorCode problem, size_t at) {
    text_.problem = problem;
    text_.problem_at = at;
    return text_;
}

}  // namespace formatter
