#include "engine/columns/row_filter.hpp"

#include <algorithm>
#include <cstring>

namespace formatter {
namespace {

constexpr size_t longest_walk = 16;  // lists longer than this are sorted and searched

// A column as predicates read it, whether it is still under construction or was exported.
struct ColumnView {
    ColumnType type;
    const uint8_t* validity;  // null: every value is valid
    const uint8_t* values;
    const char* text;
    const int32_t* codes = nullptr;  // of a dictionary column: `values` and `text` are the dictionary's
    bool views = false;              // `values` holds sixteen bytes a text
};

ColumnView view_of(ColumnSet& columns, uint32_t i) {
    const Column& c = columns.column(i);
    return ColumnView{columns.specs()[i].type, c.null_count ? c.validity.data() : nullptr, c.values.data(),
                      c.text.as<char>()};
}

// `count` bits, at most 64, from bit `at` on. Nothing behind them is read.
uint64_t word_at(const uint8_t* bits, uint64_t at, uint32_t count) {
    uint64_t word = 0;
    const unsigned shift = at % 8;
    const size_t bytes = (shift + count + 7) / 8;
    if (bytes >= 8)
        std::memcpy(&word, bits + at / 8, 8);
    else
        std::memcpy(&word, bits + at / 8, bytes);
    return bytes > 8 ? word >> shift | uint64_t(bits[at / 8 + 8]) << (64 - shift) : word >> shift;
}

// One loop an operator and type: `passes` is inlined, so nothing is decided once a row that could be once a block.
template <typename ValueAt, typename Passes>
void test_values(const Predicate& p, const ColumnView& c, uint64_t first, uint32_t count, uint64_t* keep,
                 ValueAt value_at, Passes passes) {
    const uint64_t nulls = null_passes(p) ? ~uint64_t(0) : 0;
    for (uint32_t done = 0; done < count; done += 64) {
        const uint32_t rows = std::min(count - done, 64u);
        uint64_t bits = 0;
        for (uint32_t j = 0; j < rows; j++) bits |= uint64_t(passes(value_at(first + done + j))) << j;
        if (c.validity) {
            const uint64_t valid = word_at(c.validity, first + done, rows);
            bits = (bits & valid) | (nulls & ~valid);
        }
        keep[done / 64] &= bits;
    }
}

template <typename T, typename ValueAt>
void test_rows(const Predicate& p, std::vector<T> wanted, const ColumnView& c, uint64_t first, uint32_t count,
               uint64_t* keep, ValueAt value_at) {
    const auto test = [&](auto passes) { test_values(p, c, first, count, keep, value_at, passes); };
    if (p.compare == Compare::in || p.compare == Compare::not_in) {
        const bool found_passes = p.compare == Compare::in;
        if (wanted.size() > longest_walk) {
            // What equals nothing, itself included, is found in no list; it would only spoil the order.
            wanted.erase(std::remove_if(wanted.begin(), wanted.end(), [](const T& w) { return !(w == w); }),
                         wanted.end());
            std::sort(wanted.begin(), wanted.end());
            return test([&](const T& value) {
                return (value == value && std::binary_search(wanted.begin(), wanted.end(), value)) == found_passes;
            });
        }
        return test([&](const T& value) {
            bool found = false;
            for (const T& w : wanted) found |= value == w;
            return found == found_passes;
        });
    }
    const T bound = wanted[0];
    switch (p.compare) {
        case Compare::equal: return test([&](const T& value) { return value == bound; });
        case Compare::not_equal: return test([&](const T& value) { return value != bound; });
        case Compare::less: return test([&](const T& value) { return value < bound; });
        case Compare::less_equal: return test([&](const T& value) { return value <= bound; });
        case Compare::greater: return test([&](const T& value) { return value > bound; });
        default: return test([&](const T& value) { return value >= bound; });
    }
}

template <typename T, typename Wide>
void test_fixed(const Predicate& p, const std::vector<Wide>& wanted, const ColumnView& c, uint64_t first,
                uint32_t count, uint64_t* keep) {
    const T* values = reinterpret_cast<const T*>(c.values);
    test_rows<Wide>(p, wanted, c, first, count, keep, [values](uint64_t row) { return Wide(values[row]); });
}

template <typename Offset>
void test_text(const Predicate& p, const ColumnView& c, uint64_t first, uint32_t count, uint64_t* keep) {
    const Offset* offsets = reinterpret_cast<const Offset*>(c.values);
    const char* text = c.text;
    const std::vector<std::string_view> wanted(p.texts.begin(), p.texts.end());
    const auto value_at = [offsets, text](uint64_t row) {
        return std::string_view(text + offsets[row], size_t(offsets[row + 1] - offsets[row]));
    };
    const int32_t* codes = c.codes;
    if (codes)
        return test_rows<std::string_view>(p, wanted, c, first, count, keep,
                                           [&](uint64_t row) { return value_at(uint64_t(codes[row])); });
    test_rows<std::string_view>(p, wanted, c, first, count, keep, value_at);
}

void test_views(const Predicate& p, const ColumnView& c, uint64_t first, uint32_t count, uint64_t* keep) {
    const std::vector<std::string_view> wanted(p.texts.begin(), p.texts.end());
    test_rows<std::string_view>(p, wanted, c, first, count, keep, [&c](uint64_t row) {
        const uint8_t* view = c.values + 16 * row;
        uint32_t words[4];
        std::memcpy(words, view, 16);
        const char* begin = words[0] > 12 ? c.text + words[3] : reinterpret_cast<const char*>(view) + 4;
        return std::string_view(begin, words[0]);
    });
}

void test_nulls(const Predicate& p, const ColumnView& c, uint64_t first, uint32_t count, uint64_t* keep) {
    const uint64_t flip = p.compare == Compare::is_null ? ~uint64_t(0) : 0;
    for (uint32_t done = 0; done < count; done += 64) {
        const uint64_t valid =
            c.validity ? word_at(c.validity, first + done, std::min(count - done, 64u)) : ~uint64_t(0);
        keep[done / 64] &= valid ^ flip;
    }
}

void test_predicate(const Predicate& p, const ColumnView& c, uint64_t first, uint32_t count, uint64_t* keep) {
    if (p.compare == Compare::is_null || p.compare == Compare::is_not_null) return test_nulls(p, c, first, count, keep);
    if (c.views) return test_views(p, c, first, count, keep);
    switch (c.type) {
        case ColumnType::int8: return test_fixed<int8_t>(p, p.integers, c, first, count, keep);
        case ColumnType::int16: return test_fixed<int16_t>(p, p.integers, c, first, count, keep);
        case ColumnType::int32:
        case ColumnType::date32: return test_fixed<int32_t>(p, p.integers, c, first, count, keep);
        case ColumnType::int64:
        case ColumnType::timestamp: return test_fixed<int64_t>(p, p.integers, c, first, count, keep);
        case ColumnType::uint8: return test_fixed<uint8_t>(p, p.naturals, c, first, count, keep);
        case ColumnType::uint16: return test_fixed<uint16_t>(p, p.naturals, c, first, count, keep);
        case ColumnType::uint32: return test_fixed<uint32_t>(p, p.naturals, c, first, count, keep);
        case ColumnType::uint64: return test_fixed<uint64_t>(p, p.naturals, c, first, count, keep);
        case ColumnType::float32: return test_fixed<float>(p, p.floats, c, first, count, keep);
        case ColumnType::float64: return test_fixed<double>(p, p.floats, c, first, count, keep);
        case ColumnType::boolean: {
            const uint8_t* bits = c.values;
            return test_rows<int64_t>(p, p.integers, c, first, count, keep,
                                      [bits](uint64_t row) { return int64_t(bits[row / 8] >> (row % 8) & 1); });
        }
        case ColumnType::decimal128: {
            // Unscaled values of the column's own scale, sixteen bytes each as text.
            const uint8_t* values = c.values;
            const auto read = [](const void* at) {
                __int128 value;
                std::memcpy(&value, at, 16);
                return value;
            };
            std::vector<__int128> wanted;
            for (const std::string& w : p.texts) wanted.push_back(read(w.data()));
            return test_rows<__int128>(p, wanted, c, first, count, keep,
                                       [values, read](uint64_t row) { return read(values + 16 * row); });
        }
        case ColumnType::string:
        case ColumnType::binary: return test_text<int32_t>(p, c, first, count, keep);
        case ColumnType::large_string:
        case ColumnType::large_binary: return test_text<int64_t>(p, c, first, count, keep);
    }
}

template <typename ViewOf>
void test_filter(const RowFilter& filter, uint64_t first_row, uint32_t count, uint64_t* keep, ViewOf view) {
    const uint32_t words = (count + 63) / 64;
    std::vector<uint64_t> any(words, 0), all(words);
    for (const auto& conjunction : filter.any_of) {
        std::fill(all.begin(), all.end(), ~uint64_t(0));
        for (const Predicate& p : conjunction) test_predicate(p, view(p.column), first_row, count, all.data());
        for (uint32_t w = 0; w < words; w++) any[w] |= all[w];
    }
    for (uint32_t w = 0; w < words; w++) keep[w] &= any[w];
    if (count % 64) keep[words - 1] &= (uint64_t(1) << (count % 64)) - 1;
}

}  // namespace

void evaluate_predicate(const Predicate& p, ColumnSet& columns, uint64_t first_row, uint32_t count, uint64_t* keep) {
    test_predicate(p, view_of(columns, p.column), first_row, count, keep);
}

void evaluate_filter(const RowFilter& filter, ColumnSet& columns, uint64_t first_row, uint32_t count, uint64_t* keep) {
    test_filter(filter, first_row, count, keep, [&](uint32_t i) { return view_of(columns, i); });
}

void evaluate_filter(const RowFilter& filter, const ArrowArray& batch, const std::vector<ColumnType>& types,
                     uint64_t* keep) {
    test_filter(filter, 0, uint32_t(batch.length), keep, [&](uint32_t i) {
        const ArrowArray& c = *batch.children[i];
        const auto buffer = [&c](int64_t number) {
            return number < c.n_buffers ? static_cast<const uint8_t*>(c.buffers[number]) : nullptr;
        };
        if (c.dictionary) {
            const void* const* texts = c.dictionary->buffers;
            return ColumnView{types[i], buffer(0), static_cast<const uint8_t*>(texts[1]),
                              static_cast<const char*>(texts[2]), reinterpret_cast<const int32_t*>(buffer(1))};
        }
        const bool views = is_text(types[i]) && c.n_buffers > 3;
        return ColumnView{types[i], buffer(0), buffer(1), reinterpret_cast<const char*>(buffer(2)), nullptr, views};
    });
}

// As in pyarrow: a comparison with null is not true; null is in a list that names it, else not in it.
bool null_passes(const Predicate& p) {
    switch (p.compare) {
        case Compare::in: return p.holds_null;
        case Compare::not_in: return !p.holds_null;
        default: return p.compare == Compare::is_null;
    }
}

bool text_passes(const Predicate& p, std::string_view value) {
    switch (p.compare) {
        case Compare::equal: return value == p.texts[0];
        case Compare::not_equal: return value != p.texts[0];
        case Compare::less: return value < p.texts[0];
        case Compare::less_equal: return value <= p.texts[0];
        case Compare::greater: return value > p.texts[0];
        case Compare::greater_equal: return value >= p.texts[0];
        case Compare::is_null: return false;
        case Compare::is_not_null: return true;
        default: break;
    }
    bool found = false;
    for (const std::string& text : p.texts) found |= value == text;
    return found == (p.compare == Compare::in);
}

}  // namespace formatter
