// Items of arrays as lines, with what is wrong around the arrays as lines of their own. In: records as JsonArrays ends them.
// Out: text and marks. Refuses to know values.
#pragma once

#include "engine/documents/json_arrays.hpp"
#include "engine/documents/json_line_writer.hpp"

namespace formatter {

class JsonArrayLines : public Rewriter {
  public:
    JsonArrayLines(std::shared_ptr<const JsonArrays> arrays, const JsonFormat& json)
        : arrays_(std::move(arrays)), whole_records_(json.whole_records), tells_errors_(json.tells_errors()) {}
    size_t most_text(size_t source_size) const override { return 2 * source_size + 16; }
    RewrittenText rewrite(const RewriteSource&, uint8_t* out, std::vector<TextMark>* marks) const override;
    uint64_t source_size(const uint8_t*, size_t size) const override { return size; }
    bool ends_records() const override { return true; }
    bool tells_errors() const override { return tells_errors_; }

  private:
    size_t add_items(const RewriteSource&, size_t at, JsonLineWriter*) const;
    RewrittenText add_record(const RewriteSource&, size_t begin, size_t end, bool ends_input, JsonLineWriter*) const;

    std::shared_ptr<const JsonArrays> arrays_;
    bool whole_records_;
    bool tells_errors_;
};

}  // namespace formatter
