#include "engine/records/text_encoding.hpp"

#include <cstring>

namespace formatter {
namespace {

constexpr size_t stretch = 32;  // characters looked at together; the loops over them become vector instructions

size_t put_utf8(uint32_t c, uint8_t* out) {
    if (c < 0x80) {
        out[0] = uint8_t(c);
        return 1;
    }
    if (c < 0x800) {
        out[0] = uint8_t(0xC0 | c >> 6);
        out[1] = uint8_t(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = uint8_t(0xE0 | c >> 12);
        out[1] = uint8_t(0x80 | (c >> 6 & 0x3F));
        out[2] = uint8_t(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = uint8_t(0xF0 | c >> 18);
    out[1] = uint8_t(0x80 | (c >> 12 & 0x3F));
    out[2] = uint8_t(0x80 | (c >> 6 & 0x3F));
    out[3] = uint8_t(0x80 | (c & 0x3F));
    return 4;
}

Transcoded latin1_to_utf8(const uint8_t* data, size_t size, uint8_t* out) {
    uint8_t* const begin = out;
    size_t at = 0;
    while (at < size) {
        while (size - at >= stretch) {
            uint8_t high = 0;
            for (size_t i = 0; i < stretch; i++) high |= data[at + i];
            if (high & 0x80) break;
            std::memcpy(out, data + at, stretch);
            out += stretch;
            at += stretch;
        }
        const size_t end = size - at < stretch ? size : at + stretch;
        for (; at < end; at++) {  // both forms are written, the longer one counts where it must
            const uint8_t c = data[at];
            const uint8_t wide = c >> 7;
            out[0] = wide ? uint8_t(0xC0 | c >> 6) : c;
            out[1] = uint8_t(0x80 | (c & 0x3F));
            out += 1 + wide;
        }
    }
    return {size_t(out - begin), size};
}

template <bool big_endian>
uint16_t unit_at(const uint8_t* data) {
    return big_endian ? uint16_t(data[0] << 8 | data[1]) : uint16_t(data[1] << 8 | data[0]);
}

template <bool big_endian>
Transcoded utf16_to_utf8(const uint8_t* data, size_t size, bool final, uint8_t* out) {
    uint8_t* const begin = out;
    constexpr size_t low = big_endian ? 1 : 0;
    size_t at = 0;
    while (size - at >= 2) {
        while (size - at >= 2 * stretch) {
            uint8_t high = 0;
            for (size_t i = 0; i < stretch; i++)
                high |= uint8_t((data[at + 2 * i + low] & 0x80) | data[at + 2 * i + 1 - low]);
            if (high) break;
            for (size_t i = 0; i < stretch; i++) out[i] = data[at + 2 * i + low];
            out += stretch;
            at += 2 * stretch;
        }
        const size_t end = size - at < 2 * stretch ? size : at + 2 * stretch;
        while (end - at >= 2) {
            uint32_t c = unit_at<big_endian>(data + at);
            if ((c & 0xFC00) == 0xD800) {
                if (size - at < 4 && !final) return {size_t(out - begin), at};
                const uint32_t next = size - at < 4 ? 0 : unit_at<big_endian>(data + at + 2);
                if ((next & 0xFC00) == 0xDC00) {
                    c = 0x10000 + ((c & 0x3FF) << 10 | (next & 0x3FF));
                    at += 2;
                }
            }
            out += put_utf8(c, out);
            at += 2;
            if (at >= end) break;
        }
    }
    if (at < size && final) {
        *out++ = 0xFF;
        at = size;
    }
    return {size_t(out - begin), at};
}

}  // namespace

Transcoded to_utf8(TextEncoding encoding, const uint8_t* data, size_t size, bool final, uint8_t* out) {
    switch (encoding) {
        case TextEncoding::latin1: return latin1_to_utf8(data, size, out);
        case TextEncoding::utf16_le: return utf16_to_utf8<false>(data, size, final, out);
        case TextEncoding::utf16_be: return utf16_to_utf8<true>(data, size, final, out);
        case TextEncoding::utf8: break;
    }
    std::memcpy(out, data, size);
    return {size, size};
}

uint64_t source_size(TextEncoding encoding, const uint8_t* text, size_t size) {
    if (encoding == TextEncoding::utf8) return size;
    uint64_t characters = 0, beyond = 0, odd = 0;
    for (size_t i = 0; i < size; i++) {
        characters += (text[i] & 0xC0) != 0x80;
        beyond += text[i] >= 0xF0 && text[i] != 0xFF;
        odd += text[i] == 0xFF;
    }
    if (encoding == TextEncoding::latin1) return characters;
    return 2 * (characters + beyond) - odd;
}

std::string from_utf8(TextEncoding encoding, const std::string& text) {
    if (encoding == TextEncoding::utf8) return text;
    std::string source;
    for (size_t at = 0; at < text.size();) {
        const uint8_t lead = uint8_t(text[at]);
        const size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        uint32_t c = size == 1 ? lead : lead & (0x7Fu >> size);
        for (size_t i = 1; i < size && at + i < text.size(); i++) c = c << 6 | (uint8_t(text[at + i]) & 0x3F);
        at += size;
        const auto put = [&](uint32_t unit) {
            const char bytes[2] = {char(unit & 0xFF), char(unit >> 8)};
            source.push_back(bytes[encoding == TextEncoding::utf16_be]);
            source.push_back(bytes[encoding != TextEncoding::utf16_be]);
        };
        if (encoding == TextEncoding::latin1) {
            source.push_back(char(c));
        } else if (c < 0x10000) {
            put(c);
        } else {
            put(0xD800 | (c - 0x10000) >> 10);
            put(0xDC00 | ((c - 0x10000) & 0x3FF));
        }
    }
    return source;
}

}  // namespace formatter
