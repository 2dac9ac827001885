#include "engine/json_keys.hpp"

#include <algorithm>

namespace formatter {
namespace {
constexpr size_t unwanted_most = 1000;  // spellings of other keys that are remembered
constexpr size_t spellings_most = 8;     // of a wanted one
}  // namespace

JsonKeys::JsonKeys(size_t wanted)
    : wanted_room_(spellings_most * wanted), unwanted_room_(unwanted_most), slots_(16), shift_(64 - 4) {}

void JsonKeys::insert(uint32_t entry) {
    const size_t mask = slots_.size() - 1;
    const Entry& e = *entries_[entry];
    size_t slot = hash_of(e.tail, e.size) >> shift_;
    while (slots_[slot]) slot = (slot + 1) & mask;
    slots_[slot] = entry + 1;
}

const JsonKeys::Entry* JsonKeys::add(const uint8_t* begin, const uint8_t* end, uint32_t node) {
    size_t& room = node ? wanted_room_ : unwanted_room_;
    if (room == 0) {
        other_.node = node;
        return &other_;
    }
    room--;
    const size_t size = size_t(end - begin);
    texts_.emplace_back(new char[size + 16]());
    char* text = texts_.back().get();
    std::memcpy(text + 16, begin, size);
    entries_.emplace_back(new Entry());
    Entry& entry = *entries_.back();
    entry.tail = tail_of(reinterpret_cast<const uint8_t*>(text) + 16 + size, size);
    entry.size = size;
    entry.text = text + 16;
    entry.node = node;
    if (4 * entries_.size() > slots_.size()) {
        slots_.assign(2 * slots_.size(), 0);
        shift_--;
        for (uint32_t i = 0; i < entries_.size(); i++) insert(i);
    } else {
        insert(uint32_t(entries_.size() - 1));
    }
    return &entry;
}

}  // namespace formatter
