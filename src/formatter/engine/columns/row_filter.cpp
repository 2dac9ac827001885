#include "engine/columns/row_filter.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "engine/columns/half_floats.hpp"

namespace formatter {
namespace {

constexpr size_t longest_walk = 16;  // longer lists are searched

// A column as predicates read it, whether it is still under construction or was exported.
struct ColumnView {
    ColumnType type;
    const uint8_t* validity;  // null: every value is valid
    const uint8_t* values;
    const char* text;
    uint64_t first;                  // row of the first value asked for
    const int32_t* codes = nullptr;  // of a dictionary column: `values` and `text` are the dictionary's
    bool views = false;              // `values` holds sixteen bytes a text
};

ColumnView view_of(ColumnSet& columns, uint32_t i, uint64_t first) {
    const Column& c = columns.column(i);
    return ColumnView{columns.specs()[i].type, c.null_count ? c.validity.data() : nullptr, c.values.data(),
                      c.text.as<char>(), first};
}

ColumnView view_of(const ArrowArray& c, ColumnType type) {
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
    const bool views = is_text(type) && c.n_buffers > 3;
    return ColumnView{type, buffer(0), buffer(1), reinterpret_cast<const char*>(buffer(2)), first, nullptr, views};
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

// Calls `use` with whether a value, which is not NaN, is in a list.
template <typename T, typename Wanted, typename Use>
void with_list(const std::vector<Wanted>& wanted, Use use) {
    const Wanted *const begin = wanted.data(), *const end = begin + wanted.size();
    if (wanted.size() > longest_walk) return use([=](const T& value) { return std::binary_search(begin, end, value); });
    use([=](const T& value) {
        bool found = false;
        for (const Wanted* w = begin; w < end; w++) found |= value == *w;
        return found;
    });
}

// Calls `use` with what the predicate asks of one value, so that nothing is decided once a row that could be once a block.
// A null is asked by null_passes(); NaN equals nothing, but is in a list that names it.
template <typename T, typename Wanted, typename Use>
void with_test(const Predicate& p, const std::vector<Wanted>& wanted, Use use) {
    const auto bound = [&wanted] { return T(wanted[0]); };
    switch (p.compare) {
        case Compare::equal: return use([b = bound()](const T& value) { return value == b; });
        case Compare::not_equal: return use([b = bound()](const T& value) { return value != b; });
        case Compare::less: return use([b = bound()](const T& value) { return value < b; });
        case Compare::less_equal: return use([b = bound()](const T& value) { return value <= b; });
        case Compare::greater: return use([b = bound()](const T& value) { return value > b; });
        case Compare::greater_equal: return use([b = bound()](const T& value) { return value >= b; });
        case Compare::is_null: return use([](const T&) { return false; });
        case Compare::is_not_null: return use([](const T&) { return true; });
        case Compare::in:
        case Compare::not_in: break;
    }
    const bool found_passes = p.compare == Compare::in;
    with_list<T>(wanted, [&](auto is_listed) {
        if constexpr (std::is_floating_point_v<T>) {
            const bool holds_nan = p.holds_nan;
            use([=](T value) { return (value == value ? is_listed(value) : holds_nan) == found_passes; });
        } else {
            use([=](const T& value) { return is_listed(value) == found_passes; });
        }
    });
}

template <typename T, typename Wanted, typename ValueAt>
void test_rows(const Predicate& p, const std::vector<Wanted>& wanted, const ColumnView& c, uint64_t count,
               uint64_t* keep, ValueAt value_at) {
    const uint64_t nulls = null_passes(p) ? ~uint64_t(0) : 0;
    with_test<T>(p, wanted, [&](auto passes) {
        for (uint64_t done = 0; done < count; done += 64) {
            const uint32_t rows = uint32_t(std::min<uint64_t>(count - done, 64));
            uint64_t bits = 0;
            for (uint32_t j = 0; j < rows; j++) bits |= uint64_t(passes(value_at(c.first + done + j))) << j;
            if (c.validity) {
                const uint64_t valid = word_at(c.validity, c.first + done, rows);
                bits = (bits & valid) | (nulls & ~valid);
            }
            keep[done / 64] &= bits;
        }
    });
}

template <typename T, typename Wide>
void test_fixed(const Predicate& p, const std::vector<Wide>& wanted, const ColumnView& c, uint64_t count,
                uint64_t* keep) {
    const T* values = reinterpret_cast<const T*>(c.values);
    test_rows<Wide>(p, wanted, c, count, keep, [values](uint64_t row) { return Wide(values[row]); });
}

template <typename Offset>
void test_text(const Predicate& p, const ColumnView& c, uint64_t count, uint64_t* keep) {
    const Offset* offsets = reinterpret_cast<const Offset*>(c.values);
    const char* text = c.text;
    const auto value_at = [offsets, text](uint64_t row) {
        return std::string_view(text + offsets[row], size_t(offsets[row + 1] - offsets[row]));
    };
    const int32_t* codes = c.codes;
    if (codes)
        return test_rows<std::string_view>(p, p.texts, c, count, keep,
                                           [&](uint64_t row) { return value_at(uint64_t(codes[row])); });
    test_rows<std::string_view>(p, p.texts, c, count, keep, value_at);
}

// Of batches the engine made: their texts lie in one buffer.
void test_views(const Predicate& p, const ColumnView& c, uint64_t count, uint64_t* keep) {
    test_rows<std::string_view>(p, p.texts, c, count, keep, [&c](uint64_t row) {
        const uint8_t* view = c.values + 16 * row;
        uint32_t words[4];
        std::memcpy(words, view, 16);
        const char* begin = words[0] > 12 ? c.text + words[3] : reinterpret_cast<const char*>(view) + 4;
        return std::string_view(begin, words[0]);
    });
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
    if (c.views) return test_views(p, c, count, keep);
    switch (c.type) {
        case ColumnType::int8: return test_fixed<int8_t>(p, p.integers, c, count, keep);
        case ColumnType::int16: return test_fixed<int16_t>(p, p.integers, c, count, keep);
        case ColumnType::int32:
        case ColumnType::date32: return test_fixed<int32_t>(p, p.integers, c, count, keep);
        case ColumnType::int64:
        case ColumnType::timestamp: return test_fixed<int64_t>(p, p.integers, c, count, keep);
        case ColumnType::uint8: return test_fixed<uint8_t>(p, p.naturals, c, count, keep);
        case ColumnType::uint16: return test_fixed<uint16_t>(p, p.naturals, c, count, keep);
        case ColumnType::uint32: return test_fixed<uint32_t>(p, p.naturals, c, count, keep);
        case ColumnType::uint64: return test_fixed<uint64_t>(p, p.naturals, c, count, keep);
        case ColumnType::float16: {
            const uint16_t* values = reinterpret_cast<const uint16_t*>(c.values);
            return test_rows<double>(p, p.floats, c, count, keep,
                                     [values](uint64_t row) { return widened_half(values[row]); });
        }
        case ColumnType::float32: return test_fixed<float>(p, p.floats, c, count, keep);
        case ColumnType::float64: return test_fixed<double>(p, p.floats, c, count, keep);
        case ColumnType::boolean: {
            const uint8_t* bits = c.values;
            return test_rows<int64_t>(p, p.integers, c, count, keep,
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
            return test_rows<__int128>(p, wanted, c, count, keep,
                                       [values, read](uint64_t row) { return read(values + 16 * row); });
        }
        case ColumnType::string:
        case ColumnType::binary: return test_text<int32_t>(p, c, count, keep);
        case ColumnType::large_string:
        case ColumnType::large_binary: return test_text<int64_t>(p, c, count, keep);
    }
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

void evaluate_filter(const RowFilter& filter, const ArrowArray& batch, const std::vector<ColumnType>& types,
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
