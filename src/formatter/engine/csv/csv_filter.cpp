// Which rows of a block the filter keeps. In: a block of stops. Out: the block without the rows the filter says no to.
// Refuses to know why a value is bad.
//
// A value that cannot be read says neither yes nor no. So a row is dropped if some predicate of the conjunction says no,
// whichever is asked first, and a bad value is an error of the rows that stay: the order may follow what was learned.
// Errors met here are forgotten, because the columns of the rows that stay are decoded again.
#include <algorithm>
#include <cstring>

#include "engine/csv/csv_decoder.hpp"

namespace formatter {
namespace {

constexpr double rows_remembered = 1 << 16;  // after so many, what was learned counts half
constexpr double kept_worth_a_copy = 0.75;  // of the rows: with more, later columns are read for the dropped ones, too

uint64_t load_eight(const uint8_t* at) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    return word;
}

// Whether some byte is `quote` or beyond ASCII; may say yes too often.
bool needs_a_closer_look(const uint8_t* text, size_t size, uint64_t quotes) {
    const uint64_t high = 0x8080808080808080, low = 0x0101010101010101;
    const auto suspicious = [=](uint64_t word) {
        const uint64_t other = word ^ quotes;
        return ((other - low) & ~other & high) | (word & high);
    };
    if (size < 8) {
        uint64_t word = 0;
        if (size >= 4) {
            uint32_t first, last;
            std::memcpy(&first, text, 4);
            std::memcpy(&last, text + size - 4, 4);
            word = first | uint64_t(last) << 32;
        } else if (size) {
            word = text[0] | uint64_t(text[size / 2]) << 8 | uint64_t(text[size - 1]) << 16;
        }
        // Bytes that are not there are zero, which is no quote: quotes are printable.
        return suspicious(word) != 0;
    }
    uint64_t found = suspicious(load_eight(text + size - 8));
    for (size_t at = 0; at + 8 <= size; at += 8) found |= suspicious(load_eight(text + at));
    return found != 0;
}

}  // namespace

void CsvDecoder::order_filter() {
    if (format_->filter.any_of.size() != 1) return;
    for (const Predicate& p : format_->filter.any_of[0]) {
        auto step =
            std::find_if(steps_.begin(), steps_.end(), [&p](const FilterStep& s) { return s.column == p.column; });
        if (step == steps_.end()) {
            const ColumnSpec& spec = format_->columns[p.column];
            FilterStep fresh;
            fresh.column = p.column;
            fresh.by_bytes = is_plain_text(spec);
            fresh.cost = fresh.by_bytes ? 2 : spec.type->cost;
            steps_.push_back(std::move(fresh));
            step = steps_.end() - 1;
        }
        step->predicates.push_back(&p);
    }
}

// Out: whether rows are left. Their columns are decoded as far as is_decoded_ says.
bool CsvDecoder::filter_rows() {
    const uint32_t before = block_.rows();
    uint32_t rows = before;
    const size_t words = (rows + 63) / 64 + 1;
    kept_.assign(words, ~uint64_t(0));
    if (steps_.empty()) {
        filter_by_alternatives(rows);
        if (!drop_unkept(rows)) rows = 0;
    }
    for (FilterStep& step : steps_) {
        filter_by_step(step, rows);
        if (double(count_bits(kept_.data(), rows)) > kept_worth_a_copy * rows && &step != &steps_.back()) continue;
        if (!drop_unkept(rows)) {
            rows = 0;
            break;
        }
        rows = block_.rows();
    }
    if (rows) rows = block_.rows();
    forget_findings(findings_before_);
    counters.filtered += before - rows;
    // Cheap ones that drop much go first. Nothing known counts as dropping half.
    const auto worth = [](const FilterStep& s) { return (s.dropped + 1) / (s.rows + 2) / s.cost; };
    std::stable_sort(steps_.begin(), steps_.end(),
                     [&worth](const FilterStep& a, const FilterStep& b) { return worth(a) > worth(b); });
    return rows != 0;
}

// Takes the rows out that kept_ lacks; false if none is left. kept_ is all ones afterwards.
bool CsvDecoder::drop_unkept(uint32_t rows) {
    const uint64_t kept = count_bits(kept_.data(), rows);
    if (kept == 0) return false;
    if (kept < rows) {
        forget_attempt();
        block_.compact(kept_.data());
        begin_attempt();
    }
    std::fill(kept_.begin(), kept_.end(), ~uint64_t(0));
    return true;
}

// Decodes a column whose errors do not count yet. `undecided`: its rows that could not be read, empty if there are none.
void CsvDecoder::decode_to_test(size_t column, std::vector<uint64_t>* undecided) {
    undecided->clear();
    if (is_decoded_[column]) return;
    const size_t findings_so_far = findings.size(), misfits_so_far = misfits_.size();
    decode_column(column);
    if (!any_rejected_ && nulled_ == 0 && findings.size() == findings_so_far && misfits_.size() == misfits_so_far)
        return;
    // To be done again with the rows that stay, for the errors it makes.
    is_decoded_[column] = false;
    if (any_rejected_) {
        *undecided = rejected_;
        std::fill(rejected_.begin(), rejected_.end(), 0);
        any_rejected_ = false;
    }
    nulled_ = 0;
    misfits_.resize(misfits_so_far);
    forget_findings(findings_so_far);
}

void CsvDecoder::filter_by_step(FilterStep& step, uint32_t rows) {
    const auto kept_before = double(count_bits(kept_.data(), rows));
    passes_.assign(kept_.size(), ~uint64_t(0));
    if (step.by_bytes) {
        test_bytes(step.column, step.predicates);
    } else {
        std::vector<uint64_t> undecided;
        decode_to_test(step.column, &undecided);
        for (const Predicate* p : step.predicates)
            evaluate_predicate(*p, columns_, columns_.rows(), rows, passes_.data());
        if (!undecided.empty())
            for (uint32_t w = 0; w * 64 < rows; w++) passes_[w] |= undecided[w];
        if (!is_decoded_[step.column]) columns_.forget_rows(step.column);
    }
    for (uint32_t w = 0; w * 64 < rows; w++) kept_[w] &= passes_[w];
    if (step.rows > rows_remembered) {
        step.rows /= 2;
        step.dropped /= 2;
    }
    step.rows += kept_before;
    step.dropped += kept_before - double(count_bits(kept_.data(), rows));
}

// Alternatives share columns and no order is right for all of them: each column is decoded once, for all rows.
void CsvDecoder::filter_by_alternatives(uint32_t rows) {
    const uint32_t words = (rows + 63) / 64;
    std::vector<std::vector<uint64_t>> undecided(columns_.size());
    std::vector<bool> met(columns_.size(), false);
    std::vector<uint64_t> any(words, 0), all(words);
    for (const auto& conjunction : format_->filter.any_of) {
        std::fill(all.begin(), all.end(), ~uint64_t(0));
        for (const Predicate& p : conjunction) {
            passes_.assign(kept_.size(), ~uint64_t(0));
            if (is_plain_text(format_->columns[p.column])) {
                test_bytes(p.column, {&p});
            } else {
                if (!met[p.column]) decode_to_test(p.column, &undecided[p.column]);
                met[p.column] = true;
                evaluate_predicate(p, columns_, columns_.rows(), rows, passes_.data());
                if (!undecided[p.column].empty())
                    for (uint32_t w = 0; w < words; w++) passes_[w] |= undecided[p.column][w];
            }
            for (uint32_t w = 0; w < words; w++) all[w] &= passes_[w];
        }
        for (uint32_t w = 0; w < words; w++) any[w] |= all[w];
    }
    for (uint32_t w = 0; w < words; w++) kept_[w] &= any[w];
    for (size_t i = 0; i < columns_.size(); i++)
        if (met[i] && !is_decoded_[i]) columns_.forget_rows(i);
}

// Text compared where it stands. Fields that hold quotes or more than ASCII are looked at with care, one by one.
// Rows that kept_ lacks are not asked.
void CsvDecoder::test_bytes(uint32_t column, const std::vector<const Predicate*>& predicates) {
    const ColumnSpec& spec = columns_.specs()[column];
    const uint64_t quotes = format_->quoting ? format_->quote * 0x0101010101010101u : ~uint64_t(0);
    const auto passes = [&predicates](std::string_view value) {
        for (const Predicate* p : predicates)
            if (!text_passes(*p, value)) return false;
        return true;
    };
    bool null_row_passes = true;
    for (const Predicate* p : predicates) null_row_passes &= null_passes(*p);
    // An error leaves the row undecided unless it makes a null. So does a null where none may be.
    const bool null_result = null_row_passes || !spec.nullable;
    const bool error_result = format_->nulls_misfits() ? null_result : true;

    const auto look_closer = [&](Bytes raw) {
        Bytes content{};
        const Quoting quoting = field_content(*format_, raw, &scratch_, &content);
        if (is_null_token(raw) || (quoting == Quoting::none && is_null_token(trimmed(*format_, raw))))
            return null_result;
        if (is_null_text(quoting, content)) return null_result;
        if (quoting == Quoting::malformed) return error_result;
        if (must_be_utf8(spec) && !kernel_->valid_utf8(content.data, content.size)) {
            if (format_->errors == TextErrors::strict) return error_result;
            return passes(repaired_utf8(format_->errors, content.data, content.size));
        }
        return passes(std::string_view(reinterpret_cast<const char*>(content.data), content.size));
    };
    const FieldView v = view(column);
    each_row(v, [&](uint32_t row, const Segment& segment, const uint32_t* stops) {
        if (!has_bit(kept_.data(), row)) return;
        const Rewritten* record = block_.rewritten.empty() ? nullptr : block_.rewritten_at(row);
        const Bytes field = field_at(v, segment, stops), raw = trimmed(*format_, field);
        Bytes content{};
        bool pass;
        if (spec.field == absent_field || (record && spec.field >= record->fields) ||
            (field.size == 0 && is_absent(segment, stops, field.data)))  // the field is not there
            pass = null_result;
        else if (!plain_ || raw.size == 0 || !without_outer_quotes(raw, &content) ||
                 needs_a_closer_look(content.data, content.size, quotes) ||
                 (format_->quoted_null_texts && content.size < raw.size))
            pass = look_closer(raw);
        else if (is_null_token(raw))
            pass = null_result;
        else
            pass = passes(std::string_view(reinterpret_cast<const char*>(content.data), content.size));
        if (!pass) clear_bit(passes_.data(), row);
    });
}

}  // namespace formatter
