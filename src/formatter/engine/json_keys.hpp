// The keys of one object of the schema as they have been spelled so far. In: the bytes between what separates members and
// a colon. Out: which spelling that is. Two spellings of one key are two entries: what stands there need not be understood
// again, only compared. Knows no JSON: who adds an entry has read its bytes.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace formatter {

class JsonKeys {
  public:
    struct Entry;

    JsonKeys() : JsonKeys(0) {}
    explicit JsonKeys(size_t wanted);

    // What stands in [begin, end), or null if that was never added. At least sixteen bytes before `end` can be read.
    // `before`: the entry of the key before it, null for an object's first. What followed it last is looked at first.
    const Entry* find(const uint8_t* begin, const uint8_t* end, const Entry* before);

    // An entry more that stands for `node`, 0 for none. Beyond a limit it is not found again.
    const Entry* add(const uint8_t* begin, const uint8_t* end, uint32_t node);

    static constexpr size_t reach = 16;

  private:
    typedef uint64_t Pair __attribute__((vector_size(16)));

  public:
    struct Entry {
        Pair tail;  // its last sixteen bytes, zeros before
        uint64_t size;
        mutable const Entry* next;  // the one that was seen behind it
        const char* text;
        uint32_t node;
    };

  private:
    static Pair tail_of(const uint8_t* end, size_t size) {
        alignas(16) static const uint8_t edge[32] = {0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
                                                     0,   0,   0,   0,   0,   255, 255, 255, 255, 255, 255,
                                                     255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
        Pair bytes, mask;
        std::memcpy(&bytes, end - 16, 16);
        std::memcpy(&mask, edge + (size < 16 ? size : 16), 16);
        return bytes & mask;
    }
    static uint64_t hash_of(const Pair& tail, uint64_t size) {
        return ((tail[0] ^ size) * 0x9E3779B97F4A7C15 + tail[1]) * 0xC2B2AE3D27D4EB4F;
    }
    bool is(const Entry& entry, const Pair& tail, const uint8_t* begin, size_t size) const {
        const Pair differs = entry.tail ^ tail;
        return (differs[0] | differs[1] | (entry.size ^ size)) == 0 &&
               (size <= 16 || std::memcmp(entry.text, begin, size - 16) == 0);
    }
    void insert(uint32_t entry);

    size_t wanted_room_, unwanted_room_;
    std::vector<std::unique_ptr<Entry>> entries_;
    std::vector<std::unique_ptr<char[]>> texts_;
    std::vector<uint32_t> slots_;  // entry + 1, or 0
    unsigned shift_ = 0;
    Entry start_{};  // what is before the first
    Entry other_{};  // not remembered
    int luck_ = 0;  // how often guesses were right of late
};

inline const JsonKeys::Entry* JsonKeys::find(const uint8_t* begin, const uint8_t* end, const Entry* before) {
    constexpr int most_luck = 64, trusted = 8, lost = 4;
    const size_t size = size_t(end - begin);
    const Pair tail = tail_of(end, size);
    if (!before) before = &start_;
    const Entry* const likely = before->next;
    // Where keys come in any order, a guess that fails costs more than the look-up.
    if (luck_ >= trusted && likely && is(*likely, tail, begin, size)) {
        luck_ += luck_ < most_luck;
        return likely;
    }
    const size_t mask = slots_.size() - 1;
    for (size_t slot = hash_of(tail, size) >> shift_;; slot = (slot + 1) & mask) {
        const uint32_t found = slots_[slot];
        if (found == 0) return nullptr;
        const Entry* entry = entries_[found - 1].get();
        if (!is(*entry, tail, begin, size)) continue;
        const int luck = luck_ + (entry == likely ? 1 : -lost);
        luck_ = luck < 0 ? 0 : luck;
        before->next = entry;
        return entry;
    }
}

}  // namespace formatter
