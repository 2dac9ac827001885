// A column of JSON values at a time: the loops of the kernels, and what JSON asks for beyond them. In: where the values
// of many rows stand. Out: values, and which rows have to be looked at one by one. Knows types; knows no rows' meaning.
#pragma once

#include <cstring>
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
        if (size + 64 > size_t(readable_end - from)) return copy_last_text(from, size, to);
        // Most strings are short and plain.
        return copy_plain(from, size, to) ? ptrdiff_t(size) : kernel_->copy_json_string(from, size, to);
    }

  private:
    // False if something in it has to be looked at. Reads and writes up to 15 bytes too many.
    static bool copy_plain(const uint8_t* from, size_t size, uint8_t* to) {
        typedef uint8_t Lanes __attribute__((vector_size(16)));
        typedef uint64_t Pair __attribute__((vector_size(16)));
        alignas(16) static const uint8_t edge[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                     255, 255, 255, 255, 255, 255, 255, 255};
        Lanes odd = {};
        size_t left = size;
        for (;; from += 16, to += 16, left -= 16) {
            Lanes bytes, present;
            std::memcpy(&bytes, from, 16);
            std::memcpy(to, &bytes, 16);
            const Lanes marks =
                Lanes(bytes == uint8_t('"')) | Lanes(bytes == uint8_t('\\')) | Lanes(bytes < uint8_t(0x20));
            if (left > 16) {
                odd |= marks;
                continue;
            }
            std::memcpy(&present, edge + 16 - left, 16);
            odd |= marks & present;
            break;
        }
        const Pair any = Pair(odd);
        return (any[0] | any[1]) == 0;
    }
    static ptrdiff_t copy_last_text(const uint8_t* from, size_t size, uint8_t* to);

    const Kernel* kernel_;
    std::vector<int64_t> wide_;
};

}  // namespace formatter
