// The distinct texts of a column, each with a code: 0, 1, 2 in the order they were met. In: bytes. Out: codes, and the
// texts as offsets and bytes. Knows nothing of fields, quotes or UTF-8.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "engine/columns/buffer_pool.hpp"

namespace formatter {

class TextDictionary {
  public:
    static constexpr int32_t unknown = -1;

    uint32_t size() const { return uint32_t(ends_.size()); }
    uint64_t text_bytes() const { return ends_.empty() ? 0 : ends_.back(); }
    uint64_t added_bytes() const { return text_bytes() - kept_bytes_; }  // since keep()
    void keep() { kept_bytes_ = text_bytes(); }
    // `unknown` if the text has not been added.
    int32_t find(const uint8_t* bytes, size_t size) const {
        if (slots_.empty()) return unknown;
        const uint32_t hash = hash_of(bytes, size);
        for (size_t at = hash & mask_;; at = (at + 1) & mask_) {
            const Slot& slot = slots_[at];
            if (slot.code == unknown) return unknown;
            if (slot.hash == hash && equals(slot, bytes, size)) return slot.code;
        }
    }
    // The code of a text that find() does not know.
    int32_t add(const uint8_t* bytes, size_t size);
    // Copies of what is there; offsets are 64 bit when `large`.
    void copy_to(PoolBuffer* offsets, PoolBuffer* text, bool large) const;
    void clear();

    // A mark the caller may set on the text added last.
    void mark_last() { marked_.back() = 1; }
    bool is_marked(int32_t code) const { return marked_[size_t(code)] != 0; }
    struct Text {
        const uint8_t* data;
        size_t size;
    };
    Text last() const {
        const uint64_t begin = ends_.size() > 1 ? ends_[ends_.size() - 2] : 0;
        return {text_.data() + begin, size_t(ends_.back() - begin)};
    }

  private:
    struct Slot {
        uint32_t hash;
        int32_t code;
        uint64_t begin;  // of its text
        uint32_t size;
    };

    // Not for the public: a good mix of all bits, at a few cycles a field.
    static uint32_t hash_of(const uint8_t* bytes, size_t size) {
        constexpr uint64_t odd = 0x9E3779B97F4A7C15;
        uint64_t hash = size * odd;
        size_t at = 0;
        for (; at + 8 <= size; at += 8) hash = mix(hash ^ load(bytes + at, 8)) * odd;
        if (at < size) hash = mix(hash ^ load_tail(bytes, at, size)) * odd;
        return uint32_t(mix(hash) >> 16);
    }
    static uint64_t mix(uint64_t word) {
        const unsigned __int128 product = static_cast<unsigned __int128>(word) * 0xD6E8FEB86659FD93;
        return uint64_t(product) ^ uint64_t(product >> 64);
    }
    static uint64_t load(const uint8_t* from, size_t size) {
        uint64_t word = 0;
        std::memcpy(&word, from, size);
        return word;
    }
    // The bytes from `at` on, fewer than eight: as the last eight if there are so many in all.
    static uint64_t load_tail(const uint8_t* bytes, size_t at, size_t size) {
        if (size >= 8) return load(bytes + size - 8, 8);
        const size_t left = size - at;
        if (left >= 4) return load(bytes + at, 4) | load(bytes + size - 4, 4) << 32;
        return bytes[at] | uint64_t(bytes[at + left / 2]) << 8 | uint64_t(bytes[size - 1]) << 16;
    }
    bool equals(const Slot& slot, const uint8_t* bytes, size_t size) const {
        return slot.size == size && std::memcmp(text_.data() + slot.begin, bytes, size) == 0;
    }
    void grow();

    std::vector<Slot> slots_;  // open addressing, at most half full
    size_t mask_ = 0;
    std::vector<uint64_t> ends_;  // of the text of each code
    std::vector<uint8_t> marked_;
    PoolBuffer text_;
    uint64_t kept_bytes_ = 0;
};

}  // namespace formatter
