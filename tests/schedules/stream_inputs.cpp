// In, out, refuses to know: see the header.
#include "stream_inputs.hpp"

#include <memory>

#include "engine/csv/csv_scanner.hpp"
#include "line_decoder.hpp"

using namespace formatter;

namespace formatter {
extern const Kernel kernel_scalar;
}

namespace scheduled_tests {
namespace {

enum Kind : unsigned { stateless, parity, courses, scanned, bounded, kinds };
constexpr const char* kind_names[] = {"stateless", "parity", "courses", "scanned", "bounded"};

// The first line names nothing; it has to have come all the same.
class LineHeader final : public HeaderReader {
  public:
    explicit LineHeader(std::shared_ptr<const RecordFormat> behind) : behind_(std::move(behind)) {}
    uint64_t find_end(const uint8_t* data, size_t size, uint64_t, PreambleScan* scan) const override {
        for (size_t at = 0; at < size; at++) {
            scan->line.push_back(char(data[at]));
            if (data[at] == '\n') return scan->header = scan->line, at + 1;
        }
        return RecordEnds::none;
    }
    bool end(PreambleScan* scan) const override { return !(scan->header = scan->line).empty(); }
    Preamble read(const uint8_t*, size_t size, Extent) const override {
        Preamble preamble;
        preamble.complete = true;
        preamble.size = size;
        preamble.format = behind_;
        return preamble;
    }

  private:
    std::shared_ptr<const RecordFormat> behind_;
};

EndingKind ending_of(unsigned kind) {
    switch (kind) {
        case stateless: return EndingKind::stateless;
        case parity: return EndingKind::parity;
        case courses: return EndingKind::courses;
        default: return EndingKind::scanned;
    }
}

}  // namespace

StreamInput::StreamInput(Chance& chance) {
    const unsigned kind = chance.below(kinds);
    quotes_ = kind != stateless;
    header_ = kind != bounded && chance.one_in(4);
    auto csv = std::make_shared<CsvFormat>();
    csv->quoting = quotes_;
    if (kind == bounded) csv->max_quoted_lines = 4;
    RecordEnding& ending = options.format.ending;
    ending.kind = ending_of(kind);
    ending.kernel = &kernel_scalar;
    ending.bytes.quoting = quotes_;
    if (kind == courses) ending.bytes.rule = csv->quote_rule = QuoteRule::lenient;
    ending.scanner = std::make_shared<CsvScanner>(std::move(csv));
    options.format = format_of_plan(1);
    options.ordered = chance.one_in(2);
    options.ignore_duplicates = chance.one_in(2);
    options.max_record_bytes = 1 << 20;
    options.max_pending_bytes = chance.one_in(4) ? chance.below(20) : 1 << 30;
    options.max_rows = 1 + chance.below(4);
    options.max_latency_ns = chance.one_in(4) ? 500 : -1;
    name = std::string(kind_names[kind]) + (options.ordered ? ", ordered" : "") + (header_ ? ", header" : "");
    const bool loses = !quotes_ && !header_ && chance.one_in(3);
    for (uint64_t count = 1 + chance.below(3); origins.size() < count;) {
        const uint64_t first_value = 100 * (origins.size() + 1);
        cut(text(chance, first_value), chance);
        if (loses) origins.back()[chance.below(unsigned(origins.back().size()))].lost = true;
    }
}

RecordFormat StreamInput::format_of_plan(uint64_t plan) const {
    RecordFormat format = options.format;
    const bool quotes = quotes_, header = header_;
    format.make_decoder = [plan, quotes, header] {
        return std::unique_ptr<RecordDecoder>(new LineDecoder(plan, quotes, header));
    };
    format.header = nullptr;
    if (header) format.header = std::make_shared<LineHeader>(std::make_shared<const RecordFormat>(format));
    return format;
}

std::string StreamInput::text(Chance& chance, uint64_t first_value) const {
    std::string text = header_ ? "h\n" : "";
    for (uint64_t value = first_value, end = value + chance.below(7); value < end; value++) {
        const bool quoted = quotes_ && chance.one_in(2);
        if (quoted) text += chance.one_in(2) ? "\"\n" : "\"";
        text += std::to_string(value);
        if (quoted) text += chance.one_in(2) ? "\n\"" : "\"";
        if (value + 1 < end || chance.one_in(2)) text += '\n';
    }
    return text;
}

void StreamInput::cut(const std::string& text, Chance& chance) {
    std::vector<InputPiece> pieces;
    const unsigned most = 2 + chance.below(12);
    for (size_t at = 0; at < text.size() || pieces.empty();) {
        const size_t size = std::min<size_t>(chance.below(most), text.size() - at);
        pieces.push_back({origins.size(), pieces.size() + 1, text.substr(at, size)});
        at += size;
    }
    origins.push_back(std::move(pieces));
}

// A record that goes over a lost buffer is none.
std::vector<ExpectedRow> StreamInput::expected(size_t origin) const {
    std::vector<ExpectedRow> rows;
    std::string digits;
    bool inside = false, lost = false, any = false, at_header = header_;
    size_t first = 0;
    const std::vector<InputPiece>& pieces = origins[origin];
    const auto end = [&](size_t piece) {
        if (any && !lost && !at_header) rows.push_back({std::stoull("0" + digits), first, piece});
        at_header = lost = any = false;
        digits.clear();
    };
    for (size_t i = 0; i < pieces.size(); i++) {
        lost |= pieces[i].lost;
        for (const char c : pieces[i].lost ? std::string() : pieces[i].bytes) {
            if (!any) first = i;
            any = true;
            inside ^= quotes_ && c == '"';
            if (c >= '0' && c <= '9') digits += c;
            if (c == '\n' && !inside) end(i);
        }
    }
    end(pieces.size() - 1);
    return rows;
}

}  // namespace scheduled_tests
