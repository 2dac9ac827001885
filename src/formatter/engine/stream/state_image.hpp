// A flat byte image of state: little-endian numbers and length-prefixed bytes, versioned and checksummed at the ends.
// In: values, or bytes from anywhere. Out: bytes, or the values, or that they are none. Refuses to know what the state
// means: whoever does describes it once, by naming its parts to either of both.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace formatter {

inline uint64_t checksum64(const char* data, size_t size) {
    // FNV-1a, 64 bit: guards against truncation and bit rot, not against an adversary.
    uint64_t hash = 14695981039346656037ull;
    for (size_t i = 0; i < size; i++) hash = (hash ^ uint8_t(data[i])) * 1099511628211ull;
    return hash;
}

class ImageWriter {
  public:
    explicit ImageWriter(const char* magic) { image_.append(magic, 8); }
    static constexpr bool reads = false;
    bool fine() const { return true; }

    template <typename... Values>
    void numbers(const Values&... values) {
        (number(uint64_t(values)), ...);
    }
    template <typename... Flags>
    void flags(const Flags&... flags) {
        uint64_t packed = 0, bit = 0;
        ((packed |= uint64_t(flags) << bit++), ...);
        number(packed);
    }
    void text(const std::string& text) { bytes(text.data(), text.size()); }
    void number(uint64_t value) { image_.append(reinterpret_cast<const char*>(&value), 8); }
    void bytes(const void* data, size_t size) {
        number(size);
        image_.append(static_cast<const char*>(data), size);
    }
    std::string finish() {
        number(checksum64(image_.data(), image_.size()));
        return std::move(image_);
    }

  private:
    std::string image_;
};

// Reading past the end or a wrong magic or checksum makes `fine` false; numbers are then 0 and bytes empty.
class ImageReader {
  public:
    ImageReader(const std::string& image, const char* magic)
        : at_(image.data() + 8), end_(image.data() + image.size()) {
        fine_ = image.size() >= 16 && std::memcmp(image.data(), magic, 8) == 0;
        if (!fine_) return;
        end_ -= 8;
        uint64_t sum;
        std::memcpy(&sum, end_, 8);
        fine_ = sum == checksum64(image.data(), image.size() - 8);
    }
    static constexpr bool reads = true;
    bool fine() const { return fine_; }

    template <typename... Values>
    void numbers(Values&... values) {
        ((values = Values(number())), ...);
    }
    template <typename... Flags>
    void flags(Flags&... flags) {
        uint64_t packed = number();
        ((flags = packed & 1, packed >>= 1), ...);
    }
    void text(std::string& text) { text = bytes(); }
    bool at_end() const { return fine_ && at_ == end_; }
    uint64_t number() {
        uint64_t value = 0;
        if (fine_ && end_ - at_ >= 8) {
            std::memcpy(&value, at_, 8);
            at_ += 8;
        } else {
            fine_ = false;
        }
        return value;
    }
    std::string bytes() {
        const uint64_t size = number();
        if (!fine_ || uint64_t(end_ - at_) < size) {
            fine_ = false;
            return {};
        }
        std::string found(at_, size);
        at_ += size;
        return found;
    }

  private:
    const char* at_;
    const char* end_;
    bool fine_;
};

}  // namespace formatter
