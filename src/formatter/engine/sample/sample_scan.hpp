// Records and fields of a sample under one way of reading it. In: the start of an input, a reading. Out: where fields lie,
// and what speaks for or against the reading. Dirty text is scanned, not refused. Knows no types, no columns, no buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/kernel.hpp"

namespace formatter {

struct SampleReading {
    std::string delimiter = ",";
    std::string record_end = "\n";  // "\n" takes "\r\n", too
    int quote = -1;  // -1: none
    int escape = -1;
    int comment = -1;
    QuoteRule rule =
        QuoteRule::lenient;  // never strict: what stands behind a closing quote is text, or keeps the field open
    bool newlines_in_quotes = true;
};

struct SampleField {
    enum : uint8_t {
        quoted = 1,  // opens with the quote and closes before the delimiter
        doubled = 2,  // the quote stands inside, doubled or escaped
        stray = 4,  // a quote stands where none belongs
        spaced = 8,  // blanks around the quotes
    };
    uint32_t begin, end;  // with its quotes
    uint8_t marks;
};

struct QuoteEvidence {
    static constexpr uint64_t nowhere = ~uint64_t(0);
    uint64_t quoted = 0;  // fields with quotes around them and none astray
    uint64_t doubled = 0;  // of these, fields with a quote inside
    uint64_t multiline = 0;  // of these, fields over more than one line
    uint64_t spaced = 0;  // of these, fields with blanks outside the quotes
    uint64_t escaped = 0;  // escapes before a quote, a delimiter, a record end or another escape
    uint64_t reopened = 0;  // fields with text behind a closing quote
    uint64_t swallowed = 0;  // fields with a quote astray that go on over more than one line
    uint64_t inside_text = 0;  // fields of bare text with a quote in it
    uint64_t unclosed = 0;  // records whose quote is open at the end of the sample, or of its line
    uint64_t first_stray = nowhere;  // byte of the first quote astray
};

class SampleScan {
  public:
    // `whole`: the bytes are all there is, so that the last record ends with them. At most 4 GiB.
    SampleScan(const SampleReading& reading, const uint8_t* data, size_t size, bool whole, size_t at = 0);

    // The next record, blank lines and comments among them. False: no complete one is left.
    bool next();

    const std::vector<SampleField>& fields() const { return fields_; }
    size_t begin() const { return begin_; }
    size_t end() const { return end_; }  // of its text
    size_t after() const { return at_; }  // where the next record begins
    bool blank() const { return blank_; }
    bool comment() const { return comment_; }
    bool damaged() const { return damaged_; }  // a quote that opens here never closes: the record is its first line
    const QuoteEvidence& quotes() const { return quotes_; }

  private:
    bool ends_record(size_t at, size_t* behind) const;
    size_t line_end(size_t at, size_t* behind) const;
    size_t without_return(size_t begin, size_t end) const;
    size_t bare_field(size_t at, uint8_t* marks);
    bool quoted_field(size_t open, size_t* at, uint8_t* marks);
    bool finish(size_t end, size_t behind);
    bool give_up_quote();

    const SampleReading& reading_;
    const uint8_t* data_;
    size_t size_;
    bool whole_;
    size_t at_;
    size_t begin_ = 0, end_ = 0;
    bool blank_ = false, comment_ = false, damaged_ = false;
    std::vector<SampleField> fields_;
    QuoteEvidence quotes_;
    bool special_[256] = {};  // ends or alters bare text
    uint8_t delimiter_, record_end_;
    size_t unclosed_from_ = ~size_t(0);  // quotes opened from here on find no end either
    unsigned unclosed_scans_ = 0;
};

// Appends the content of a field: without quotes and blanks around, doubled and escaped bytes as they are meant.
void append_content(const SampleReading&, const uint8_t* data, const SampleField&, std::string* out);

}  // namespace formatter
