// The saved image of a shred ring. Refuses to know where the bytes are kept.
//
// In: a ring, or bytes from anywhere. Out: bytes, or a ring that behaves as the saved one, or the reason why not.
// Nothing in the bytes is trusted: a wrong checksum and a state no ring can be in are both refused.
//
//      offset  0  magic "FmSR"     4  version u16   6  owner byte   7  flags (bit 0: finished)
//              8  max_sequence    16  prefix       24  last delimiter   32  highest   all u64, little endian, positions
//             40  pending u32     44  floor log2 u8, three zero bytes
//             48  a pair (seen u64, has_delimiter u64) for each 64 slots from prefix + 1 to highest
//            end  FNV-1a 64 of all bytes before
#include <cstring>

#include "engine/shred/shred_ring.hpp"
#include "engine/shred/stop_tree.hpp"

namespace formatter {

namespace {

constexpr size_t head_size = 48;
constexpr size_t sum_size = 8;
constexpr uint8_t magic[4] = {'F', 'm', 'S', 'R'};
constexpr uint64_t version = 1;
constexpr uint8_t highest_log2 = 26;
static_assert(uint64_t(1) << highest_log2 == ShredRing::max_slots, "the image knows the largest window");

void put(uint8_t* at, uint64_t value, int bytes) noexcept {
    for (int i = 0; i < bytes; ++i) at[i] = static_cast<uint8_t>(value >> (8 * i));
}

uint64_t get(const uint8_t* at, int bytes) noexcept {
    uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= uint64_t(at[i]) << (8 * i);
    return value;
}

// Each step is one-to-one in the state, so no change of a single byte goes unnoticed.
uint64_t checksum(const uint8_t* bytes, size_t count) noexcept {
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < count; ++i) sum = (sum ^ bytes[i]) * 0x100000001b3u;
    return sum;
}

}  // namespace

size_t ShredRing::serialized_size() const noexcept {
    return head_size + (highest_ - prefix_ + 63) / 64 * sizeof(SlotWord) + sum_size;
}

void ShredRing::serialize(uint8_t* out, uint8_t owner_byte) const noexcept {
    std::memcpy(out, magic, sizeof magic);
    put(out + 4, version, 2);
    out[6] = owner_byte;
    out[7] = finished_ ? 1 : 0;
    put(out + 8, max_sequence_, 8);
    put(out + 16, prefix_, 8);
    put(out + 24, last_delimiter_, 8);
    put(out + 32, highest_, 8);
    put(out + 40, pending_, 4);
    put(out + 44, floor_log2_, 4);
    // Aligned to prefix + 1, whatever the ring's size, so equal states have equal images.
    uint8_t* at = out + head_size;
    const uint64_t last_word = word_count() - 1, shift = (prefix_ + 1) & 63;
    for (uint64_t left = highest_ - prefix_; left != 0; left -= left < 64 ? left : 64, at += sizeof(SlotWord)) {
        const uint64_t from = highest_ - left + 1;
        const SlotWord& low = words()[from >> 6 & last_word];
        const SlotWord& high = words()[((from >> 6) + 1) & last_word];
        uint64_t seen = low.seen >> shift, delimited = low.delimited >> shift;
        if (shift != 0) {
            seen |= high.seen << (64 - shift);
            delimited |= high.delimited << (64 - shift);
        }
        const uint64_t mask = left >= 64 ? ~uint64_t(0) : (uint64_t(1) << left) - 1;
        put(at, seen & mask, 8);
        put(at + 8, delimited & mask, 8);
    }
    put(at, checksum(out, static_cast<size_t>(at - out)), 8);
}

ShredRing::RestoreStatus ShredRing::restore(const uint8_t* bytes, size_t byte_count, ShredRing& ring,
                                            uint8_t* owner_byte) noexcept {
    if (byte_count >= sizeof magic && std::memcmp(bytes, magic, sizeof magic) != 0)
        return RestoreStatus::not_a_snapshot;
    if (byte_count < head_size + sum_size) return RestoreStatus::truncated;
    if (get(bytes + 4, 2) != version) return RestoreStatus::wrong_version;

    const uint64_t prefix = get(bytes + 16, 8), last_delimiter = get(bytes + 24, 8), highest = get(bytes + 32, 8);
    const uint64_t pending = get(bytes + 40, 4), floor_log2 = get(bytes + 44, 4);
    if (highest < prefix || highest - prefix > max_slots) return RestoreStatus::corrupt;
    const size_t size = head_size + (highest - prefix + 63) / 64 * sizeof(SlotWord) + sum_size;
    if (byte_count < size) return RestoreStatus::truncated;
    if (byte_count > size || get(bytes + size - sum_size, 8) != checksum(bytes, size - sum_size))
        return RestoreStatus::corrupt;
    if (last_delimiter > prefix || bytes[7] > 1 || floor_log2 < 6 || floor_log2 > highest_log2)
        return RestoreStatus::corrupt;

    uint64_t counted = 0;
    for (uint64_t i = 0; i * 64 < highest - prefix; ++i) {
        const uint8_t* const at = bytes + head_size + i * sizeof(SlotWord);
        const uint64_t seen = get(at, 8), delimited = get(at + 8, 8), left = highest - prefix - i * 64;
        counted += static_cast<uint64_t>(__builtin_popcountll(seen));
        const bool past_end = left < 64 && seen >> left != 0;
        const bool ends_seen = left > 64 || (seen >> (left - 1) & 1) != 0;
        if ((i == 0 && (seen & 1) != 0) || (delimited & ~seen) != 0 || past_end || !ends_seen)
            return RestoreStatus::corrupt;
    }
    if (counted != pending || (bytes[7] == 1 && pending != 0)) return RestoreStatus::corrupt;

    ShredRing restored(get(bytes + 8, 8), uint64_t(1) << floor_log2);
    restored.prefix_ = restored.highest_ = prefix;
    if (highest - prefix > restored.reach()) return RestoreStatus::corrupt;
    if (highest - prefix > restored.slots() && restored.grow(highest - prefix) != Status::ok)
        return RestoreStatus::no_memory;
    restored.last_delimiter_ = last_delimiter;
    restored.highest_ = highest;
    restored.pending_ = static_cast<uint32_t>(pending);
    restored.finished_ = bytes[7] == 1;
    for (uint64_t i = 0; i * 64 < highest - prefix; ++i) {
        const uint8_t* const at = bytes + head_size + i * sizeof(SlotWord);
        const uint64_t seen = get(at, 8), delimited = get(at + 8, 8), from = prefix + 1 + i * 64, shift = from & 63;
        SlotWord& low = restored.words()[from >> 6 & (restored.word_count() - 1)];
        low.seen |= seen << shift;
        low.delimited |= delimited << shift;
        if (shift == 0) continue;
        SlotWord& high = restored.words()[((from >> 6) + 1) & (restored.word_count() - 1)];
        high.seen |= seen >> (64 - shift);
        high.delimited |= delimited >> (64 - shift);
    }
    if (restored.heap_ != nullptr)
        for (uint64_t word = 0; word < restored.word_count(); ++word)
            if (restored.heap_[word].stops() == 0) stop_tree::clear(restored.tree(), restored.word_count(), word);
    ring = static_cast<ShredRing&&>(restored);
    if (owner_byte != nullptr) *owner_byte = bytes[6];
    return RestoreStatus::ok;
}

}  // namespace formatter
