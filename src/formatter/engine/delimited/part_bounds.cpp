#include "engine/delimited/part_bounds.hpp"

#include <algorithm>
#include <cstring>

namespace formatter {
namespace {

bool separates(const DelimitedFormat& format, char c) {
    const auto is_of = [c](const Level& level) {
        return level.separator[0] == c || (!level.key_end.empty() && level.key_end[0] == c);
    };
    const auto marks = [c](const Mark& mark) { return char(mark.open) == c || char(mark.close) == c; };
    const size_t levels = format.marks.empty() ? levels_reached(format) : format.levels.size();
    return std::any_of(format.levels.begin(), format.levels.begin() + ptrdiff_t(levels), is_of) ||
           std::any_of(format.marks.begin(), format.marks.end(), marks);
}

}  // namespace

void add_path(DelimitedFormat* format, const std::vector<PathStep>& steps, const PathNode::Target& target) {
    std::vector<PathNode>& nodes = format->nodes;
    uint32_t at = 0;
    for (uint32_t level = 0; level < steps.size(); level++) {
        const PathStep& step = steps[level];
        const auto same = [&](uint32_t n) {
            return nodes[n].key == step.key && nodes[n].number == step.number && nodes[n].rest == step.rest;
        };
        const std::vector<uint32_t>& known = nodes[at].children;
        const auto found = std::find_if(known.begin(), known.end(), same);
        if (found != known.end()) {
            at = *found;
            continue;
        }
        PathNode fresh;
        fresh.key = step.key;
        fresh.number = step.number;
        fresh.rest = step.rest;
        fresh.level = level + 1;
        const uint32_t child = uint32_t(nodes.size());
        nodes.push_back(fresh);
        PathNode& parent = nodes[at];
        if (!step.key.empty()) parent.key_sizes |= key_bit(step.key.size(), uint8_t(step.key[0]));
        const auto before = [&](uint32_t a, uint32_t b) {  // what begins a rest comes before the part alone
            return nodes[a].number != nodes[b].number ? nodes[a].number < nodes[b].number
                                                      : nodes[a].rest && !nodes[b].rest;
        };
        const bool positional = step.key.empty();
        parent.children.insert(positional
                                   ? std::upper_bound(parent.children.begin(), parent.children.end(), child, before)
                                   : parent.children.end(),
                               child);
        at = child;
    }
    nodes[at].targets.push_back(target);
}

size_t levels_reached(const DelimitedFormat& format) {
    size_t deepest = 0;
    for (const PathNode& node : format.nodes)
        if (!node.children.empty()) deepest = std::max<size_t>(deepest, node.level + 1);
    return deepest;
}

bool escapes_separate(const DelimitedFormat& format) {
    return std::any_of(format.escapes.begin(), format.escapes.end(), [&format](const Escape& escape) {
        return std::any_of(escape.written.begin(), escape.written.end(),
                           [&format](char c) { return separates(format, c); });
    });
}

uint32_t PartBounds::look_for(uint8_t byte) {
    uint8_t* const end = bytes_.bytes + bytes_.count;
    uint8_t* const known = std::find(bytes_.bytes, end, byte);
    if (known == end) bytes_.bytes[bytes_.count++] = byte;
    return uint32_t(known - bytes_.bytes);
}

void PartBounds::trim_blanks(uint32_t* begin, uint32_t* end) const {
    while (*begin < *end && is_blank(base_[*begin])) ++*begin;
    while (*begin < *end && is_blank(base_[*end - 1])) --*end;
}

bool PartBounds::stands_at(const std::string& text, uint32_t at, uint32_t end) const {
    if (text.size() == 1) return base_[at] == uint8_t(text[0]);
    return end - at >= text.size() && std::memcmp(base_ + at, text.data(), text.size()) == 0;
}

uint32_t PartBounds::escape_size(uint32_t at, uint32_t end) const {
    const Escape* const met = format_.escapes.at(base_ + at, end - at);
    return met ? uint32_t(met->written.size()) : 0;
}

const PathNode* PartBounds::keyed_child(const PathNode& node, uint32_t key, uint32_t key_end) {
    trim(&key, &key_end);
    const size_t size = key_end - key;
    if (size == 0 || !(node.key_sizes & key_bit(size, base_[key]))) return nullptr;
    const PathNode* found = nullptr;
    for (const uint32_t n : node.children) {
        const PathNode& child = format_.nodes[n];
        if (child.key.size() != size || std::memcmp(child.key.data(), base_ + key, size) != 0) continue;
        if (met_[n]++ == child.number) found = &child;
    }
    return found;
}

void PartBounds::take_rest(const PathNode& node, uint32_t begin, uint32_t end) {
    trim(&begin, &end);
    for (const PathNode::Target& target : node.targets) write(target, begin, end);
}

void PartBounds::write_range(const PathNode::Target& target, uint32_t begin, uint32_t end) {
    const uint32_t size = end - begin;
    if (target.range.begin >= size) return;
    end = begin + std::min(size, target.range.end);
    begin += target.range.begin;
    trim(&begin, &end);
    write_whole(target.column, begin, end);
}

void PartBounds::resolve(const uint8_t* data, size_t size, std::string* out) const {
    for (size_t at = 0; at < size;) {
        if (const Escape* const met = format_.escapes.at(data + at, size - at)) {
            *out += met->meant;
            at += met->written.size();
        } else {
            out->push_back(char(data[at++]));
        }
    }
}

}  // namespace formatter
