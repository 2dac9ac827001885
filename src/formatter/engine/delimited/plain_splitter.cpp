#include "engine/delimited/plain_splitter.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <set>

namespace formatter {
namespace {

constexpr uint32_t none = ~uint32_t(0);
constexpr char trimmed[] = {' ', '\t'};  // as is_blank has it

// The first bit from there on; there is one.
inline uint32_t next_bit(const uint64_t* bits, uint32_t from) {
    uint32_t word = from / 64;
    uint64_t left = bits[word] >> (from % 64) << (from % 64);
    while (left == 0) left = bits[++word];
    return word * 64 + uint32_t(__builtin_ctzll(left));
}

// The one behind `passed` others, or any behind `end`.
inline uint32_t later_bit(const uint64_t* bits, uint32_t from, uint32_t end, uint32_t passed) {
    uint32_t word = from / 64;
    uint64_t left = bits[word] >> (from % 64) << (from % 64);
    while (true) {
        for (; left != 0; left &= left - 1)
            if (passed-- == 0) return word * 64 + uint32_t(__builtin_ctzll(left));
        if (++word * 64 > end) return end;
        left = bits[word];
    }
}

inline bool is_set(const uint64_t* bits, uint32_t at) { return (bits[at / 64] >> (at % 64) & 1) != 0; }

inline uint64_t low_bytes(uint64_t bytes, uint32_t count) {
    return count < 8 ? bytes & ~(~uint64_t(0) << (8 * count)) : bytes;
}

}  // namespace

bool PlainSplitter::fits(const DelimitedFormat& format) {
    const auto is_plain = [](const Level& level) {
        return !level.collapses && level.separator.size() == 1 && level.key_end.size() <= 1 &&
               level.key_end != level.separator;
    };
    const auto end = format.levels.begin() + ptrdiff_t(levels_reached(format));
    std::set<char> others;
    if (format.bare_escapes)
        for (const Escape& escape : format.escapes) others.insert(escape.written[0]);
    for (auto level = format.levels.begin(); level != end; ++level)
        if (!level->key_end.empty()) others.insert(level->key_end[0]);
    return format.marks.empty() && !escapes_separate(format) && std::all_of(format.levels.begin(), end, is_plain) &&
           1 + levels_reached(format) + others.size() + (format.trim ? std::size(trimmed) : 0) <= ByteSet::most_marked;
}

PlainSplitter::PlainSplitter(const DelimitedFormat& format) : PartBounds(format) {
    const size_t reached = levels_reached(format);
    const auto mark = [this](char byte) {
        bytes_.bytes[bytes_.count] = uint8_t(byte);
        return bytes_.count++;
    };
    for (size_t k = 0; k < reached; k++) levels_.push_back(mark(format.levels[k].separator[0]));
    ending_ = levels_;
    std::map<char, uint32_t> others;
    const auto mark_other = [&](char byte) { return others.count(byte) ? others[byte] : others[byte] = mark(byte); };
    for (size_t k = 0; k < reached; k++) {
        const std::string& key_end = format.levels[k].key_end;
        const bool cuts_below = k + 1 < reached && key_end == format.levels[k + 1].separator;
        key_ends_.push_back(key_end.empty() ? none : cuts_below ? levels_[k + 1] : mark_other(key_end[0]));
        if (!key_end.empty()) ending_.push_back(key_ends_.back());
    }
    for (uint32_t c = 0; c < 256 && format.bare_escapes; c++)  // without marks nothing else is within any
        if (format.escapes.leads(uint8_t(c))) escape_leads_.push_back(mark_other(char(c)));
    for (const char blank : trimmed)
        if (format.trim) blank_bytes_.push_back(mark(blank));
    for (const PathNode& node : format.nodes) nodes_.push_back(node_of(node));
}

PlainSplitter::Node PlainSplitter::node_of(const PathNode& path) const {
    Node node;
    if (path.children.empty()) return node;
    node.separator = levels_[path.level];
    node.key_end = key_ends_[path.level];
    for (const uint32_t part : path.children) {
        const Step step = step_to(part);
        const std::string& key = format_.nodes[part].key;
        if (node.key_end == none) {
            node.steps.push_back(step);
            continue;
        }
        uint64_t bytes = 0;
        for (size_t i = 0; i < std::min(key.size(), sizeof bytes); i++) bytes |= uint64_t(uint8_t(key[i])) << (8 * i);
        node.key_size = node.keys.empty() || node.key_size == key.size() ? uint32_t(key.size()) : 0;
        node.keys.push_back({bytes, uint32_t(key.size()), &key, step});
    }
    if (format_.trim) node.key_size = 0;  // blanks may stand before a key
    return node;
}

PlainSplitter::Step PlainSplitter::step_to(uint32_t part) const {
    const PathNode* path = &format_.nodes[part];
    Step step{path->number, part, path->rest};
    step.end = levels_[path->level - 1];
    const auto first_part = [this](const PathNode& of) {
        if (format_.trim || !of.targets.empty() || of.children.size() != 1 || key_ends_[of.level] != none) return none;
        const PathNode& child = format_.nodes[of.children[0]];
        return child.number == 0 && !child.rest ? of.children[0] : none;
    };
    for (uint32_t first; (first = first_part(*path)) != none; path = &format_.nodes[first]) {
        step.end = levels_[path->level];
        step.node = first;
    }
    step.is_one_value = !format_.trim && path->children.empty() && path->targets.size() == 1 && !path->targets[0].raw &&
                        path->targets[0].range.is_all();
    if (step.is_one_value) step.column = path->targets[0].column;
    return step;
}

void PlainSplitter::join_blanks(uint64_t* bits, size_t stride) const {
    for (size_t k = 1; k < blank_bytes_.size(); k++)
        for (size_t word = 0; word < stride; word++)
            bits[blank_bytes_[0] * stride + word] |= bits[blank_bytes_[k] * stride + word];
}

void PlainSplitter::split(const uint8_t* base, size_t size, uint64_t* bits, size_t stride, uint32_t begin, uint32_t end,
                          uint32_t* bounds) {
    begin_record(base, bounds);
    bits_ = bits;
    stride_ = stride;
    size_ = size;
    blanks_ = blank_bytes_.empty() ? nullptr : bits_of(blank_bytes_[0]);
    escapes_begin_ = escapes_end_ = end;
    for (const uint32_t lead : escape_leads_) {  // mostly there is none, or one where the separators are named
        const uint32_t first = later_bit(bits_of(lead), begin, end, 0);
        if (first >= end) continue;
        const bool alone = escapes_begin_ == end && later_bit(bits_of(lead), first + 1, end, 0) >= end;
        escapes_end_ = alone ? first + 1 : end;
        escapes_begin_ = std::min(escapes_begin_, first);
    }
    for (const uint32_t place : ending_) bits_of(place)[end / 64] |= uint64_t(1) << (end % 64);
    const PathNode& root = format_.nodes[0];
    for (const PathNode::Target& target : root.targets) write(target, begin, end);
    if (!root.children.empty()) split_level(nodes_[0], begin, end);
}

bool PlainSplitter::finds_escape(uint32_t begin, uint32_t end) const {
    for (const uint32_t lead : escape_leads_)
        for (uint32_t at = begin; (at = later_bit(bits_of(lead), at, end, 0)) < end; at++)
            if (escape_size(at, end)) return true;
    return false;
}

inline void PlainSplitter::take_value(const Step& step, uint32_t begin, uint32_t end) {
    write_whole(step.column, begin, end);
    if (holds_escape(begin, end)) escaped_.push_back(step.column);
}

inline void PlainSplitter::take_part(const Step& step, uint32_t begin, uint32_t end) {
    end = std::min(end, next_bit(bits_of(step.end), begin));
    step.is_one_value ? take_value(step, begin, end) : take(step, begin, end);
}

inline uint64_t PlainSplitter::first_bytes(uint32_t at, uint32_t count) const {
    uint64_t bytes = 0;
    if (size_ - at >= sizeof bytes)
        std::memcpy(&bytes, base_ + at, sizeof bytes);
    else
        std::memcpy(&bytes, base_ + at, size_ - at);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    return low_bytes(bytes, count);
}

inline const PlainSplitter::Step* PlainSplitter::step_of_key(Node& node, uint32_t at, uint32_t size) const {
    const uint64_t bytes = first_bytes(at, size);
    const Step* found = nullptr;
    for (Key& key : node.keys) {
        if (key.bytes != bytes || key.size != size) continue;
        if (size > sizeof bytes && std::memcmp(key.text->data(), base_ + at, size) != 0) continue;
        if (key.met++ == key.step.number) found = &key.step;
    }
    return found;
}

void PlainSplitter::split_positions(const Node& node, uint32_t begin, uint32_t end) {
    const uint64_t* const separators = bits_of(node.separator);
    uint32_t ordinal = 0;  // of the part that begins there
    for (const Step& step : node.steps) {
        if (step.number > ordinal) {
            const uint32_t before = later_bit(separators, begin, end, step.number - ordinal - 1);
            if (before >= end) return;
            begin = before + 1;
            ordinal = step.number;
        }
        if (step.rest)
            take_rest(format_.nodes[step.node], begin, end);
        else
            take_part(step, begin, end);
    }
}

// Ends as soon as every key was met: nothing behind could be wrong.
void PlainSplitter::split_keys(Node& node, uint32_t begin, uint32_t end) {
    const uint64_t* const separators = bits_of(node.separator);
    const uint64_t* const key_ends = bits_of(node.key_end);
    for (Key& key : node.keys) key.met = 0;
    const uint32_t size = node.key_size;
    for (size_t missing = node.keys.size();;) {
        const uint32_t part_end = std::min(end, next_bit(separators, begin));
        uint32_t key_end;
        if (size == 0)
            key_end = std::min(part_end, next_bit(key_ends, begin));
        else  // a longer one is none of them, whatever it begins with
            key_end = begin + size == part_end || (begin + size < part_end && is_set(key_ends, begin + size))
                          ? begin + size
                          : none;
        if (key_end != none) {
            uint32_t key = begin, behind = key_end;
            trim(&key, &behind);
            if (const Step* const step = step_of_key(node, key, behind - key)) {
                const uint32_t value = std::min(key_end + 1, part_end);
                take_part(*step, value, part_end);
                if (--missing == 0) return;
            }
        }
        if (part_end == end) return;
        begin = part_end + 1;
    }
}

void PlainSplitter::take(const Step& step, uint32_t begin, uint32_t end) {
    const PathNode& path = format_.nodes[step.node];
    trim(&begin, &end);
    for (const PathNode::Target& target : path.targets) {
        write(target, begin, end);
        if (!target.raw && holds_escape(begin, end)) escaped_.push_back(target.column);
    }
    if (!path.children.empty()) split_level(nodes_[step.node], begin, end);
}

}  // namespace formatter
