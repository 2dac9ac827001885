// JSON documents that are no lines: the items of one top-level array, or documents one behind the other. In: bytes.
// Out: where documents end, and the same documents as lines. Knows brackets and strings, no values.
//
// A frame is what ends one document. In an array: an item with the comma behind it; the last item, the bracket that
// closes the array and what follows are no frame but the input's unterminated end, so that an array that is not closed is
// seen at every cut. One behind the other: a document through its last bracket or quote; bare words through the white
// space or comma behind them. Whether a frame is right can be told from its own bytes.
#pragma once

#include <memory>

#include "engine/records/frame_scanner.hpp"
#include "engine/json/json_format.hpp"
#include "engine/records/rewriting_decoder.hpp"

namespace formatter {

// A record's bytes as a line. Line breaks between tokens become spaces; in a string, where none may stand, they become
// another character that may not.
void copy_json_as_line(const uint8_t* data, size_t size, uint8_t* out);

class JsonFrames : public FrameScanner {
  public:
    explicit JsonFrames(JsonLayout layout) : layout_(layout) {}
    // In the state: `in_comment` until the array has opened, `matched` 1 once it has closed, `count` open brackets.
    BufferScan scan(const uint8_t* data, size_t size, ScanState*, bool first_only) const override;
    size_t record_end_size() const override { return layout_ == JsonLayout::array ? 1 : 0; }
    bool checks_end() const override { return layout_ == JsonLayout::array; }
    bool has_begun(const ScanState& state) const override { return state.mark == 3 && !state.in_comment; }

  private:
    BufferScan scan_array(const uint8_t* data, size_t size, ScanState*, bool first_only) const;
    BufferScan scan_documents(const uint8_t* data, size_t size, ScanState*, bool first_only) const;
    JsonLayout layout_;
};

class JsonLines : public Rewriter {
  public:
    JsonLines(JsonLayout layout, bool tells_errors) : layout_(layout), frames_(layout), tells_errors_(tells_errors) {}
    size_t most_text(size_t source_size) const override { return 2 * source_size + 2; }
    RewrittenText rewrite(const RewriteSource&, uint8_t* out, std::vector<TextMark>* marks) const override;
    uint64_t source_size(const uint8_t*, size_t size) const override { return size; }
    bool ends_records() const override { return true; }
    bool tells_errors() const override { return tells_errors_; }

  private:
    RewrittenText rewrite_end(const RewriteSource&, size_t at, uint8_t* out, size_t written,
                              std::vector<TextMark>* marks) const;
    JsonLayout layout_;
    JsonFrames frames_;
    bool tells_errors_;
};

}  // namespace formatter
