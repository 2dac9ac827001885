#include "engine/row_filter.hpp"

#include <algorithm>
#include <cstring>

#include "engine/columns.hpp"

namespace formatter {
namespace {

constexpr size_t longest_walk = 16;  // lists longer than this are sorted and searched

// 64 bits from bit `at` on: bitmaps of columns have slack behind them.
uint64_t word_at(const uint8_t* bits, uint64_t at) {
    uint64_t word;
    std::memcpy(&word, bits + at / 8, 8);
    const unsigned shift = at % 8;
    return shift == 0 ? word : word >> shift | uint64_t(bits[at / 8 + 8]) << (64 - shift);
}

// One loop an operator and type: `passes` is inlined, so nothing is decided once a row that could be once a block.
template <typename ValueAt, typename Passes>
void test_values(const Predicate& p, const Column& c, uint64_t first, uint32_t count, uint64_t* keep, ValueAt value_at,
                 Passes passes) {
    const bool any_null = c.null_count != 0;
    const uint64_t nulls = null_passes(p) ? ~uint64_t(0) : 0;
    for (uint32_t done = 0; done < count; done += 64) {
        const uint32_t rows = std::min(count - done, 64u);
        uint64_t bits = 0;
        for (uint32_t j = 0; j < rows; j++) bits |= uint64_t(passes(value_at(first + done + j))) << j;
        if (any_null) {
            const uint64_t valid = word_at(c.validity.data(), first + done);
            bits = (bits & valid) | (nulls & ~valid);
        }
        keep[done / 64] &= bits;
    }
}

template <typename T, typename ValueAt>
void test_rows(const Predicate& p, std::vector<T> wanted, const Column& c, uint64_t first, uint32_t count,
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
void test_fixed(const Predicate& p, const std::vector<Wide>& wanted, const Column& c, uint64_t first, uint32_t count,
                uint64_t* keep) {
    const T* values = c.values.as<T>();
    test_rows<Wide>(p, wanted, c, first, count, keep, [values](uint64_t row) { return Wide(values[row]); });
}

template <typename Offset>
void test_text(const Predicate& p, const Column& c, uint64_t first, uint32_t count, uint64_t* keep) {
    const Offset* offsets = c.values.as<Offset>();
    const char* text = c.text.as<char>();
    const std::vector<std::string_view> wanted(p.texts.begin(), p.texts.end());
    test_rows<std::string_view>(p, wanted, c, first, count, keep, [offsets, text](uint64_t row) {
        return std::string_view(text + offsets[row], size_t(offsets[row + 1] - offsets[row]));
    });
}

void test_nulls(const Predicate& p, const Column& c, uint64_t first, uint32_t count, uint64_t* keep) {
    const uint64_t flip = p.compare == Compare::is_null ? ~uint64_t(0) : 0;
    for (uint32_t done = 0; done < count; done += 64)
        keep[done / 64] &= word_at(c.validity.data(), first + done) ^ flip;
}

}  // namespace

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

void evaluate_predicate(const Predicate& p, ColumnSet& columns, uint64_t first, uint32_t count, uint64_t* keep) {
    const Column& c = columns.column(p.column);
    if (p.compare == Compare::is_null || p.compare == Compare::is_not_null) return test_nulls(p, c, first, count, keep);
    switch (columns.specs()[p.column].type) {
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
            const uint8_t* bits = c.values.data();
            return test_rows<int64_t>(p, p.integers, c, first, count, keep,
                                      [bits](uint64_t row) { return int64_t(bits[row / 8] >> (row % 8) & 1); });
        }
        case ColumnType::decimal128: {
            // Unscaled values of the column's own scale, sixteen bytes each as text.
            const uint8_t* values = c.values.data();
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

void evaluate_filter(const RowFilter& filter, ColumnSet& columns, uint64_t first_row, uint32_t count, uint64_t* keep,
                     const uint64_t* const* undecided) {
    const uint32_t words = (count + 63) / 64;
    std::vector<uint64_t> any(words, 0), all(words), one(words);
    for (const auto& conjunction : filter.any_of) {
        std::fill(all.begin(), all.end(), ~uint64_t(0));
        for (const Predicate& p : conjunction) {
            const uint64_t* unread = undecided ? undecided[p.column] : nullptr;
            std::fill(one.begin(), one.end(), ~uint64_t(0));
            evaluate_predicate(p, columns, first_row, count, one.data());
            for (uint32_t w = 0; w < words; w++) all[w] &= unread ? one[w] | unread[w] : one[w];
        }
        for (uint32_t w = 0; w < words; w++) any[w] |= all[w];
    }
    for (uint32_t w = 0; w < words; w++) keep[w] &= any[w];
    if (count % 64) keep[words - 1] &= (uint64_t(1) << (count % 64)) - 1;
}

}  // namespace formatter
