// Bytes to the positions of those of a set, for formats that declare what separates their parts.
//
//     bytes      P I D | 1 ^ A \r M S H      the set: | ^ \r, of which \r ends records
//     found      0 0 0 1 0 1 0 1  0 0 0      (bit 0 leftmost) one compare a byte of the set, joined by or
//     positions  3 5 7
//     ends       2                           which of the positions may end a record
//
// In: any bytes. Out: positions, ordinals. Refuses to know what the bytes mean and which of them count.
#pragma once

#include <iterator>

#include "kernels/kernel.hpp"
#include "kernels/separator_blocks.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

template <unsigned needle_count>
static void find_bytes_as(const uint8_t* data, size_t size, const ByteSet& set, BytePositions& found) {
    Needle needles[needle_count];
    // Fewer bytes than needles: the last one is looked for again.
    for (unsigned i = 0; i < needle_count; i++) needles[i] = make_needle(set.bytes[i < set.count ? i : 0]);
    uint32_t* out = found.positions;
    uint32_t* ends_out = found.ends;
    for (size_t offset = 0; offset < size; offset += 64) {
        uint64_t present = ~uint64_t(0);
        const Block block =
            size - offset >= 64 ? load_block(data + offset) : load_tail(data + offset, size - offset, present);
        uint64_t ends = equal_mask(block, needles[0]) & present;  // the first byte of the set is the record end's
        uint64_t mask = ends;
        for (unsigned i = 1; i < needle_count; i++) mask |= equal_mask(block, needles[i]);
        mask &= present;
        for (; ends != 0; ends &= ends - 1) {
            const uint64_t before = (ends & (0 - ends)) - 1;
            *ends_out++ = uint32_t(out - found.positions) + popcount(mask & before);
        }
        write_positions(mask, uint32_t(offset), out);
        out += popcount(mask);
    }
    found.count = size_t(out - found.positions);
    found.end_count = size_t(ends_out - found.ends);
}

template <unsigned needle_count>
static void mark_bytes_as(const uint8_t* data, size_t size, const ByteSet& set, uint32_t joined, uint64_t* bits,
                          size_t stride) {
    Needle needles[needle_count];
    uint64_t with_former[needle_count];
    for (unsigned i = 0; i < needle_count; i++) {
        needles[i] = make_needle(set.bytes[i]);
        with_former[i] = i > 1 && i <= joined ? ~uint64_t(0) : 0;
    }
    for (size_t word = 0; word * 64 < size; word++) {
        const size_t at = word * 64;
        uint64_t present = ~uint64_t(0), former = 0;
        const Block block = size - at >= 64 ? load_block(data + at) : load_tail(data + at, size - at, present);
        for (unsigned i = 0; i < needle_count; i++) {
            former = (equal_mask(block, needles[i]) & present) | (former & with_former[i]);
            bits[i * stride + word] = former;
        }
    }
}

static void mark_bytes(const uint8_t* data, size_t size, const ByteSet& set, uint32_t joined, uint64_t* bits,
                       size_t stride) {
    static constexpr decltype(&mark_bytes) by_count[] = {
        mark_bytes_as<1>, mark_bytes_as<2>, mark_bytes_as<3>, mark_bytes_as<4>,  mark_bytes_as<5>,  mark_bytes_as<6>,
        mark_bytes_as<7>, mark_bytes_as<8>, mark_bytes_as<9>, mark_bytes_as<10>, mark_bytes_as<11>, mark_bytes_as<12>,
    };
    static_assert(std::size(by_count) == ByteSet::most_marked, "a loop for each number of bytes");
    by_count[set.count - 1](data, size, set, joined, bits, stride);
}

static void find_bytes(const uint8_t* data, size_t size, const ByteSet& set, BytePositions& found) {
    if (set.count <= 1) return find_bytes_as<1>(data, size, set, found);
    if (set.count <= 2) return find_bytes_as<2>(data, size, set, found);
    if (set.count <= 4) return find_bytes_as<4>(data, size, set, found);
    if (set.count <= 6) return find_bytes_as<6>(data, size, set, found);
    if (set.count <= 8) return find_bytes_as<8>(data, size, set, found);
    find_bytes_as<ByteSet::most>(data, size, set, found);
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
