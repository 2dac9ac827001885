// What is known of the values of one column in a block of rows while they are decoded, a bit a row. In: what loops find.
// Out: the same, for those who decide the rest. Refuses to know values.
#pragma once

#include <vector>

#include "engine/columns/bits.hpp"
#include "kernels/kernel.hpp"

namespace formatter {

struct RowMarks {
    std::vector<uint64_t> valid;
    std::vector<uint64_t> empty, odd;  // as ValueMarks has them
    uint32_t empty_count = 0, odd_count = 0;

    void make_room(size_t rows) {
        const size_t words = rows / 64 + 2;
        if (valid.size() >= words) return;
        valid.resize(words);
        empty.resize(words);
        odd.resize(words);
    }
    void all_valid(size_t rows) { set_words(valid.data(), (rows + 63) / 64); }
    void none_marked(size_t rows) {
        for (size_t w = 0; w * 64 < rows; w++) empty[w] = odd[w] = 0;
        empty_count = odd_count = 0;
    }
    void mark_empty(uint32_t row) { set_bit(empty.data(), row), empty_count++; }
    void mark_odd(uint32_t row) { set_bit(odd.data(), row), odd_count++; }
    // For a loop of the kernels; take() what it found.
    ValueMarks for_loop(NumberShape* shape = nullptr) { return {empty.data(), odd.data(), 0, 0, shape}; }
    void take(const ValueMarks& marks) {
        empty_count = marks.empty_count;
        odd_count = marks.odd_count;
    }
};

}  // namespace formatter
