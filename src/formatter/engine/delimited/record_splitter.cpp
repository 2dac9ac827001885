// A record cut by its levels. In: a record's bytes and the positions that may matter. Out: the bounds of what paths lead to.
// Refuses to know what stands there. Levels whose separators are single bytes, and nothing hides them, have loops of their own.
#include "engine/delimited/record_splitter.hpp"

#include <algorithm>
#include <cstring>

namespace formatter {
namespace {

// What a byte may begin: bit k a separator of level k, bit k + 5 the end of a key there.
constexpr uint16_t opens_role = 1 << 10, closes_role = 1 << 11, escapes_role = 1 << 12;
constexpr uint16_t separates_role(uint32_t level) { return uint16_t(1 << level); }
constexpr uint16_t ends_key_role(uint32_t level) { return uint16_t(1 << (level + DelimitedFormat::most_levels)); }

bool is_blank(uint8_t c) { return c == ' ' || c == '\t'; }

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

RecordSplitter::RecordSplitter(const DelimitedFormat& format) : format_(format), met_(format.nodes.size()) {
    std::fill(std::begin(roles_), std::end(roles_), 0);
    std::fill(std::begin(ends_role_), std::end(ends_role_), false);
    size_t deepest = 0;
    for (const PathNode& node : format.nodes)
        if (!node.children.empty()) deepest = std::max<size_t>(deepest, node.level + 1);
    // Behind the separators of any level a mark may open, which hides those of all.
    const size_t levels = format.marks.empty() ? deepest : format.levels.size();
    bytes_.count = 0;
    const auto look_for = [this](uint8_t c, uint16_t role) {
        roles_[c] |= role;
        if (std::find(bytes_.bytes, bytes_.bytes + bytes_.count, c) == bytes_.bytes + bytes_.count)
            bytes_.bytes[bytes_.count++] = c;
    };
    look_for(uint8_t(format.fields->record_end[0]), 0);
    for (uint32_t k = 0; k < levels; k++) {
        const Level& level = format.levels[k];
        look_for(uint8_t(level.separator[0]), separates_role(k));
        if (!level.key_end.empty()) look_for(uint8_t(level.key_end[0]), ends_key_role(k));
        for (const std::string* text : {&level.separator, &level.key_end}) {
            if (text->empty()) continue;
            separators_.push_back(text);
            ends_role_[uint8_t(text->back())] = true;
        }
    }
    for (const Mark& mark : format.marks) {
        look_for(mark.open, opens_role);
        look_for(mark.close, closes_role);
    }
    escapes_separate_ = std::any_of(format.escapes.begin(), format.escapes.end(), [this](const Escape& escape) {
        return std::any_of(escape.written.begin(), escape.written.end(),
                           [this](char c) { return roles_[uint8_t(c)] != 0; });
    });
    for (const Escape& escape : format.escapes)
        if (std::count(escape_leads_.begin(), escape_leads_.end(), uint8_t(escape.written[0])) == 0)
            escape_leads_.push_back(uint8_t(escape.written[0]));
    if (escapes_separate_)
        for (const Escape& escape : format.escapes) look_for(uint8_t(escape.written[0]), escapes_role);
    for (const Level& level : format.levels)
        plain_levels_.push_back(format.marks.empty() && !escapes_separate_ && !level.collapses &&
                                level.separator.size() == 1 && level.key_end.size() <= 1);
}

bool RecordSplitter::stands_at(const std::string& text, uint32_t at, uint32_t end) const {
    if (text.size() == 1) return base_[at] == uint8_t(text[0]);
    return end - at >= text.size() && std::memcmp(base_ + at, text.data(), text.size()) == 0;
}

void RecordSplitter::trim(uint32_t* begin, uint32_t* end) const {
    if (!format_.trim) return;
    while (*begin < *end && is_blank(base_[*begin])) ++*begin;
    while (*begin < *end && is_blank(base_[*end - 1])) --*end;
}

uint32_t RecordSplitter::escape_size(uint32_t at, uint32_t end) const {
    for (const Escape& escape : format_.escapes)
        if (stands_at(escape.written, at, end)) return uint32_t(escape.written.size());
    return 0;
}

void RecordSplitter::resolve(const uint8_t* data, size_t size, std::string* out) const {
    for (size_t at = 0; at < size;) {
        const Escape* met = nullptr;
        for (const Escape& escape : format_.escapes) {
            const std::string& text = escape.written;
            if (size - at >= text.size() && std::memcmp(data + at, text.data(), text.size()) == 0) {
                met = &escape;
                break;
            }
        }
        if (met) {
            *out += met->meant;
            at += met->written.size();
        } else {
            out->push_back(char(data[at++]));
        }
    }
}

bool RecordSplitter::ends_separator(uint32_t at, uint32_t begin) const {
    if (!ends_role_[base_[at - 1]] || at == escape_end_) return false;
    for (const std::string* text : separators_)
        if (at - begin >= text->size() && std::memcmp(base_ + at - text->size(), text->data(), text->size()) == 0)
            return true;
    return false;
}

// Marks open where a value may begin: at the record's begin, behind a separator of any level, behind a closing mark.
bool RecordSplitter::may_open(uint32_t at, uint32_t begin, uint32_t closed) const {
    for (;; at--) {
        if (at == begin || at == closed || ends_separator(at, begin)) return true;
        if (!format_.trim || !is_blank(base_[at - 1])) return false;
    }
}

const Mark* RecordSplitter::mark_at(uint32_t at) const {
    for (const Mark& mark : format_.marks)
        if (mark.open == base_[at]) return &mark;
    return nullptr;
}

// From the opening mark, which the positions stand at, to behind the closing one; they then stand at that.
bool RecordSplitter::close_mark(const Mark& mark, Part* part, Positions* positions, uint32_t end, uint32_t* behind) {
    const uint32_t open = *positions->at;
    uint32_t settled = open + 1;
    while (++positions->at != positions->end && *positions->at < end) {
        const uint32_t at = *positions->at;
        if (at < settled) continue;
        const uint32_t escape = roles_[base_[at]] & escapes_role ? escape_size(at, end) : 0;
        if (escape) {
            part->escaped = true;
            settled = at + escape;
        } else if (base_[at] == mark.close) {
            *behind = at + 1;
            if (!part->mark) {
                part->mark = &mark;
                part->open = open;
                part->closed = *behind;
            }
            return true;
        }
    }
    unclosed_ = open;
    return false;
}

bool RecordSplitter::split(const uint8_t* base, uint32_t begin, uint32_t end, Positions positions, uint32_t* bounds) {
    base_ = base;
    bounds_ = bounds;
    escaped_.clear();
    escape_end_ = ~uint32_t(0);
    const PathNode& root = format_.nodes[0];
    for (const PathNode::Target& target : root.targets) write(target, begin, end);
    return root.children.empty() || split_level(root, begin, end, positions);
}

bool RecordSplitter::split_level(const PathNode& node, uint32_t begin, uint32_t end, Positions positions) {
    if (!plain_levels_[node.level]) return split_with_care(node, begin, end, positions);
    return format_.levels[node.level].key_end.empty() ? split_plain_positions(node, begin, end, positions)
                                                      : split_plain_keys(node, begin, end, positions);
}

// Those of the positions that lie in a text, of which blanks or a record's start were taken off.
RecordSplitter::Positions RecordSplitter::within(Positions positions, uint32_t begin, uint32_t end) {
    while (positions.at != positions.end && *positions.at < begin) ++positions.at;
    while (positions.at != positions.end && positions.end[-1] >= end) --positions.end;
    return positions;
}

bool RecordSplitter::split_plain_positions(const PathNode& node, uint32_t begin, uint32_t end, Positions positions) {
    const uint8_t separator = uint8_t(format_.levels[node.level].separator[0]);
    const uint8_t* const base = base_;
    positions = within(positions, begin, end);
    const uint32_t* child = node.children.data();
    const uint32_t* const last = child + node.children.size();
    const PathNode* wanted = &format_.nodes[*child];
    for (uint32_t ordinal = 0;; ordinal++) {
        while (wanted->number == ordinal && wanted->rest) {
            take_rest(*wanted, begin, end);
            if (++child == last) return true;
            wanted = &format_.nodes[*child];
        }
        const uint32_t* at = positions.at;
        while (at != positions.end && base[*at] != separator) ++at;
        const uint32_t part_end = at == positions.end ? end : *at;
        if (wanted->number == ordinal) {
            if (!take_plain(*wanted, begin, part_end, {positions.at, at})) return false;
            if (++child == last) return true;
            wanted = &format_.nodes[*child];
        }
        if (at == positions.end) return true;
        begin = part_end + 1;
        positions.at = at + 1;
    }
}

// Ends as soon as every key was met: nothing behind could be wrong.
bool RecordSplitter::split_plain_keys(const PathNode& node, uint32_t begin, uint32_t end, Positions positions) {
    const Level& level = format_.levels[node.level];
    const uint8_t separator = uint8_t(level.separator[0]), key_end = uint8_t(level.key_end[0]);
    const uint8_t* const base = base_;
    positions = within(positions, begin, end);
    for (const uint32_t child : node.children) met_[child] = 0;
    for (size_t missing = node.children.size();;) {
        const uint32_t* at = positions.at;
        while (at != positions.end && base[*at] != key_end && base[*at] != separator) ++at;
        uint32_t value = at == positions.end ? end : *at;
        const PathNode* const child = keyed_child(node, begin, value);
        if (at != positions.end && base[*at] == key_end) {
            value++;
            positions.at = ++at;
            while (at != positions.end && base[*at] != separator) ++at;
        }
        const uint32_t part_end = at == positions.end ? end : *at;
        if (child) {
            if (!take_plain(*child, value, part_end, {positions.at, at})) return false;
            if (--missing == 0) return true;
        }
        if (at == positions.end) return true;
        begin = part_end + 1;
        positions.at = at + 1;
    }
}

bool RecordSplitter::split_with_care(const PathNode& node, uint32_t begin, uint32_t end, Positions positions) {
    const Level& level = format_.levels[node.level];
    const bool has_keys = !level.key_end.empty();
    const uint16_t separates = separates_role(node.level), ends_key = has_keys ? ends_key_role(node.level) : 0;
    const uint16_t wanted = separates | ends_key | opens_role | escapes_role;
    const uint32_t last = has_keys ? 0 : format_.nodes[node.children.back()].number;
    if (has_keys)
        for (const uint32_t child : node.children) met_[child] = 0;
    size_t next = 0;  // of the children, which positions meet in order
    uint32_t ordinal = 0, settled = begin, closed = begin;
    Part part{begin, begin};
    const auto start_part = [&](uint32_t at) {
        part.begin = part.value = settled = at;
        part.positions = positions;
        part.mark = nullptr;
        part.keyed = part.escaped = false;
    };
    const auto takes_rest = [&] {  // and nothing else is wanted of the parts to come
        if (has_keys || next == node.children.size()) return false;
        const PathNode& child = format_.nodes[node.children[next]];
        if (!child.rest || child.number != ordinal) return false;
        take_rest(child, part.begin, end);
        return ++next == node.children.size();
    };
    start_part(begin);
    if (!level.collapses && takes_rest()) return true;
    for (; positions.at != positions.end; ++positions.at) {
        const uint32_t at = *positions.at;
        if (at >= end) break;
        const uint16_t role = roles_[base_[at]] & wanted;
        if (!role || at < settled) continue;
        if (role & opens_role && may_open(at, begin, closed)) {
            if (!close_mark(*mark_at(at), &part, &positions, end, &closed)) return false;
            settled = closed;
        } else if (const uint32_t escape = role & escapes_role ? escape_size(at, end) : 0) {
            part.escaped = true;
            escape_end_ = settled = at + escape;
        } else if (role & ends_key && !part.keyed && stands_at(level.key_end, at, end)) {
            part.keyed = true;
            part.node = keyed_child(node, part.begin, at);
            part.value = settled = at + uint32_t(level.key_end.size());
            part.positions = positions;
        } else if (role & separates && stands_at(level.separator, at, end)) {
            const uint32_t behind = at + uint32_t(level.separator.size());
            if (!level.collapses || at != part.begin) {
                if (level.collapses && takes_rest()) return true;
                if (!end_part(node, part, at, {part.positions.at, positions.at}, ordinal, &next)) return false;
                if (ordinal++ == last && !has_keys) return true;
            }
            start_part(behind);
            if (!level.collapses && takes_rest()) return true;
        }
    }
    if (level.collapses && (part.begin == end || takes_rest())) return true;
    return end_part(node, part, end, {part.positions.at, positions.at}, ordinal, &next);
}

bool RecordSplitter::end_part(const PathNode& node, const Part& part, uint32_t end, Positions positions,
                              uint32_t ordinal, size_t* next) {
    if (!format_.levels[node.level].key_end.empty()) {
        const PathNode* child = part.keyed ? part.node : keyed_child(node, part.begin, end);
        return !child || take(*child, part, part.keyed ? part.value : end, end, positions);
    }
    if (*next == node.children.size()) return true;
    const PathNode& child = format_.nodes[node.children[*next]];
    if (child.number != ordinal) return true;
    ++*next;
    return take(child, part, part.value, end, positions);
}

const PathNode* RecordSplitter::keyed_child(const PathNode& node, uint32_t key, uint32_t key_end) {
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

// Whether an escape is written there, where splitting does not look for any.
bool RecordSplitter::holds_escape(uint32_t begin, uint32_t end) const {
    const uint8_t* const stop = base_ + end;
    for (const uint8_t lead : escape_leads_)
        for (const uint8_t* at = base_ + begin;
             (at = static_cast<const uint8_t*>(std::memchr(at, lead, size_t(stop - at)))); at++)
            if (escape_size(uint32_t(at - base_), end)) return true;
    return false;
}

bool RecordSplitter::take(const PathNode& node, const Part& part, uint32_t begin, uint32_t end, Positions positions) {
    trim(&begin, &end);
    uint32_t from = begin, to = end;
    const bool marked = part.mark && part.open == begin, kept = marked && part.mark->kept;
    if (marked && !kept && part.closed == end) {
        from++;
        to--;
    }
    for (const PathNode::Target& target : node.targets) {
        if (target.raw) {
            write(target, begin, end);
            continue;
        }
        write(target, from, to);
        const bool escaped = escapes_separate_ ? part.escaped : holds_escape(from, to);
        if (escaped && !kept) escaped_.push_back(target.column);
    }
    return node.children.empty() || split_level(node, from, to, positions);
}

// Where nothing is marked and no escape hides what separates.
bool RecordSplitter::take_plain(const PathNode& node, uint32_t begin, uint32_t end, Positions positions) {
    trim(&begin, &end);
    for (const PathNode::Target& target : node.targets) {
        write(target, begin, end);
        if (!target.raw && !format_.escapes.empty() && holds_escape(begin, end)) escaped_.push_back(target.column);
    }
    return node.children.empty() || split_level(node, begin, end, positions);
}

void RecordSplitter::take_rest(const PathNode& node, uint32_t begin, uint32_t end) {
    trim(&begin, &end);
    for (const PathNode::Target& target : node.targets) write(target, begin, end);
}

void RecordSplitter::write(const PathNode::Target& target, uint32_t begin, uint32_t end) {
    if (target.range.begin || target.range.end != ByteRange::open) {
        const uint32_t size = end - begin;
        if (target.range.begin >= size) return;
        end = begin + std::min(size, target.range.end);
        begin += target.range.begin;
        trim(&begin, &end);
    }
    bounds_[2 * target.column] = begin;
    bounds_[2 * target.column + 1] = end;
}

}  // namespace formatter
