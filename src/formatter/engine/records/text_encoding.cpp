#include "engine/records/text_encoding.hpp"

#include <algorithm>
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

// What bytes 0x80 to 0x9F are in windows-1252; those that it leaves open stay what they are in latin-1.
constexpr uint16_t windows1252[32] = {0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                      0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                      0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                      0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

Transcoded windows1252_to_utf8(const uint8_t* data, size_t size, uint8_t* out) {
    uint8_t* const begin = out;
    for (size_t at = 0; at < size;) {
        size_t end = at;
        while (end < size && (data[end] & 0xE0) != 0x80) end++;
        out += latin1_to_utf8(data + at, end - at, out).text_size;
        for (at = end; at < size && (data[at] & 0xE0) == 0x80; at++) out += put_utf8(windows1252[data[at] & 0x1F], out);
    }
    return {size_t(out - begin), size};
}

uint8_t in_windows1252(uint32_t c) {
    const auto found = std::find(windows1252, windows1252 + 32, c);
    return found == windows1252 + 32 ? uint8_t(c) : uint8_t(0x80 + (found - windows1252));
}

// Bytes of the character that begins there, or of the longest part of one, which is `cut` then.
size_t character_size(const uint8_t* data, size_t size, bool* cut) {
    const uint8_t lead = data[0];
    *cut = false;
    if (lead < 0x80) return 1;
    const size_t wanted = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    uint8_t low = 0x80, high = 0xBF;  // of the second byte
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
    size_t met = 1;
    for (; met < wanted && met < size && data[met] >= low && data[met] <= high; met++) low = 0x80, high = 0xBF;
    *cut = met != wanted;
    return met;
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
        case TextEncoding::windows1252: return windows1252_to_utf8(data, size, out);
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
    if (is_one_byte(encoding)) return characters;
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
        } else if (encoding == TextEncoding::windows1252) {
            source.push_back(char(in_windows1252(c)));
        } else if (c < 0x10000) {
            put(c);
        } else {
            put(0xD800 | (c - 0x10000) >> 10);
            put(0xDC00 | ((c - 0x10000) & 0x3FF));
        }
    }
    return source;
}

std::string repaired_utf8(TextErrors errors, const uint8_t* data, size_t size) {
    std::string text(most_utf8(size), '\0');
    uint8_t* const out = reinterpret_cast<uint8_t*>(&text[0]);
    if (errors == TextErrors::latin1) {
        text.resize(latin1_to_utf8(data, size, out).text_size);
        return text;
    }
    size_t written = 0;
    for (size_t at = 0; at < size;) {
        bool cut;
        const size_t bytes = character_size(data + at, size - at, &cut);
        if (cut)
            written += put_utf8(0xFFFD, out + written);
        else
            std::memcpy(out + written, data + at, bytes), written += bytes;
        at += bytes;
    }
    text.resize(written);
    return text;
}

}  // namespace formatter
