#include "engine/records/rescued_text.hpp"

namespace formatter {

void append_json_string(const uint8_t* text, size_t size, std::string* out) {
    static const char digits[] = "0123456789abcdef";
    out->push_back('"');
    for (size_t i = 0; i < size; i++) {
        const uint8_t byte = text[i];
        switch (byte) {
            case '"': *out += "\\\""; break;
            case '\\': *out += "\\\\"; break;
            case '\n': *out += "\\n"; break;
            case '\r': *out += "\\r"; break;
            case '\t': *out += "\\t"; break;
            default:
                if (byte >= ' ') {
                    out->push_back(char(byte));
                } else {
                    *out += "\\u00";
                    out->push_back(digits[byte >> 4]);
                    out->push_back(digits[byte & 15]);
                }
        }
    }
    out->push_back('"');
}

void append_json_value(const uint8_t* value, size_t size, std::string* out) {
    bool inside = false;
    for (size_t i = 0; i < size; i++) {
        const uint8_t byte = value[i];
        if (!inside && (byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n')) continue;
        out->push_back(char(byte));
        if (byte == '"') inside = !inside;
        if (inside && byte == '\\' && i + 1 < size) out->push_back(char(value[++i]));
    }
}

}  // namespace formatter
