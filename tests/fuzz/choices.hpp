// A fuzzer's bytes as choices and data. In: bytes. Out: small numbers from the front, the rest as it is. Refuses to know what
// is chosen.
#pragma once

#include <cstddef>
#include <cstdint>

class Choices {
  public:
    Choices(const uint8_t* data, size_t size) : at_(data), left_(size) {}
    // Below `count`; 0 when the bytes have run out.
    unsigned below(unsigned count) {
        if (left_ == 0 || count == 0) return 0;
        left_--;
        return *at_++ % count;
    }
    bool yes() { return below(2) == 1; }
    const uint8_t* data() const { return at_; }
    size_t size() const { return left_; }

  private:
    const uint8_t* at_;
    size_t left_;
};
