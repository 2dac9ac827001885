#include "engine/csv/encoded_csv.hpp"

#include <algorithm>
#include <cstring>

#include "engine/whole/range_reader.hpp"
#include "engine/records/rewriting_decoder.hpp"

namespace formatter {
namespace {

class EncodedText : public Rewriter {
  public:
    explicit EncodedText(TextEncoding encoding) : encoding_(encoding) {}
    size_t most_text(size_t source_size) const override { return most_utf8(source_size); }
    RewrittenText rewrite(const RewriteSource& source, uint8_t* out, std::vector<TextMark>* marks) const override {
        // A UTF-8 byte order mark in front of latin-1 is no text of either.
        const bool marked = encoding_ == TextEncoding::latin1 && source.stream_start && source.size >= 3 &&
                            std::memcmp(source.data, "\xEF\xBB\xBF", 3) == 0;
        const size_t begin = marked ? 3 : 0;
        marks->push_back(TextMark{source.text_at, out, source.offset + int64_t(begin)});
        RewrittenText result;
        result.size = to_utf8(encoding_, source.data + begin, source.size - begin, source.final, out).text_size;
        return result;
    }
    uint64_t source_size(const uint8_t* text, size_t size) const override {
        return formatter::source_size(encoding_, text, size);
    }
    bool ends_records() const override { return false; }

  private:
    TextEncoding encoding_;
};

// Follows records by their UTF-8 text. A character that a buffer's end cuts is carried into the next one.
class Utf16Records : public FrameScanner {
  public:
    Utf16Records(std::shared_ptr<const CsvFormat> csv, TextEncoding encoding)
        : csv_(std::move(csv)), encoding_(encoding), end_size_(from_utf8(encoding, csv_->record_end).size()) {}

    BufferScan scan(const uint8_t* data, size_t size, ScanState* state, bool first_only) const override {
        BufferScan scan;
        uint8_t source[slice + carried_most];
        uint8_t text[most_utf8(sizeof source)];
        for (size_t at = 0; at < size;) {
            const size_t carried = size_t(state->count);
            const size_t more = std::min(slice, size - at);
            std::memcpy(source, &state->carried, carried_most);
            std::memcpy(source + carried, data + at, more);
            const Transcoded done = to_utf8(encoding_, source, carried + more, false, text);
            state->count = carried + more - done.source_used;
            state->carried = 0;
            std::memcpy(&state->carried, source + done.source_used, size_t(state->count));
            const BufferScan found = scan_buffer(*csv_, text, done.text_size, state, first_only);
            const auto behind = [&](uint64_t end) {
                return at + size_t(source_size(encoding_, text, size_t(end))) - carried;
            };
            if (found.first_end != BufferScan::none) {
                if (scan.first_end == BufferScan::none) scan.first_end = behind(found.first_end);
                scan.last_end = behind(found.last_end);
                if (first_only) {
                    state->count = state->carried = 0;
                    return scan;
                }
            }
            at += more;
        }
        return scan;
    }
    size_t record_end_size() const override { return end_size_; }
    std::string text_of(const std::string& bytes) const override {
        std::string text(most_utf8(bytes.size()), '\0');
        const Transcoded done = to_utf8(encoding_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), true,
                                        reinterpret_cast<uint8_t*>(&text[0]));
        text.resize(done.text_size);
        return text;
    }

  private:
    static constexpr size_t slice = 2048;
    static constexpr size_t carried_most = 3;
    std::shared_ptr<const CsvFormat> csv_;
    TextEncoding encoding_;
    size_t end_size_;
};

Preamble read_encoded_preamble(const RecordFormat& utf8, TextEncoding encoding, const uint8_t* data, size_t size) {
    const bool marked = encoding == TextEncoding::latin1 && size >= 3 && std::memcmp(data, "\xEF\xBB\xBF", 3) == 0;
    const size_t begin = marked ? 3 : 0;
    for (size_t look = 4096;; look *= 8) {
        look = std::min(look, size - begin);
        std::string text(most_utf8(look), '\0');
        uint8_t* const out = reinterpret_cast<uint8_t*>(&text[0]);
        const size_t text_size = to_utf8(encoding, data + begin, look, false, out).text_size;
        Preamble preamble = utf8.read_preamble(out, text_size);
        if (preamble.complete) {
            preamble.size = begin + size_t(source_size(encoding, out, preamble.size));
            const auto mapped = preamble.format->framing.csv;
            preamble.format = std::make_shared<RecordFormat>(encoded_csv_format(mapped, encoding));
        }
        if (preamble.complete || look == size - begin) return preamble;
    }
}

}  // namespace

RecordFormat encoded_csv_format(std::shared_ptr<const CsvFormat> csv, TextEncoding encoding) {
    const RecordFormat utf8 = csv_record_format(csv);
    if (encoding == TextEncoding::utf8) return utf8;
    RecordFormat format = utf8;
    if (encoding == TextEncoding::latin1) {
        auto source = std::make_shared<CsvFormat>(*csv);
        source->delimiter = from_utf8(encoding, csv->delimiter);
        source->record_end = from_utf8(encoding, csv->record_end);
        format.framing = csv_record_format(source).framing;
    } else {
        format.framing.kind = FramingKind::scanned;
        format.framing.csv = csv;
        format.framing.scanner = std::make_shared<Utf16Records>(csv, encoding);
    }
    format.read_preamble = [utf8, encoding](const uint8_t* data, size_t size) {
        return read_encoded_preamble(utf8, encoding, data, size);
    };
    const auto rewriter = std::make_shared<EncodedText>(encoding);
    format.make_decoder = [csv, rewriter, utf8] {
        return std::unique_ptr<RecordDecoder>(new RewritingDecoder(rewriter, utf8.make_decoder()));
    };
    return format;
}

}  // namespace formatter
