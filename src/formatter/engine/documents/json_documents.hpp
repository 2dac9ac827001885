// JSON documents that are no lines: one behind the other, or each behind its length. In: bytes. Out: where documents end, and the
// same documents as lines. Refuses to know values.
//
// A record is a document with what ends it. One behind the other: a document through its last bracket or quote; bare words
// through the white space or comma behind them. Whether such a record is right can be told from its own bytes.
#pragma once

#include "engine/json_text/json_format.hpp"
#include "engine/documents/json_line_writer.hpp"
#include "engine/records/record_scanner.hpp"

namespace formatter {

class JsonDocuments : public RecordScanner {
  public:
    RecordEnds scan(const uint8_t* data, size_t size, ScanState*, bool first_only) const override;
};

class JsonAsLines : public Rewriter {
  public:
    explicit JsonAsLines(const JsonFormat& json)
        : layout_(json.layout), length_(json.length), tells_errors_(json.tells_errors()) {}
    size_t most_text(size_t source_size) const override { return 2 * source_size + 2; }
    RewrittenText rewrite(const RewriteSource&, uint8_t* out, std::vector<TextMark>* marks) const override;
    uint64_t source_size(const uint8_t*, size_t size) const override { return size; }
    bool ends_records() const override { return true; }
    bool tells_errors() const override { return tells_errors_; }

  private:
    RewrittenText rewrite_prefixed(const RewriteSource&, JsonLineWriter*) const;
    JsonLayout layout_;
    LengthPrefix length_;
    JsonDocuments documents_;
    bool tells_errors_;
};

}  // namespace formatter
