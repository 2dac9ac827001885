#include "engine/columns/row_filter.hpp"

#include <algorithm>

#include "engine/columns/value_tests.hpp"

namespace formatter {
namespace {

ColumnView view_of(ColumnSet& columns, uint32_t i, uint64_t first) {
    const Column& c = columns.column(i);
    return ColumnView{columns.specs()[i].type, c.null_count ? c.validity.data() : nullptr, c.values.data(),
                      c.text.as<char>(), first};
}

ColumnView view_of(const ArrowArray& c, const ColumnType* type) {
    const auto buffer = [&c](int64_t number) {
        return number < c.n_buffers ? static_cast<const uint8_t*>(c.buffers[number]) : nullptr;
    };
    const uint64_t first = uint64_t(c.offset);
    if (c.dictionary) {
        const void* const* texts = c.dictionary->buffers;
        return ColumnView{type,
                          buffer(0),
                          static_cast<const uint8_t*>(texts[1]),
                          static_cast<const char*>(texts[2]),
                          first,
                          reinterpret_cast<const int32_t*>(buffer(1))};
    }
    const bool views = type->is_text() && c.n_buffers > 3;
    return ColumnView{type, buffer(0), buffer(1), reinterpret_cast<const char*>(buffer(2)), first, nullptr, views};
}

void test_nulls(const Predicate& p, const ColumnView& c, uint64_t count, uint64_t* keep) {
    const uint64_t flip = p.compare == Compare::is_null ? ~uint64_t(0) : 0;
    for (uint64_t done = 0; done < count; done += 64) {
        const uint32_t rows = uint32_t(std::min<uint64_t>(count - done, 64));
        const uint64_t valid = c.validity ? word_at(c.validity, c.first + done, rows) : ~uint64_t(0);
        keep[done / 64] &= valid ^ flip;
    }
}

void test_predicate(const Predicate& p, const ColumnView& c, uint64_t count, uint64_t* keep) {
    if (p.compare == Compare::is_null || p.compare == Compare::is_not_null) return test_nulls(p, c, count, keep);
    c.type->test(p, c, count, keep);
}

template <typename ViewOf>
void test_filter(const RowFilter& filter, uint64_t count, uint64_t* keep, ViewOf view) {
    const uint64_t words = (count + 63) / 64;
    std::vector<uint64_t> any(words, 0), all(words);
    for (const auto& conjunction : filter.any_of) {
        std::fill(all.begin(), all.end(), ~uint64_t(0));
        for (const Predicate& p : conjunction) test_predicate(p, view(p.column), count, all.data());
        for (uint64_t w = 0; w < words; w++) any[w] |= all[w];
    }
    for (uint64_t w = 0; w < words; w++) keep[w] &= any[w];
    if (count % 64) keep[words - 1] &= (uint64_t(1) << (count % 64)) - 1;
}

}  // namespace

void evaluate_predicate(const Predicate& p, ColumnSet& columns, uint64_t first_row, uint64_t count, uint64_t* keep) {
    test_predicate(p, view_of(columns, p.column, first_row), count, keep);
}

void evaluate_filter(const RowFilter& filter, ColumnSet& columns, uint64_t first_row, uint64_t count, uint64_t* keep) {
    test_filter(filter, count, keep, [&](uint32_t i) { return view_of(columns, i, first_row); });
}

void evaluate_filter(const RowFilter& filter, const ArrowArray& batch, const std::vector<const ColumnType*>& types,
                     uint64_t* keep) {
    test_filter(filter, uint64_t(batch.length), keep,
                [&](uint32_t i) { return view_of(*batch.children[i], types[i]); });
}

// A comparison with null is not true; null is in a list that names it, else not in it.
bool null_passes(const Predicate& p) {
    switch (p.compare) {
        case Compare::in: return p.holds_null;
        case Compare::not_in: return !p.holds_null;
        default: return p.compare == Compare::is_null;
    }
}

bool text_passes(const Predicate& p, std::string_view value) {
    bool passes = false;
    with_test<std::string_view>(p, p.texts, [&](auto test) { passes = test(value); });
    return passes;
}

}  // namespace formatter
