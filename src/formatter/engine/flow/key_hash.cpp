// In: bytes and seeds. Out: XXH64 as published by its author, the same on every machine. Refuses to know rows' meaning.
#include "engine/flow/key_hash.hpp"

#include <cstring>

namespace formatter {

namespace {

constexpr uint64_t kPrime1 = 11400714785074694791ULL;
constexpr uint64_t kPrime2 = 14029467366897019727ULL;
constexpr uint64_t kPrime3 = 1609587929392839161ULL;
constexpr uint64_t kPrime4 = 9650029242287828579ULL;
constexpr uint64_t kPrime5 = 2870177450012600261ULL;

template <typename Word>
Word load_little_endian(const uint8_t* at) {
    Word word;
    std::memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = sizeof word == 8 ? __builtin_bswap64(word) : __builtin_bswap32(word);
#endif
    return word;
}

inline uint64_t rotate(uint64_t word, int bits) { return (word << bits) | (word >> (64 - bits)); }
inline uint64_t lane(uint64_t state, uint64_t word) { return rotate(state + word * kPrime2, 31) * kPrime1; }
inline uint64_t merge(uint64_t hash, uint64_t state) { return (hash ^ lane(0, state)) * kPrime1 + kPrime4; }

inline uint64_t avalanche(uint64_t hash) {
    hash = (hash ^ (hash >> 33)) * kPrime2;
    hash = (hash ^ (hash >> 29)) * kPrime3;
    return hash ^ (hash >> 32);
}

inline uint64_t take8(uint64_t hash, uint64_t word) { return rotate(hash ^ lane(0, word), 27) * kPrime1 + kPrime4; }
inline uint64_t take4(uint64_t hash, uint64_t word) { return rotate(hash ^ (word * kPrime1), 23) * kPrime2 + kPrime3; }

inline bool is_valid(const uint8_t* valid, int64_t bit) {
    return valid == nullptr || ((valid[bit >> 3] >> (bit & 7)) & 1) != 0;
}

}  // namespace

uint64_t xxh64(const void* bytes, size_t size, uint64_t seed) {
    const uint8_t* at = static_cast<const uint8_t*>(bytes);
    const uint8_t* const end = at + size;
    uint64_t hash;
    if (size >= 32) {
        uint64_t a = seed + kPrime1 + kPrime2, b = seed + kPrime2, c = seed, d = seed - kPrime1;
        for (; end - at >= 32; at += 32) {
            a = lane(a, load_little_endian<uint64_t>(at));
            b = lane(b, load_little_endian<uint64_t>(at + 8));
            c = lane(c, load_little_endian<uint64_t>(at + 16));
            d = lane(d, load_little_endian<uint64_t>(at + 24));
        }
        hash = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
        hash = merge(merge(merge(merge(hash, a), b), c), d);
    } else {
        hash = seed + kPrime5;
    }
    hash += size;
    for (; end - at >= 8; at += 8) hash = take8(hash, load_little_endian<uint64_t>(at));
    if (end - at >= 4) {
        hash = take4(hash, load_little_endian<uint32_t>(at));
        at += 4;
    }
    for (; at != end; ++at) hash = rotate(hash ^ (*at * kPrime5), 11) * kPrime1;
    return avalanche(hash);
}

void hash_fixed(const uint8_t* values, int width, const uint8_t* valid, int64_t offset, int64_t rows,
                uint64_t* hashes) {
    const uint8_t* at = values + offset * width;
    for (int64_t row = 0; row < rows; ++row, at += width) {
        if (!is_valid(valid, offset + row)) continue;
        hashes[row] = avalanche(width == 8 ? take8(hashes[row] + kPrime5 + 8, load_little_endian<uint64_t>(at))
                                           : take4(hashes[row] + kPrime5 + 4, load_little_endian<uint32_t>(at)));
    }
}

void hash_bytes(const uint8_t* bytes, const int64_t* value_offsets, const uint8_t* valid, int64_t offset, int64_t rows,
                uint64_t* hashes) {
    const int64_t* from = value_offsets + offset;
    for (int64_t row = 0; row < rows; ++row) {
        if (!is_valid(valid, offset + row)) continue;
        hashes[row] = xxh64(bytes + from[row], static_cast<size_t>(from[row + 1] - from[row]), hashes[row]);
    }
}

}  // namespace formatter
