#include "engine/row_filter.hpp"

#include <cstring>
#include <string_view>

namespace formatter {
namespace {

// A column as predicates read it, whether it is still under construction or was exported.
struct ColumnView {
    ColumnType type;
    const uint8_t* validity;  // null: every value is valid
    const uint8_t* values;
    const char* text;
};

template <typename T>
bool compare_values(Compare compare, T value, T wanted) {
    switch (compare) {
        case Compare::equal: return value == wanted;
        case Compare::not_equal: return value != wanted;
        case Compare::less: return value < wanted;
        case Compare::less_equal: return value <= wanted;
        case Compare::greater: return value > wanted;
        case Compare::greater_equal: return value >= wanted;
        default: return false;
    }
}

bool bit_at(const uint8_t* bits, uint64_t i) { return bits[i / 8] >> (i % 8) & 1; }

// One loop a predicate: `value_at` is inlined, so the type is decided once a block and not once a row.
template <typename T, typename List, typename ValueAt>
void test_rows(const Predicate& p, const List& wanted, const ColumnView& c, uint64_t first, uint32_t count,
               uint64_t* keep, ValueAt value_at) {
    const uint8_t* valid = c.validity;
    for (uint32_t word = 0; word * 64 < count; word++) {
        const uint32_t last = count - word * 64 < 64 ? count - word * 64 : 64;
        uint64_t bits = 0;
        for (uint32_t j = 0; j < last; j++) {
            const uint64_t row = first + word * 64 + j;
            bool pass;
            if (valid && !bit_at(valid, row)) {
                // As in pyarrow: a comparison with null is not true; null is in a list that names it, else not in it.
                pass = p.compare == Compare::in ? p.holds_null : p.compare == Compare::not_in && !p.holds_null;
            } else if (p.compare == Compare::in || p.compare == Compare::not_in) {
                bool found = false;
                for (const auto& w : wanted) found |= value_at(row) == T(w);
                pass = found == (p.compare == Compare::in);
            } else {
                pass = compare_values<T>(p.compare, value_at(row), T(wanted[0]));
            }
            bits |= uint64_t(pass) << j;
        }
        keep[word] &= bits;
    }
}

template <typename T, typename List>
void test_fixed(const Predicate& p, const List& wanted, const ColumnView& c, uint64_t first, uint32_t count,
                uint64_t* keep) {
    const T* values = reinterpret_cast<const T*>(c.values);
    using Wide = typename List::value_type;
    test_rows<Wide>(p, wanted, c, first, count, keep, [values](uint64_t row) { return Wide(values[row]); });
}

template <typename Offset>
void test_text(const Predicate& p, const ColumnView& c, uint64_t first, uint32_t count, uint64_t* keep) {
    const Offset* offsets = reinterpret_cast<const Offset*>(c.values);
    const char* text = c.text;
    test_rows<std::string_view>(p, p.texts, c, first, count, keep, [offsets, text](uint64_t row) {
        return std::string_view(text + offsets[row], size_t(offsets[row + 1] - offsets[row]));
    });
}

void test_nulls(const Predicate& p, const ColumnView& c, uint64_t first, uint32_t count, uint64_t* keep) {
    const bool wanted = p.compare == Compare::is_not_null;
    for (uint32_t i = 0; i < count; i++)
        if ((!c.validity || bit_at(c.validity, first + i)) != wanted) keep[i / 64] &= ~(uint64_t(1) << (i % 64));
}

void test_predicate(const Predicate& p, const ColumnView& c, uint64_t first, uint32_t count, uint64_t* keep) {
    if (p.compare == Compare::is_null || p.compare == Compare::is_not_null) return test_nulls(p, c, first, count, keep);
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
                                      [bits](uint64_t row) { return int64_t(bit_at(bits, row)); });
        }
        case ColumnType::decimal128: {
            // Unscaled values of the column's own scale, sixteen bytes each as text.
            const uint8_t* values = c.values;
            auto read = [](const uint8_t* at) {
                __int128 value;
                std::memcpy(&value, at, 16);
                return value;
            };
            std::vector<__int128> wanted;
            for (const std::string& w : p.texts) wanted.push_back(read(reinterpret_cast<const uint8_t*>(w.data())));
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
void test_filter(const RowFilter& filter, uint64_t first_row, uint32_t count, uint64_t* keep, ViewOf view_of) {
    const uint32_t words = (count + 63) / 64;
    std::vector<uint64_t> any(words, 0), all(words);
    for (const auto& conjunction : filter.any_of) {
        for (uint32_t w = 0; w < words; w++) all[w] = ~uint64_t(0);
        for (const Predicate& p : conjunction) test_predicate(p, view_of(p.column), first_row, count, all.data());
        for (uint32_t w = 0; w < words; w++) any[w] |= all[w];
    }
    for (uint32_t w = 0; w < words; w++) keep[w] &= any[w];
    if (count % 64) keep[words - 1] &= (uint64_t(1) << (count % 64)) - 1;
}

}  // namespace

void evaluate_filter(const RowFilter& filter, ColumnSet& columns, uint64_t first_row, uint32_t count, uint64_t* keep) {
    test_filter(filter, first_row, count, keep, [&](uint32_t i) {
        const Column& c = columns.column(i);
        return ColumnView{columns.specs()[i].type, c.null_count ? c.validity.data() : nullptr, c.values.data(),
                          c.text.as<char>()};
    });
}

void evaluate_filter(const RowFilter& filter, const ArrowArray& batch, const std::vector<ColumnType>& types,
                     uint64_t* keep) {
    test_filter(filter, 0, uint32_t(batch.length), keep, [&](uint32_t i) {
        const ArrowArray& c = *batch.children[i];
        const auto buffer = [&c](int64_t number) {
            return number < c.n_buffers ? static_cast<const uint8_t*>(c.buffers[number]) : nullptr;
        };
        return ColumnView{types[i], buffer(0), buffer(1), reinterpret_cast<const char*>(buffer(2))};
    });
}

}  // namespace formatter
