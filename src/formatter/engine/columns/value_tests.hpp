// What a predicate asks of values, a column at a time. In: a predicate, a column, how to read a value of it. Out: a bit a row.
// Refuses to know types: each of engine/types says how its values are read.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/columns/row_filter.hpp"

namespace formatter {

constexpr size_t longest_walk = 16;  // longer lists are searched

// `count` bits, at most 64, from bit `at` on. Nothing behind them is read.
inline uint64_t word_at(const uint8_t* bits, uint64_t at, uint32_t count) {
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

template <typename Use>
void with_text_test(Compare compare, std::string_view part, Use use) {
    const size_t size = part.size();
    if (compare == Compare::contains)
        return use([=](std::string_view text) { return text.find(part) != std::string_view::npos; });
    if (compare == Compare::starts_with)
        return use([=](std::string_view text) { return text.substr(0, size) == part; });
    use([=](std::string_view text) { return text.size() >= size && text.substr(text.size() - size) == part; });
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
        case Compare::starts_with:
        case Compare::ends_with:
        case Compare::contains:
            if constexpr (std::is_same_v<T, std::string_view>) return with_text_test(p.compare, bound(), use);
            return use([](const T&) { return false; });
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

}  // namespace formatter
