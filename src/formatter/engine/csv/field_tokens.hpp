// Texts that fields are compared with as they stand, such as null tokens. In: the texts, then fields. Out: whether a field is one.
// Most fields are none by their size or first byte, which costs next to nothing. Refuses to know what the texts mean.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "engine/values/exact_values.hpp"

namespace formatter {

class FieldTokens {
  public:
    explicit FieldTokens(std::vector<std::string> texts) : texts_(std::move(texts)) {
        for (const std::string& text : texts_) {
            sizes_ |= size_bit(text.size());
            if (!text.empty()) firsts_[uint8_t(text[0]) / 64] |= uint64_t(1) << uint8_t(text[0]) % 64;
        }
    }

    const std::vector<std::string>& texts() const { return texts_; }
    bool only_empty() const { return !(sizes_ & ~size_bit(0)); }
    bool hold(Bytes field) const {
        if (!(sizes_ & size_bit(field.size))) return false;
        return field.size == 0 || (firsts_[field.data[0] / 64] >> field.data[0] % 64 & 1 && is_listed(field));
    }

  private:
    static uint64_t size_bit(size_t size) { return uint64_t(1) << std::min<size_t>(size, 63); }
    bool is_listed(Bytes field) const {
        return std::any_of(texts_.begin(), texts_.end(), [&](const std::string& text) { return field.equals(text); });
    }

    std::vector<std::string> texts_;
    uint64_t sizes_ = 0;  // a bit each; the last is for all longer ones
    uint64_t firsts_[4] = {};  // a bit for each byte that one begins with
};

}  // namespace formatter
