// A decoder whose records are first rewritten into what another decoder reads: text in other encodings into UTF-8, JSON
// documents of any layout into lines. In: source bytes. Out: the inner decoder's rows; positions are those of the
// source. Refuses to know fields and values.
#pragma once

#include <memory>
#include <vector>

#include "engine/records/record_decoder.hpp"

namespace formatter {

// From here on text came from there, up to the next mark.
struct TextMark {
    size_t text_at = 0;
    size_t source_at = 0;
    size_t source_end = SIZE_MAX;
    bool is_record = false;  // the text up to the next mark is one record, and source_end its end
    bool continues = false;  // of the same source record as the mark before: that ends with both
    ErrorCode problem = ErrorCode::none;  // what is wrong with it, whatever the text itself says
};

struct RewriteSource {
    const uint8_t* data;
    size_t size;
    bool stream_start;
    bool final;  // the input ends here
};

struct RewrittenText {
    size_t size = 0;
    // Wrong with the input's end, beside its last record.
    ErrorCode problem = ErrorCode::none;
    size_t problem_at = 0;
};

class Rewriter {
  public:
    virtual ~Rewriter() = default;
    virtual size_t most_text(size_t source_size) const = 0;
    virtual RewrittenText rewrite(const RewriteSource&, uint8_t* out, std::vector<TextMark>* marks) const = 0;
    // Source bytes of text that begins at a mark.
    virtual uint64_t source_size(const uint8_t* text, size_t size) const = 0;
    // Whether every record of the text has its end, the input's last one too.
    virtual bool ends_records() const = 0;
    virtual bool tells_errors() const { return true; }
};

class RewritingDecoder : public RecordDecoder {
  public:
    RewritingDecoder(std::shared_ptr<const Rewriter> rewriter, std::unique_ptr<RecordDecoder> inner);

    void place(const Place&) override;
    size_t index(const uint8_t* data, size_t size, uint64_t row_limit) override;
    size_t index_unterminated(const uint8_t* data, size_t size) override;
    void materialize() override;
    void expect(uint64_t bytes) override { inner_->expect(bytes); }
    bool fits(uint64_t bytes) const override { return inner_->fits(rewriter_->most_text(bytes)); }
    uint64_t rows() const override { return inner_->rows(); }
    uint64_t records_placed() const override { return records_; }
    uint64_t byte_count() const override { return inner_->byte_count(); }
    void export_batch(ArrowArray* out) override { inner_->export_batch(out); }

  private:
    uint8_t* room_for(size_t size);
    RewrittenText rewrite(const uint8_t* data, size_t size, bool final, uint8_t* text);
    const TextMark& read_to_record_end(const uint8_t* text, size_t size, size_t used);
    const TextMark& mark_of(size_t used) const;
    size_t source_of(const TextMark&, const uint8_t* text, size_t text_at) const;
    static void tell_problem(const TextMark&, Finding*);
    void take_findings();
    void reject(ErrorCode, const uint8_t* data, size_t size, size_t at);

    std::shared_ptr<const Rewriter> rewriter_;
    std::unique_ptr<RecordDecoder> inner_;
    struct Stretch {  // text that was rewritten in one go: the inner decoder's places
        PlacePosition source;
        const uint8_t* text;
        size_t first_mark;
    };

    Place place_;
    int64_t source_at_ = 0;  // of the next byte, past place_
    uint64_t records_ = 0;
    std::vector<std::unique_ptr<uint8_t[]>> texts_;
    size_t kept_bytes_ = 0;
    size_t spare_size_ = 0;  // of the last text, which is used again when nothing waits
    std::vector<Stretch> stretches_;  // since what was indexed was decoded last
    std::vector<TextMark> marks_;  // of all of them
    std::vector<RecordRun> inner_rows_;  // by stretch
};

}  // namespace formatter
