#include "engine/records/needles.hpp"

#include <algorithm>
#include <cstring>

namespace formatter {
namespace {

bool is_digit_from(uint8_t least, uint8_t c) { return c >= least && c <= '9'; }

bool is_in(const Needle& needle, const uint8_t* data, size_t size) {
    const uint8_t* const end = data + size;
    for (const uint8_t* at = data;; at++) {
        at = static_cast<const uint8_t*>(memmem(at, size_t(end - at), needle.bytes.data(), needle.bytes.size()));
        if (!at) return false;
        const uint8_t* const behind = at + needle.bytes.size();
        if (!needle.number) return true;
        if (!(at > data && is_digit_from('1', at[-1])) && !(behind < end && is_digit_from('0', *behind))) return true;
    }
}

bool has_exponent(const uint8_t* data, size_t size) {
    for (size_t i = 1; i < size; i++)
        if ((data[i] | 0x20) == 'e' && is_digit_from('.', data[i - 1])) return true;
    return false;
}

bool is_in(const ClauseNeedles& clause, const uint8_t* data, size_t size) {
    return std::any_of(clause.any_of.begin(), clause.any_of.end(),
                       [=](const Needle& needle) { return is_in(needle, data, size); }) ||
           (clause.escapes && size && std::memchr(data, '\\', size)) || (clause.exponents && has_exponent(data, size));
}

bool is_whole_number(const ColumnType& type) {
    return type.layout == ValueLayout::fixed && type.json == JsonWriting::number &&
           (type.operands == Operands::integers || type.operands == Operands::naturals);
}

bool numbers_of(const Predicate& p, const NeedleSpelling& spelling, ClauseNeedles* out) {
    if (p.compare != Compare::equal && p.compare != Compare::in) return false;
    const auto add = [&](uint64_t digits) { out->any_of.push_back({std::to_string(digits), spelling.number_alone}); };
    for (const int64_t value : p.integers) add(value < 0 ? 0 - uint64_t(value) : uint64_t(value));
    for (const uint64_t value : p.naturals) add(value);
    out->exponents = spelling.exponents;
    return true;
}

bool texts_of(const Predicate& p, const ColumnSpec& spec, const NeedleSpelling& spelling, ClauseNeedles* out) {
    switch (p.compare) {
        case Compare::equal:
        case Compare::in:
        case Compare::starts_with:
        case Compare::ends_with:
        case Compare::contains: break;
        default: return false;
    }
    return std::all_of(p.texts.begin(), p.texts.end(),
                       [&](const std::string& text) { return spelling.text(spec, p.compare, text, out); });
}

bool needles_of(const Predicate& p, const ColumnSpec& spec, const NeedleSpelling& spelling, ClauseNeedles* out) {
    if (p.holds_null) return false;
    const bool plain = is_plain_text(spec) && !spec.check;
    const bool found =
        plain ? texts_of(p, spec, spelling, out) : is_whole_number(*spec.type) && numbers_of(p, spelling, out);
    return found && out->any_of.size() <= NeedleSet::most;
}

}  // namespace

std::shared_ptr<const RecordNeedles> RecordNeedles::of_filter(
    const RowFilter& filter, const NeedleSpelling& spelling, const CsvBytes& bytes, BlankLines blank,
    const std::function<const ColumnSpec*(uint32_t)>& column) {
    if (!filter.active()) return nullptr;
    auto found = std::make_shared<RecordNeedles>();
    found->bytes_ = bytes;
    found->blank_ = blank;
    size_t most = 0;
    for (const std::vector<Predicate>& conjunction : filter.any_of) {
        std::vector<ClauseNeedles> clauses;
        size_t most_here = 0;
        for (const Predicate& p : conjunction) {
            ClauseNeedles clause;
            const ColumnSpec* const spec = column(p.column);
            if (!spec || !needles_of(p, *spec, spelling, &clause)) continue;
            most_here = std::max(most_here, clause.any_of.size());
            clauses.push_back(std::move(clause));
        }
        if (clauses.empty()) return nullptr;
        most += most_here;
        found->one_is_enough_ &= clauses.size() == 1;
        found->any_of_.push_back(std::move(clauses));
    }
    if (most > NeedleSet::most) return nullptr;
    return found;
}

bool RecordNeedles::are_in(const uint8_t* data, size_t size) const {
    return std::any_of(any_of_.begin(), any_of_.end(), [=](const std::vector<ClauseNeedles>& clauses) {
        return std::all_of(clauses.begin(), clauses.end(),
                           [=](const ClauseNeedles& clause) { return is_in(clause, data, size); });
    });
}

bool RecordNeedles::is_blank(const uint8_t* data, size_t size) const {
    if (blank_ == BlankLines::records) return false;
    if (blank_ == BlankLines::empty) return size == 0 || (size == 1 && *data == '\r' && bytes_.record_end == '\n');
    return std::all_of(data, data + size, [](uint8_t c) { return c == ' ' || c == '\t' || c == '\r'; });
}

}  // namespace formatter
