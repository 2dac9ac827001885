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
    typedef uint64_t Pair __attribute__((vector_size(16)));

  public:
    struct alignas(64) Entry {
        Pair tail;  // its last sixteen bytes, zeros before
        Pair mask;  // where those are
        mutable const Entry* next;  // the one that was seen behind it
        const char* text;
        uint32_t size;
        uint32_t node;
        uint32_t stop;  // of whoever added it: where its value is noted, and whether inside its quotes
        bool quoted;
    };

    JsonKeys() : JsonKeys(0) {}
    explicit JsonKeys(size_t wanted);

    // What stands in [begin, end), or null if that was never added. At least sixteen bytes before `end` can be read.
    // `before`: the entry of the key before it, null for an object's first. What followed it last is looked at first.
    const Entry* find(const uint8_t* begin, const uint8_t* end, const Entry* before);

    // Whether keys have come in the same order of late. If not, look_up finds them without a guess; who uses it tells
    // how often, so that order is tried again some time.
    bool in_order() const { return guessing_; }
    const Entry* look_up(const uint8_t* begin, const uint8_t* end) const;
    void looked_up(unsigned count) {
        if (left_ <= count) turn();
        left_ -= guessing_ ? 0 : count;
    }

    // Whether that is this entry; at least sixteen bytes before `end` can be read.
    static bool is_likely(const Entry& entry, const uint8_t* begin, const uint8_t* end) {
        const size_t size = size_t(end - begin);
        Pair bytes;
        std::memcpy(&bytes, end - 16, 16);
        const Pair differs = (bytes & entry.mask) ^ entry.tail;
        return entry.size == size && (differs[0] | differs[1]) == 0 && (size <= 16 || begins(entry, begin, size));
    }

    // An entry more that stands for `node`, 0 for none. Beyond a limit it is not found again.
    const Entry* add(const uint8_t* begin, const uint8_t* end, uint32_t node, uint32_t stop, bool quoted);

    static constexpr size_t reach = 16;

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
    uint64_t slot_of(const Pair& tail, uint64_t size) const { return (tail[0] ^ tail[1] ^ size) * factor_ >> shift_; }
    bool is(const Entry& entry, const Pair& tail, const uint8_t* begin, size_t size) const {
        const Pair differs = entry.tail ^ tail;
        return (differs[0] | differs[1] | (entry.size ^ size)) == 0 && (size <= 16 || begins(entry, begin, size));
    }
    // What stands before the last sixteen bytes, of which there are more.
    static bool begins(const Entry& entry, const uint8_t* begin, size_t size) {
        if (size > 32) return std::memcmp(entry.text, begin, size - 16) == 0;
        Pair known, found;
        std::memcpy(&known, entry.text, 16);
        std::memcpy(&found, begin, 16);
        const Pair differs = known ^ found;
        return (differs[0] | differs[1]) == 0;
    }
    bool place(const Entry*);
    void rebuild();
    void turn();

    size_t wanted_room_, unwanted_room_;
    std::vector<std::unique_ptr<Entry>> entries_;
    std::vector<std::unique_ptr<char[]>> texts_;
    std::vector<const Entry*> slots_;
    uint64_t factor_ = 0x9E3779B97F4A7C15;
    unsigned shift_ = 0;
    Entry start_{};  // what is before the first
    Entry other_{};  // not remembered
    size_t mask_ = 0;
    // Guesses are made until so many have failed; then none, until so many keys have been found without.
    bool guessing_ = true;
    unsigned left_ = 1;
};

inline const JsonKeys::Entry* JsonKeys::look_up(const uint8_t* begin, const uint8_t* end) const {
    const size_t size = size_t(end - begin);
    const Pair tail = tail_of(end, size);
    for (size_t slot = slot_of(tail, size);; slot = (slot + 1) & mask_) {
        const Entry* const entry = slots_[slot];
        if (__builtin_expect(entry == nullptr || is(*entry, tail, begin, size), 1)) return entry;
    }
}

inline const JsonKeys::Entry* JsonKeys::find(const uint8_t* begin, const uint8_t* end, const Entry* before) {
    if (guessing_) {
        const Entry* const likely = (before ? before : &start_)->next;
        if (__builtin_expect(likely && is_likely(*likely, begin, end), 1)) return likely;
    }
    const Entry* const entry = look_up(begin, end);
    if (__builtin_expect(entry == nullptr, 0)) return nullptr;
    // Where keys come in any order, a guess that fails costs more than the look-up.
    if (--left_ == 0) turn();
    if (guessing_) (before ? before : &start_)->next = entry;
    return entry;
}

}  // namespace formatter
