// A block laid over the ring must do what its buffers do one by one: the same claims, the same state, for small blocks
// too.
//
// In: a number of rounds. Out: exit code 0, or the first round that differs. Built and run by test_thread_sanitizer.py.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

#include "engine/shred/shred_block.hpp"
#include "engine/shred/shred_ring.hpp"

using formatter::SequenceSpan;
using formatter::ShredBlock;
using formatter::ShredRing;
using Spans = std::vector<std::pair<uint64_t, uint64_t>>;
using Status = ShredRing::Status;

namespace {

std::mt19937_64 random_bits(7);
uint64_t below(uint64_t end) { return random_bits() % end; }

std::vector<uint8_t> image_of(const ShredRing& ring) {
    std::vector<uint8_t> image(ring.serialized_size());
    ring.serialize(image.data());
    return image;
}

Spans sorted(const std::vector<SequenceSpan>& spans, size_t count) {
    Spans found;
    for (size_t i = 0; i < count; ++i) found.emplace_back(spans[i].first, spans[i].last);
    std::sort(found.begin(), found.end());
    return found;
}

bool round(uint64_t floor) {
    const uint64_t length = 1 + below(below(8) == 0 ? 5000 : 400), reach = 1 + below(below(2) == 0 ? 40 : 2 * length);
    const uint64_t rarity = uint64_t(1) << below(9);
    std::vector<std::pair<uint64_t, uint64_t>> late;
    for (uint64_t i = 1; i <= length; ++i) late.emplace_back(i + below(reach), i);
    std::sort(late.begin(), late.end());
    std::vector<uint8_t> flags(length + 1);
    for (uint8_t& flag : flags) flag = below(rarity) == 0;

    ShredRing blocks(0, floor), singles(0, floor);
    std::vector<SequenceSpan> by_block(2 * length + 1), one_by_one(2 * length);
    for (size_t start = 0; start < length;) {
        const size_t count = std::min<size_t>(1 + below(below(3) == 0 ? 300 : 20), length - start);
        std::vector<uint64_t> sequences;
        std::vector<uint8_t> delimited;
        for (size_t i = start; i < start + count; ++i) {
            sequences.push_back(late[i].second);
            delimited.push_back(flags[late[i].second]);
        }
        start += count;
        size_t block_claims = 0, single_claims, taken;
        if (singles.process_many(sequences.data(), delimited.data(), count, false, one_by_one.data(), single_claims,
                                 taken) != Status::ok)
            return false;
        ShredBlock block;
        if (block.gather(sequences.data(), delimited.data(), count)) {
            const std::vector<uint8_t> before = image_of(blocks);
            if (!blocks.merge(block, by_block.data(), block_claims)) return false;
            const std::vector<uint8_t> after = image_of(blocks);
            size_t again = 0;  // all of it is a duplicate now: declined, and nothing changes
            if (blocks.merge(block, by_block.data() + block_claims, again) || again != 0 || image_of(blocks) != after)
                return false;
            if (before == after) return false;
        } else if (blocks.process_many(sequences.data(), delimited.data(), count, false, by_block.data(), block_claims,
                                       taken) != Status::ok) {
            return false;
        }
        if (sorted(by_block, block_claims) != sorted(one_by_one, single_claims)) return false;
        if (image_of(blocks) != image_of(singles)) return false;
    }
    return blocks.prefix() == length && blocks.pending() == 0;
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 2000;
    for (int i = 0; i < rounds; ++i)
        if (!round(uint64_t(64) << i % 4)) {
            std::printf("round %d differs\n", i);
            return 1;
        }
    std::printf("blocks and single buffers agree\n");
    return 0;
}
