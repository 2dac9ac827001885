#include "engine/columns/text_dictionary.hpp"

#include <algorithm>

namespace formatter {
namespace {
constexpr size_t first_slots = 256;
}

int32_t TextDictionary::add(const uint8_t* bytes, size_t size) {
    if (2 * (ends_.size() + 1) > slots_.size()) grow();
    const uint64_t begin = text_bytes();
    const int32_t code = int32_t(ends_.size());
    text_.reserve(begin + size + 1, begin);  // never without a block: an empty text has an address, too
    if (size) std::memcpy(text_.data() + begin, bytes, size);
    ends_.push_back(begin + size);
    marked_.push_back(0);
    const uint32_t hash = hash_of(bytes, size);
    size_t at = hash & mask_;
    while (slots_[at].code != unknown) at = (at + 1) & mask_;
    slots_[at] = Slot{hash, code, begin, uint32_t(size)};
    return code;
}

void TextDictionary::grow() {
    std::vector<Slot> old(std::max(2 * slots_.size(), first_slots), Slot{0, unknown, 0, 0});
    slots_.swap(old);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
        if (slot.code == unknown) continue;
        size_t at = slot.hash & mask_;
        while (slots_[at].code != unknown) at = (at + 1) & mask_;
        slots_[at] = slot;
    }
}

void TextDictionary::copy_to(PoolBuffer* offsets, PoolBuffer* text, bool large) const {
    const size_t width = large ? sizeof(int64_t) : sizeof(int32_t);
    offsets->reserve((ends_.size() + 2) * width, 0);
    std::memset(offsets->data(), 0, 2 * width);  // the code of a null is 0, and may be looked up where there is no text
    if (large)
        std::copy(ends_.begin(), ends_.end(), offsets->as<int64_t>() + 1);
    else
        std::transform(ends_.begin(), ends_.end(), offsets->as<int32_t>() + 1,
                       [](uint64_t end) { return int32_t(end); });
    text->reserve(text_bytes() + 1, 0);
    if (text_bytes()) std::memcpy(text->data(), text_.data(), text_bytes());
}

void TextDictionary::clear() {
    std::fill(slots_.begin(), slots_.end(), Slot{0, unknown, 0, 0});
    ends_.clear();
    marked_.clear();
    kept_bytes_ = 0;
}

}  // namespace formatter
