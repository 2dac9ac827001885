#include "engine/writing/text_rows.hpp"

#include <algorithm>
#include <cstring>

#include "engine/records/rescued_text.hpp"
#include "engine/values/number_text.hpp"

namespace formatter {
namespace {

class TextColumn {
  public:
    TextColumn(const ArrowArray& array, const WrittenColumn& column)
        : column_(&column),
          validity_(static_cast<const uint8_t*>(array.buffers[0])),
          offsets_(array.buffers[1]),
          text_(static_cast<const uint8_t*>(array.buffers[2])),
          first_(uint64_t(array.offset)) {}

    WrittenAs as() const { return column_->as; }
    bool is_null(uint64_t row) const {
        const uint64_t at = first_ + row;
        return validity_ && !(validity_[at / 8] >> (at % 8) & 1);
    }
    Bytes text(uint64_t row) const {
        const uint64_t begin = offset(first_ + row);
        return {text_ + begin, size_t(offset(first_ + row + 1) - begin)};
    }

  private:
    uint64_t offset(uint64_t at) const {
        return column_->large ? uint64_t(static_cast<const int64_t*>(offsets_)[at])
                              : uint64_t(static_cast<const int32_t*>(offsets_)[at]);
    }

    const WrittenColumn* column_;
    const uint8_t* validity_;
    const void* offsets_;
    const uint8_t* text_;
    uint64_t first_;
};

std::vector<TextColumn> columns_of(const ArrowArray& batch, const std::vector<WrittenColumn>& columns) {
    std::vector<TextColumn> texts;
    for (size_t i = 0; i < columns.size(); i++) texts.emplace_back(*batch.children[i], columns[i]);
    return texts;
}

// Whether a byte of the eight is a quote, a backslash or a control character.
bool needs_escape(uint64_t word) {
    const uint64_t low = 0x0101010101010101u, high = 0x8080808080808080u;
    const auto has = [=](uint64_t byte) {
        const uint64_t other = word ^ byte * low;
        return (other - low) & ~other & high;
    };
    return (((word - 0x20 * low) & ~word & high) | has('"') | has('\\')) != 0;
}

bool needs_escape(uint8_t byte) { return byte < 0x20 || byte == '"' || byte == '\\'; }

class JsonLines {
  public:
    explicit JsonLines(LineBuffer* out) : out_(out) {}

    void append(const TextColumn& column, uint64_t row) {
        if (column.is_null(row)) return out_->append("null", 4);
        const Bytes text = column.text(row);
        if (column.as() == WrittenAs::number) return out_->append_number(text);
        if (column.as() == WrittenAs::bare) return out_->append(text.data, text.size);
        append_text(text);
    }

  private:
    // Copied as it is, as far as nothing has to be escaped; else anew.
    void append_text(Bytes text) {
        uint8_t* const begin = out_->room_for(text.size + 2);
        uint8_t* to = begin;
        *to++ = '"';
        size_t at = 0;
        bool plain = true;
        for (; at + 8 <= text.size && plain; at += 8, to += 8) {
            uint64_t word;
            std::memcpy(&word, text.data + at, 8);
            std::memcpy(to, &word, 8);
            plain = !needs_escape(word);
        }
        for (; at < text.size && plain; at++) {
            *to++ = text.data[at];
            plain = !needs_escape(text.data[at]);
        }
        if (plain) {
            *to++ = '"';
            return out_->written(size_t(to - begin));
        }
        escaped_.clear();
        append_json_string(text.data, text.size, &escaped_);
        out_->append(escaped_.data(), escaped_.size());
    }

    LineBuffer* out_;
    std::string escaped_;
};

class CsvLines {
  public:
    CsvLines(const CsvWriting& csv, LineBuffer* out) : csv_(csv), out_(out) {
        for (const uint8_t c : {csv.delimiter, csv.quote, uint8_t('\n'), uint8_t('\r')}) breaks_[c] = true;
    }

    void append(const TextColumn& column, uint64_t row) {
        if (column.is_null(row)) return out_->append(csv_.null.data(), csv_.null.size());
        const Bytes text = column.text(row);
        uint8_t* const begin = out_->room_for(2 * text.size + 2 + number_growth);
        uint8_t* end = begin;
        bool quoted = false;
        if (column.as() == WrittenAs::number) {
            end = write_json_number(text.data, text.size, begin);
        } else {
            for (size_t i = 0; i < text.size; i++) {
                quoted |= breaks_[text.data[i]];
                *end++ = text.data[i];
            }
        }
        const size_t size = size_t(end - begin);
        if (quoted || reads_as_null(begin, size)) return append_quoted({begin, size});
        out_->written(size);
    }

  private:
    bool reads_as_null(const uint8_t* text, size_t size) const {
        return std::any_of(csv_.nulls.begin(), csv_.nulls.end(), [=](const std::string& null) {
            return null.size() == size && std::memcmp(null.data(), text, size) == 0;
        });
    }

    void append_quoted(Bytes text) {
        quoted_.assign(1, char(csv_.quote));
        for (size_t i = 0; i < text.size; i++) {
            quoted_.push_back(char(text.data[i]));
            if (text.data[i] == csv_.quote) quoted_.push_back(char(csv_.quote));
        }
        quoted_.push_back(char(csv_.quote));
        out_->append(quoted_.data(), quoted_.size());
    }

    const CsvWriting& csv_;
    LineBuffer* out_;
    std::string quoted_;
    bool breaks_[256] = {};
};

}  // namespace

uint8_t* LineBuffer::room_for(size_t size) {
    if (bytes_.capacity() - used_ < size) bytes_.reserve(std::max(2 * bytes_.capacity(), used_ + size), used_);
    return bytes_.data() + used_;
}

void LineBuffer::append(const void* bytes, size_t size) {
    if (size == 0) return;
    std::memcpy(room_for(size), bytes, size);
    used_ += size;
}

void LineBuffer::append_number(Bytes text) {
    uint8_t* const begin = room_for(text.size + number_growth);
    used_ += size_t(write_json_number(text.data, text.size, begin) - begin);
}

void write_json_lines(const ArrowArray& batch, const std::vector<WrittenColumn>& columns, LineBuffer* out) {
    const std::vector<TextColumn> texts = columns_of(batch, columns);
    std::vector<std::string> keys;  // with what stands before them
    for (const WrittenColumn& column : columns) {
        keys.emplace_back(keys.empty() ? "{" : ",");
        append_json_string(reinterpret_cast<const uint8_t*>(column.name.data()), column.name.size(), &keys.back());
        keys.back() += ':';
    }
    JsonLines lines(out);
    for (uint64_t row = 0; row < uint64_t(batch.length); row++) {
        for (size_t i = 0; i < texts.size(); i++) {
            out->append(keys[i].data(), keys[i].size());
            lines.append(texts[i], row);
        }
        out->append(texts.empty() ? "{}\n" : "}\n", texts.empty() ? 3 : 2);
    }
}

void write_csv_lines(const ArrowArray& batch, const std::vector<WrittenColumn>& columns, const CsvWriting& csv,
                     LineBuffer* out) {
    const std::vector<TextColumn> texts = columns_of(batch, columns);
    CsvLines lines(csv, out);
    for (uint64_t row = 0; row < uint64_t(batch.length); row++) {
        for (size_t i = 0; i < texts.size(); i++) {
            if (i) out->append(&csv.delimiter, 1);
            lines.append(texts[i], row);
        }
        out->append("\n", 1);
    }
}

}  // namespace formatter
