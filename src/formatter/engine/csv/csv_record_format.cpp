#include "engine/csv/csv_record_format.hpp"

#include "engine/csv/csv_decoder.hpp"
#include "engine/csv/csv_header.hpp"
#include "engine/csv/csv_needles.hpp"
#include "engine/csv/csv_scanner.hpp"
#include "engine/records/byte_order_mark.hpp"
#include "engine/records/needle_decoder.hpp"
#include "engine/records/rewriting_decoder.hpp"

namespace formatter {
namespace {

class EncodedText : public Rewriter {
  public:
    explicit EncodedText(TextEncoding encoding) : encoding_(encoding) {}
    size_t most_text(size_t source_size) const override { return most_utf8(source_size); }
    RewrittenText rewrite(const RewriteSource& source, uint8_t* out, std::vector<TextMark>* marks) const override {
        // A UTF-8 byte order mark in front of one-byte text is no text of either.
        const bool may_be_marked = is_one_byte(encoding_) && source.stream_start;
        const size_t begin = may_be_marked ? mark_size(source.data, source.size) : 0;
        marks->push_back(TextMark{0, begin});
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

std::shared_ptr<const RecordScanner> scanner_of(std::shared_ptr<const CsvFormat> csv, TextEncoding encoding) {
    if (encoding == TextEncoding::utf16_le || encoding == TextEncoding::utf16_be)
        return std::make_shared<Utf16CsvScanner>(std::move(csv), encoding);
    return std::make_shared<CsvScanner>(std::move(csv));
}

}  // namespace

std::shared_ptr<const CsvFormat> in_source(std::shared_ptr<const CsvFormat> csv, TextEncoding encoding) {
    if (!is_one_byte(encoding)) return csv;
    auto source = std::make_shared<CsvFormat>(*csv);
    source->delimiter = from_utf8(encoding, csv->delimiter);
    source->record_end = from_utf8(encoding, csv->record_end);
    return source;
}

RecordFormat csv_record_format(std::shared_ptr<const CsvFormat> csv, TextEncoding encoding) {
    const auto source = in_source(csv, encoding);
    const bool utf16 = encoding == TextEncoding::utf16_le || encoding == TextEncoding::utf16_be;
    RecordFormat format;
    RecordEnding& ending = format.ending;
    ending.kind = utf16                     ? EndingKind::scanned
                  : source->ends_anywhere() ? EndingKind::stateless
                  : !source->plain()        ? EndingKind::scanned
                  : source->picky()         ? EndingKind::courses
                                            : EndingKind::parity;
    ending.bytes = source->bytes();
    ending.record_end_size = from_utf8(encoding, csv->record_end).size();
    ending.kernel = csv->kernel;
    ending.scanner = scanner_of(utf16 ? csv : source, encoding);
    format.readable = !csv->unreadable;
    if (csv->has_preamble()) {
        auto lines = std::make_shared<CsvFormat>(utf16 ? *csv : *source);
        lines->quoting = lines->escaping = lines->commenting = false;
        format.header =
            std::make_shared<CsvHeader>(csv, source, ending.scanner, scanner_of(std::move(lines), encoding), encoding);
    }
    if (const auto needles = encoding == TextEncoding::utf8 ? csv_needles(*csv) : nullptr) {
        format.make_decoder = [csv, needles] {
            return std::unique_ptr<RecordDecoder>(new NeedleDecoder<CsvDecoder>(csv, needles));
        };
        return format;
    }
    if (encoding == TextEncoding::utf8) {
        format.make_decoder = [csv] { return std::unique_ptr<RecordDecoder>(new CsvDecoder(csv)); };
        return format;
    }
    const auto rewriter = std::make_shared<EncodedText>(encoding);
    format.make_decoder = [csv, rewriter] {
        std::unique_ptr<RecordDecoder> inner(new CsvDecoder(csv));
        return std::unique_ptr<RecordDecoder>(new RewritingDecoder(rewriter, std::move(inner)));
    };
    return format;
}

}  // namespace formatter
