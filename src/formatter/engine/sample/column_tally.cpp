#include "engine/sample/column_tally.hpp"

#include <algorithm>
#include <cstring>

namespace formatter {
namespace {

constexpr size_t PATTERNS_MOST = 6;
constexpr size_t WORDS_MOST = 4;
constexpr size_t WORD_LENGTH_MOST = 40;
// A column with so many different texts, which are most of its values, is text: the others need no closer look, but for
// short ones, which may be null markers.
constexpr uint64_t TEXTS_THAT_DECIDE = 64;
constexpr uint32_t SHORT_TEXT_BYTES = 8;

void note_pattern(ColumnTally* column, Bytes content, uint64_t place) {
    DatePattern pattern;
    if (!find_date_pattern(content, &pattern)) return;
    size_t i = 0;
    while (i < column->patterns.size() && column->patterns[i].pattern.format != pattern.format) i++;
    if (i == column->patterns.size()) {
        if (i == PATTERNS_MOST) return void(column->other_patterns++);
        column->patterns.emplace_back();
        column->patterns[i].pattern = pattern;
        column->patterns[i].place = place;
    }
    PatternTally& tally = column->patterns[i];
    tally.values++;
    tally.month_first += pattern.first_can_be_month && !pattern.second_can_be_month;
    tally.day_first += pattern.second_can_be_month && !pattern.first_can_be_month;
}

void note_word(ColumnTally* column, Bytes content) {
    if (content.size <= WORD_LENGTH_MOST) {
        for (WordTally& word : column->words)
            if (word.word.size() == content.size && std::memcmp(word.word.data(), content.data, content.size) == 0)
                return void(word.values++);
        if (column->words.size() < WORDS_MOST) {
            column->words.push_back({std::string(reinterpret_cast<const char*>(content.data), content.size), 1});
            return;
        }
    }
    column->other_words++;
}

class ColumnsTally {
  public:
    ColumnsTally(const SampleReading& reading, const uint8_t* data, TableTally* out)
        : reading_(reading), data_(data), out_(out) {}

    void add(const SampleScan& scan) {
        const size_t count = std::min(scan.fields().size(), out_->columns.size());
        for (size_t i = 0; i < count; i++) add(&out_->columns[i], scan.fields()[i]);
    }

  private:
    void add(ColumnTally* column, const SampleField& field) {
        const uint64_t texts = column->kinds[unsigned(ValueKind::text)];
        if (column->other_words > TEXTS_THAT_DECIDE && 2 * texts > out_->records &&
            field.end - field.begin > SHORT_TEXT_BYTES && !(field.marks & SampleField::spaced)) {
            column->kinds[unsigned(ValueKind::text)]++;
            column->quoted += (field.marks & SampleField::quoted) != 0;
            return;
        }
        const bool quoted = (field.marks & SampleField::quoted) && !(field.marks & SampleField::stray);
        Bytes content{data_ + field.begin, field.end - field.begin};
        bool spaced = false;
        if (quoted || field.marks) {
            scratch_.clear();
            append_content(reading_, data_, field, &scratch_);
            spaced = field.marks & SampleField::spaced;
            content = {reinterpret_cast<const uint8_t*>(scratch_.data()), scratch_.size()};
        } else {
            while (content.size && (*content.data == ' ' || *content.data == '\t'))
                content.data++, content.size--, spaced = true;
            while (content.size && (content.data[content.size - 1] == ' ' || content.data[content.size - 1] == '\t'))
                content.size--, spaced = true;
        }
        const ValueLook look = look_at(content, quoted);
        const unsigned kind = unsigned(look.kind);
        if (!column->kinds[kind]++) {
            column->places[kind] = field.begin;
            column->records[kind] = out_->records;
        }
        column->spaced += spaced;
        column->quoted += quoted;
        column->fineness = std::max<uint64_t>(column->fineness, look.fineness);
        if (look.kind == ValueKind::boolean) column->spellings |= look.spelling;
        if (look.kind == ValueKind::null_marker) column->markers |= uint64_t(1) << look.spelling;
        if (look.kind == ValueKind::nan || look.kind == ValueKind::text) note_word(column, content);
        if (look.kind == ValueKind::integer) {
            const bool negative = *content.data == '-';
            column->negative += negative;
            column->digits = std::max<uint64_t>(column->digits, content.size - (negative || *content.data == '+'));
        }
        if (look.kind == ValueKind::dated) note_pattern(column, content, field.begin);
    }

    const SampleReading& reading_;
    const uint8_t* data_;
    TableTally* out_;
    std::string scratch_;
};

void note_width(TableTally* out, uint32_t width) {
    for (WidthTally& other : out->others)
        if (other.width == width) return void(other.records++);
    out->others.push_back({width, 1, out->records});
}

}  // namespace

void tally_columns(const SampleReading& reading, const uint8_t* data, size_t size, bool whole,
                   const TableExtent& extent, TableTally* out) {
    SampleScan scan(reading, data, size, whole, extent.begin);
    out->columns.resize(extent.width);
    out->used = out->tail_begin = extent.begin;
    ColumnsTally columns(reading, data, out);
    int64_t balance = 0, best = 0;  // even records less uneven ones, so far and where that was most
    uint64_t uneven = 0, uneven_before = 0;
    while (out->records < extent.records_most && scan.next()) {
        out->used = scan.after();
        if (scan.blank() && extent.width != 1) {
            out->blank++;
            continue;
        }
        if (scan.comment()) {
            out->comments++;
            continue;
        }
        if (!extent.header.empty() && scan.end() - scan.begin() == extent.header.size() &&
            std::memcmp(data + scan.begin(), extent.header.data(), extent.header.size()) == 0) {
            out->repeats++;
            continue;
        }
        const uint32_t width = uint32_t(scan.fields().size());
        const bool even = width == extent.width && !scan.damaged();
        columns.add(scan);
        if (scan.damaged() && !out->damaged++) out->first_damaged = scan.begin();
        if (even) {
            out->even++;
            balance++;
        } else {
            note_width(out, width);
            uneven++;
            balance--;
        }
        out->records++;
        if (balance >= best) {
            best = balance;
            uneven_before = uneven;
            out->tail_first = out->records;
            out->tail_begin = scan.after();
        }
    }
    out->head_uneven = uneven_before;
    out->tail_uneven = uneven - uneven_before;
    out->quotes = scan.quotes();
    std::sort(out->others.begin(), out->others.end(),
              [](const WidthTally& a, const WidthTally& b) { return a.records > b.records; });
}

}  // namespace formatter
