// A record cut by its levels. In: a record's bytes and the positions that may matter. Out: the bounds of what paths lead to.
// Refuses to know what stands there.
#include "engine/delimited/record_splitter.hpp"

#include <algorithm>
#include <cstring>

namespace formatter {
namespace {

// What a byte may begin: bit k a separator of level k, bit k + 5 the end of a key there.
constexpr uint16_t opens_role = 1 << 10, closes_role = 1 << 11, escapes_role = 1 << 12;
constexpr uint16_t separates_role(uint32_t level) { return uint16_t(1 << level); }
constexpr uint16_t ends_key_role(uint32_t level) { return uint16_t(1 << (level + DelimitedFormat::most_levels)); }

}  // namespace

RecordSplitter::RecordSplitter(const DelimitedFormat& format)
    : PartBounds(format), escapes_separate_(formatter::escapes_separate(format)) {
    std::fill(std::begin(roles_), std::end(roles_), 0);
    std::fill(std::begin(ends_role_), std::end(ends_role_), false);
    const auto give_role = [this](char byte, uint16_t role) {
        roles_[uint8_t(byte)] |= role;
        look_for(uint8_t(byte));
    };
    // Behind the separators of any level a mark may open, which hides those of all.
    const size_t levels = format.marks.empty() ? levels_reached(format) : format.levels.size();
    for (uint32_t k = 0; k < levels; k++) {
        const Level& level = format.levels[k];
        give_role(level.separator[0], separates_role(k));
        if (!level.key_end.empty()) give_role(level.key_end[0], ends_key_role(k));
        for (const std::string* text : {&level.separator, &level.key_end}) {
            if (text->empty()) continue;
            separators_.push_back(text);
            ends_role_[uint8_t(text->back())] = true;
        }
    }
    for (const Mark& mark : format.marks) {
        give_role(char(mark.open), opens_role);
        give_role(char(mark.close), closes_role);
    }
    for (uint32_t c = 0; c < 256; c++)
        if (format.escapes.leads(uint8_t(c))) escape_leads_.push_back(uint8_t(c));
    if (escapes_separate_)
        for (const uint8_t lead : escape_leads_) give_role(char(lead), escapes_role);
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
    begin_record(base, bounds);
    escape_end_ = ~uint32_t(0);
    const PathNode& root = format_.nodes[0];
    for (const PathNode::Target& target : root.targets) write(target, begin, end);
    return root.children.empty() || split_level(root, begin, end, positions, false);
}

bool RecordSplitter::split_level(const PathNode& node, uint32_t begin, uint32_t end, Positions positions, bool inside) {
    const Level& level = format_.levels[node.level];
    const bool has_keys = !level.key_end.empty();
    const uint16_t separates = separates_role(node.level), ends_key = has_keys ? ends_key_role(node.level) : 0;
    const uint16_t wanted = uint16_t(separates | ends_key | (level.marks ? opens_role : 0) |
                                     (format_.bare_escapes || inside ? escapes_role : 0));
    const uint32_t last = has_keys ? 0 : format_.nodes[node.children.back()].number;
    if (has_keys) forget_met(node);
    size_t next = 0;  // of the children, which positions meet in order
    uint32_t ordinal = 0, settled = begin, closed = begin;
    Part part{begin, begin};
    part.inside = inside;
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
    const bool bare = !marked || kept || part.closed != end;
    if (!bare) {
        from++;
        to--;
    }
    const bool resolves = !kept && (format_.bare_escapes || part.inside || !bare);
    for (const PathNode::Target& target : node.targets) {
        if (target.raw) {
            write(target, begin, end);
            continue;
        }
        write(target, from, to);
        if (resolves && (escapes_separate_ ? part.escaped : holds_escape(from, to))) escaped_.push_back(target.column);
    }
    return node.children.empty() || split_level(node, from, to, positions, part.inside || !bare);
}

}  // namespace formatter
