#include "engine/binary/native_record_format.hpp"

#include <cstring>

#include "engine/json/json_frames.hpp"
#include "engine/binary/length_frames.hpp"
#include "engine/binary/native_decoder.hpp"

namespace formatter {
namespace {

// Frames as lines. A record's line breaks become spaces: what stands in a frame is one record.
class FramedLines : public Rewriter {
  public:
    FramedLines(FrameLength length, bool tells_errors) : length_(length), tells_errors_(tells_errors) {}
    size_t most_text(size_t source_size) const override { return 2 * source_size + 2; }
    RewrittenText rewrite(const RewriteSource& source, uint8_t* out, std::vector<TextMark>* marks) const override {
        RewrittenText result;
        size_t at = 0;
        while (at < source.size) {
            const Frame frame = frame_at(length_, source.data + at, source.size - at);
            if (!frame.complete) break;
            const size_t begin = at + frame.prefix, end = begin + size_t(frame.size);
            marks->push_back(TextMark{source.text_at + int64_t(result.size), out + result.size,
                                      source.offset + int64_t(begin), source.offset + int64_t(end), true});
            copy_json_as_line(source.data + begin, size_t(frame.size), out + result.size);
            result.size += size_t(frame.size);
            out[result.size++] = '\n';
            at = end;
        }
        if (source.final && at < source.size) {
            result.problem = ErrorCode::unterminated_record;
            result.problem_at = at;
        }
        return result;
    }
    uint64_t source_size(const uint8_t*, size_t size) const override { return size; }
    bool ends_records() const override { return true; }
    bool tells_errors() const override { return tells_errors_; }

  private:
    FrameLength length_;
    bool tells_errors_;
};

}  // namespace

RecordFormat native_record_format(std::shared_ptr<const NativeFormat> native) {
    RecordFormat format;
    format.framing.kind = FramingKind::scanned;
    format.framing.kernel = native->kernel;
    if (native->length.width)
        format.framing.scanner = std::make_shared<LengthFrames>(native->length);
    else
        format.framing.scanner = std::make_shared<FixedRows>(native->row_width);
    format.make_decoder = [native] { return std::unique_ptr<RecordDecoder>(new NativeDecoder(native)); };
    return format;
}

RecordFormat framed_record_format(const RecordFormat& inner, FrameLength length, bool tells_errors) {
    RecordFormat format;
    format.framing.kind = FramingKind::scanned;
    format.framing.kernel = inner.framing.kernel;
    format.framing.scanner = std::make_shared<LengthFrames>(length);
    const auto lines = std::make_shared<FramedLines>(length, tells_errors);
    format.make_decoder = [inner, lines] {
        return std::unique_ptr<RecordDecoder>(new RewritingDecoder(lines, inner.make_decoder()));
    };
    return format;
}

}  // namespace formatter
