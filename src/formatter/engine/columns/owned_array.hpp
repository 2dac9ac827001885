// Who releases an array. In: an array that the engine made. Out: the same, released unless it was handed on. Refuses to know
// what is in it.
#pragma once

#include <utility>

#include "engine/columns/arrow_abi.hpp"

namespace formatter {

// To hand it on clears its `release`.
struct OwnedArray : ArrowArray {
    OwnedArray() : ArrowArray{} {}
    OwnedArray(OwnedArray&& other) noexcept : ArrowArray(other) { other.release = nullptr; }
    OwnedArray& operator=(OwnedArray&& other) noexcept {
        std::swap<ArrowArray>(*this, other);
        return *this;
    }
    ~OwnedArray() {
        if (release) release(this);
    }
};

}  // namespace formatter
