#include "engine/whole/crc32c.hpp"

namespace formatter {
namespace {

constexpr uint32_t reversed_polynomial = 0x82F63B78;
constexpr int at_once = 8;  // bytes a step; each has a table for where it stands

struct Tables {
    uint32_t of[at_once][256];
};

constexpr Tables make_tables() {
    Tables tables{};
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t rest = byte;
        for (int bit = 0; bit < 8; bit++) rest = rest >> 1 ^ (rest & 1 ? reversed_polynomial : 0);
        tables.of[0][byte] = rest;
    }
    for (int place = 1; place < at_once; place++)
        for (uint32_t byte = 0; byte < 256; byte++) {
            const uint32_t before = tables.of[place - 1][byte];
            tables.of[place][byte] = before >> 8 ^ tables.of[0][before & 255];
        }
    return tables;
}

constexpr Tables tables = make_tables();

}  // namespace

uint32_t crc32c(const uint8_t* data, size_t size) {
    uint32_t crc = ~uint32_t(0);
    for (; size >= at_once; data += at_once, size -= at_once) {
        for (int i = 0; i < 4; i++) crc ^= uint32_t(data[i]) << 8 * i;
        uint32_t next = 0;
        for (int i = 0; i < 4; i++) next ^= tables.of[at_once - 1 - i][crc >> 8 * i & 255];
        for (int i = 4; i < at_once; i++) next ^= tables.of[at_once - 1 - i][data[i]];
        crc = next;
    }
    for (; size > 0; data++, size--) crc = crc >> 8 ^ tables.of[0][(crc ^ *data) & 255];
    return ~crc;
}

}  // namespace formatter
