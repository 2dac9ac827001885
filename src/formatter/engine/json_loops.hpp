// A column of JSON values at a time: the loops of the kernels, and what JSON asks for beyond them. In: where the values
// of many rows stand. Out: values, and which rows have to be looked at one by one. Knows types; knows no rows' meaning.
#pragma once

#include <vector>

#include "engine/json_format.hpp"

namespace formatter {

class JsonLoops {
  public:
    explicit JsonLoops(const Kernel* kernel) : kernel_(kernel) {}

    void make_room(size_t rows) {
        if (wide_.size() < rows + 64) wide_.resize(rows + 64);
    }
    // Values of a fixed-width type to row `at` of `values` and those behind. `leading_zeros`: some may begin with a zero
    // that a digit follows.
    void decode(const JsonNodeSpec&, const FieldView&, bool leading_zeros, uint8_t* values, uint64_t at, ValueMarks*);

    // The content of a string to `to`, which holds `size` bytes and 64 more, and the bytes it takes there; or -1 if it is
    // no string's content.
    ptrdiff_t copy_text(const uint8_t* from, size_t size, const uint8_t* readable_end, uint8_t* to) const {
        if (size + 64 <= size_t(readable_end - from)) return kernel_->copy_json_string(from, size, to);
        return copy_last_text(from, size, to);
    }

  private:
    static ptrdiff_t copy_last_text(const uint8_t* from, size_t size, uint8_t* to);

    const Kernel* kernel_;
    std::vector<int64_t> wide_;
};

}  // namespace formatter
