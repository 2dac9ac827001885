// JSON documents of any layout written as lines. In: where documents stand in a source. Out: a line each, and marks that say
// where it came from. Refuses to know layouts and values.
#pragma once

#include "engine/json_text/json_text.hpp"
#include "engine/records/record_scanner.hpp"
#include "engine/records/rewriting_decoder.hpp"

namespace formatter {

inline size_t skip_space(const uint8_t* data, size_t at, size_t size) {
    return size_t(skip_json_space(data + at, data + size) - data);
}

// Behind the quote that closes the string, or `size`; the state says which.
size_t pass_string(const uint8_t* data, size_t at, size_t size, ScanState* state);

class JsonLineWriter {
  public:
    JsonLineWriter(const RewriteSource& source, uint8_t* out, std::vector<TextMark>* marks)
        : source_(source), out_(out), marks_(marks) {}

    // The document in [begin, end) of the source; its record goes on to `record_end`. One that continues belongs to the record of
    // the line before.
    void add(size_t begin, size_t end, size_t record_end, bool continues = false);
    // What is wrong from `begin` on, whatever it would be as a line. `spoiled`: as a line it might be a record.
    void add_fault(ErrorCode, size_t begin, size_t record_end, bool continues, bool spoiled);
    // A blank line, for a record of which there is nothing to read.
    void add_nothing(size_t begin, size_t record_end);
    RewrittenText done(ErrorCode problem = ErrorCode::none, size_t at = 0);

  private:
    const RewriteSource& source_;
    uint8_t* out_;
    std::vector<TextMark>* marks_;
    RewrittenText text_;
};

}  // namespace formatter
