// JSON documents that are no lines: the items of one top-level array, documents one behind the other, or each behind its
// length. In: bytes. Out: where documents end, and the same documents as lines. Refuses to know values.
//
// A record is a document with what ends it. In an array: an item with the comma behind it; the last item, the bracket that
// closes the array and what follows are no record but the input's unterminated end, so that an array that is not closed is
// seen at every cut. One behind the other: a document through its last bracket or quote; bare words through the white
// space or comma behind them. Whether such a record is right can be told from its own bytes.
#pragma once

#include <memory>

#include "engine/json/json_format.hpp"
#include "engine/records/record_scanner.hpp"
#include "engine/records/rewriting_decoder.hpp"

namespace formatter {

class JsonDocuments : public RecordScanner {
  public:
    explicit JsonDocuments(JsonLayout layout) : layout_(layout) {}  // array or concatenated
    // In the state: `in_comment` until the array has opened, `matched` 1 once it has closed, `count` open brackets.
    RecordEnds scan(const uint8_t* data, size_t size, ScanState*, bool first_only) const override;
    bool checks_end() const override { return layout_ == JsonLayout::array; }
    bool has_begun(const ScanState& state) const override { return state.mark == mark_bytes && !state.in_comment; }

  private:
    RecordEnds scan_array(const uint8_t* data, size_t size, ScanState*, bool first_only) const;
    RecordEnds scan_documents(const uint8_t* data, size_t size, ScanState*, bool first_only) const;
    JsonLayout layout_;
};

class JsonAsLines : public Rewriter {
  public:
    explicit JsonAsLines(const JsonFormat& json)
        : layout_(json.layout), length_(json.length), documents_(json.layout), tells_errors_(json.tells_errors()) {}
    size_t most_text(size_t source_size) const override { return 2 * source_size + 2; }
    RewrittenText rewrite(const RewriteSource&, uint8_t* out, std::vector<TextMark>* marks) const override;
    uint64_t source_size(const uint8_t*, size_t size) const override { return size; }
    bool ends_records() const override { return true; }
    bool tells_errors() const override { return tells_errors_; }

  private:
    class Lines;
    RewrittenText rewrite_prefixed(const RewriteSource&, Lines*) const;
    RewrittenText rewrite_end(const RewriteSource&, size_t at, Lines*) const;
    JsonLayout layout_;
    LengthPrefix length_;
    JsonDocuments documents_;
    bool tells_errors_;
};

}  // namespace formatter
