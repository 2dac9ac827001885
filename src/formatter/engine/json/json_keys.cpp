#include "engine/json/json_keys.hpp"

#include <algorithm>

namespace formatter {
namespace {
constexpr size_t unwanted_most = 1000;  // spellings of other keys that are remembered
constexpr size_t spellings_most = 8;     // of a wanted one
constexpr size_t slots_least = 4, slots_most = 64;  // an entry
constexpr size_t alone_most = 48;  // entries for which a table without collisions is looked for
constexpr int attempts_most = 32;
constexpr unsigned failures_most = 128, looked_up_most = 16384;
}  // namespace

JsonKeys::JsonKeys(size_t wanted)
    : wanted_room_(spellings_most * wanted), unwanted_room_(unwanted_most), slots_(64), shift_(64 - 6), mask_(63) {
    left_ = failures_most;
}

// False if its first slot was taken.
bool JsonKeys::place(const Entry* entry) {
    const size_t first = slot_of(entry->tail, entry->size);
    size_t slot = first;
    while (slots_[slot]) slot = (slot + 1) & mask_;
    slots_[slot] = entry;
    return slot == first;
}

// Objects of usual size get a table in which each entry has its first slot, so that a look-up never goes on.
void JsonKeys::rebuild() {
    for (int attempt = 0; attempt < attempts_most; attempt++) {
        if (attempt % 8 == 7 && slots_.size() < slots_most * entries_.size()) {
            slots_.resize(2 * slots_.size());
            mask_ = slots_.size() - 1;
            shift_--;
        }
        factor_ += 0x6A09E667F3BCC908;  // odd it stays
        std::fill(slots_.begin(), slots_.end(), nullptr);
        bool alone = true;
        for (const auto& entry : entries_) alone &= place(entry.get());
        if (alone || entries_.size() > alone_most) return;
    }
}

void JsonKeys::turn() {
    guessing_ = !guessing_;
    left_ = guessing_ ? failures_most : looked_up_most;
}

const JsonKeys::Entry* JsonKeys::add(const uint8_t* begin, const uint8_t* end, uint32_t node, uint32_t stop,
                                     bool quoted) {
    size_t& room = node ? wanted_room_ : unwanted_room_;
    if (room == 0) {
        other_.node = node;
        other_.stop = stop;
        other_.quoted = quoted;
        return &other_;
    }
    room--;
    const size_t size = size_t(end - begin);
    uint8_t ones[16];
    std::memset(ones, 255, sizeof ones);
    texts_.emplace_back(new char[size + 16]());
    char* text = texts_.back().get();
    std::memcpy(text + 16, begin, size);
    entries_.emplace_back(new Entry());
    Entry& entry = *entries_.back();
    entry.tail = tail_of(reinterpret_cast<const uint8_t*>(text) + 16 + size, size);
    entry.mask = tail_of(ones + 16, size);
    entry.size = uint32_t(size);
    entry.text = text + 16;
    entry.node = node;
    entry.stop = stop;
    entry.quoted = quoted;
    if (slots_least * entries_.size() > slots_.size()) {
        slots_.assign(2 * slots_.size(), nullptr);
        mask_ = slots_.size() - 1;
        shift_--;
        rebuild();
    } else if (!place(&entry) && entries_.size() <= alone_most) {
        rebuild();
    }
    return &entry;
}

}  // namespace formatter
