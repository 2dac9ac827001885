#include "engine/json/json_walk.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace formatter {
namespace {

constexpr uint32_t no_stop = UINT32_MAX;  // a value that is not noted among the record's stops

bool is_nested(uint8_t kind) { return kind == '{' || kind == '['; }

}  // namespace

// ------------------------------------------------------------------------------------------ what is wanted

JsonWalk::JsonWalk(const JsonFormat* format)
    : format_(format), nodes_(2), objects_(2), spaces_(1), troubled_(format->columns.size()) {
    nodes_[1].kind = Node::passage;
    const auto nested = [](const JsonColumn& c) { return c.node.kind != JsonKind::scalar; };
    if (std::any_of(format->columns.begin(), format->columns.end(), nested)) spaces_.emplace_back();
    for (uint32_t column = 0; column < format->columns.size(); column++) {
        if (int32_t(column) == format->rescue_column) {
            unknown_ = add_node();
            nodes_[unknown_].kind = Node::unknown;
            column_nodes_.push_back(0);
            continue;
        }
        uint32_t at = 1;
        for (const std::string& token : format->columns[column].path) {
            Node& node = nodes_[at];
            const bool may_share = node.place == Node::record_stops && format->rescue_column < 0;
            if (node.kind == Node::leaf && may_share) node.kind = Node::shared;
            if (!node.is_passage()) node.kind = Node::contested;
            at = add_member(at, token);
        }
        column_nodes_.push_back(at);
        if (at == 1) readable_ = false;
        // Whatever two columns want differently is left to the text.
        const bool in_spaces = nested(format->columns[column]), in_parts = !objects_[at].members.empty();
        const bool may_share = !in_parts || (!in_spaces && format->rescue_column < 0);
        const bool first = nodes_[at].column < 0 && nodes_[at].kind == Node::passage && readable_;
        nodes_[at].column = int32_t(column);
        nodes_[at].entry = 2 * column;
        nodes_[at].kind = Node::contested;
        if (first && may_share) describe(at, format->columns[column].node, in_spaces ? 1 : 0);
        if (in_parts && nodes_[at].kind == Node::leaf) nodes_[at].kind = Node::shared;
    }
    for (uint32_t i = 0; i < nodes_.size(); i++)
        if (nodes_[i].is_passage()) know_keys(i, i == 1 ? format->ignored_keys : std::vector<std::string>());
    for (JsonSpace& space : spaces_) space.lay_out();
    place_entries();
    rows_before_.resize(spaces_.size());
}

uint32_t JsonWalk::add_node() {
    nodes_.emplace_back();
    objects_.emplace_back();
    return uint32_t(nodes_.size()) - 1;
}

uint32_t JsonWalk::add_member(uint32_t parent, const std::string& key) {
    const auto [known, fresh] = objects_[parent].by_key.try_emplace(key, uint32_t(nodes_.size()));
    if (!fresh) return known->second;
    const uint32_t member = add_node();
    nodes_[member].kind = Node::passage;
    objects_[parent].members.push_back(member);
    return member;
}

void JsonWalk::describe(uint32_t at, const JsonNodeSpec& spec, uint32_t space) {
    nodes_[at].space = space;
    nodes_[at].nullable = spec.scalar.nullable;
    nodes_[at].quoted = expects_string(spec);
    switch (spec.kind) {
        case JsonKind::scalar:
        case JsonKind::map:
            nodes_[at].kind = spec.kind == JsonKind::map ? Node::map : Node::leaf;
            nodes_[at].place = space > 0 ? Node::row : Node::record_stops;
            if (space > 0) nodes_[at].entry = spaces_[space].add_leaf();
            return;
        case JsonKind::structure:
            nodes_[at].kind = Node::structure;
            nodes_[at].mark = spaces_[space].add_mark();
            for (const JsonNodeSpec& member : spec.children) {
                const uint32_t node = add_member(at, member.scalar.name);
                describe(node, member, space);
                if (!member.scalar.nullable) objects_[at].required.push_back(node);
            }
            return know_keys(at, spec.ignored_keys);
        default: {
            const uint32_t items = uint32_t(spaces_.size()), item = add_node();
            spaces_.emplace_back();
            nodes_[at].kind = Node::list;
            nodes_[at].mark = spaces_[space].add_mark();
            nodes_[at].items = items;
            nodes_[at].item = item;
            nodes_[at].sized = spec.kind == JsonKind::fixed_list;
            nodes_[at].fixed_size = spec.list_size;
            nodes_[at].count = spaces_[space].add_list(items);
            describe(item, spec.children[0], items);
        }
    }
}

void JsonWalk::know_keys(uint32_t node, const std::vector<std::string>& ignored) {
    Object& object = objects_[node];
    object.keys = JsonKeys(object.members.size());
    for (const std::string& key : ignored) object.by_key.try_emplace(key, 0);
}

// Marks and counts lie behind the leaves, and how many of those there are is known at the end only.
void JsonWalk::place_entries() {
    for (Node& node : nodes_) {
        node.mark = spaces_[node.space].mark_entry(node.mark);
        node.count = spaces_[node.space].list_entry(node.count);
    }
}

// ------------------------------------------------------------------------------------------ blocks

void JsonWalk::open_segment(const uint8_t* base, const uint8_t* readable_begin, const uint8_t* readable_end) {
    segment_base_ = base;
    readable_begin_ = readable_begin;
    for (size_t i = 1; i < spaces_.size(); i++) spaces_[i].open_segment(base, readable_begin, readable_end);
}

void JsonWalk::clear() {
    for (JsonSpace& space : spaces_) space.clear();
    for (Node& node : nodes_) node.leading_zeros = false;
    std::fill(troubled_.begin(), troubled_.end(), 0);
}

void JsonWalk::compact(const std::vector<uint64_t>& keep) {
    if (has_spaces()) spaces_[1].compact(keep, spaces_);
}

void JsonWalk::forget() {
    for (size_t i = 1; i < spaces_.size(); i++) spaces_[i].drop_rows(spaces_[i].rows() - rows_before_[i]);
}

// ------------------------------------------------------------------------------------------ records

// Sixty-four parts at once: how many a value has cannot be foreseen.
size_t JsonWalk::behind(size_t at) const {
    typedef uint8_t Lanes __attribute__((vector_size(16)));
    const uint8_t around = uint8_t(parts_.depths[at] - 1);
    // It is there: the brackets of the line match, and its line end has depth 0.
    for (size_t i = at + 1;; i += 64) {
#ifdef __SSE2__
        uint64_t equal = 0;
        for (int quarter = 0; quarter < 4; quarter++) {
            Lanes depths;
            std::memcpy(&depths, parts_.depths + i + 16 * quarter, 16);
            typedef char Signed __attribute__((vector_size(16)));
            const Lanes here = Lanes(depths == Lanes{} + around);
            equal |= uint64_t(uint32_t(__builtin_ia32_pmovmskb128(Signed(here)))) << 16 * quarter;
        }
        if (equal) return i + size_t(__builtin_ctzll(equal));
#else
        typedef uint64_t Pair __attribute__((vector_size(16)));
        for (size_t quarter = i; quarter < i + 64; quarter += 16) {
            Lanes depths;
            std::memcpy(&depths, parts_.depths + quarter, 16);
            const Pair equal = Pair(depths == Lanes{} + around);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
            if (equal[0]) return quarter + size_t(__builtin_clzll(equal[0])) / 8;
            if (equal[1]) return quarter + 8 + size_t(__builtin_clzll(equal[1])) / 8;
#else
            if (equal[0]) return quarter + size_t(__builtin_ctzll(equal[0])) / 8;
            if (equal[1]) return quarter + 8 + size_t(__builtin_ctzll(equal[1])) / 8;
#endif
        }
#endif
    }
}

bool JsonWalk::read(const JsonParts& parts, size_t first, size_t line_end, uint32_t* stops) {
    if (!readable_ || parts.kinds[first] != '{') return false;
    parts_ = parts;
    if (!only_space(line_end - 1, line_end)) return false;
    record_++;
    stops_ = outside_[Node::record_stops] = stops;
    outside_[Node::nowhere] = nowhere_;
    line_end_ = uint32_t(parts.base + parts.positions[line_end] - segment_base_);
    for (size_t i = 0; i < 2 * column_nodes_.size(); i++) stops[i] = line_end_;
    uint32_t* row = nullptr;
    for (size_t i = 1; i < spaces_.size(); i++) rows_before_[i] = spaces_[i].rows();
    if (has_spaces()) row = spaces_[1].add_row(line_end_, spaces_);
    JsonKeys& keys = objects_[1].keys;
    const uint8_t* const begin = parts.base + parts.positions[first];
    const bool few = column_nodes_.size() < 64;  // a bit each, and one for all other keys
    if (!keys.in_order() && few && !has_spaces() && begin - readable_begin_ >= ptrdiff_t(JsonKeys::reach)) {
        if (read_unordered(keys, first) == line_end - 1) return true;
        for (size_t i = 0; i < 2 * column_nodes_.size(); i++) stops[i] = line_end_;
    }
    if (read_object(1, first, row) == line_end - 1) return true;
    forget();
    return false;
}

// A record whose keys come in any order and whose values are plain: nothing here is decided by a branch that could go
// either way. 0 if something is not as usual; the stops are then to be written anew.
//
// Nor is anything loaded that a key before may have stored: that would wait until it is known which key that was. So what
// was met stands in a register, a bit a column.
size_t JsonWalk::read_unordered(JsonKeys& keys, size_t at) {
    const uint8_t* const base = parts_.base;
    const uint8_t* const kinds = parts_.kinds;
    const uint32_t* const positions = parts_.positions;
    const size_t first_part = at;
    const uint32_t to_segment = uint32_t(base - segment_base_);
    uint32_t* const stops = stops_;
    uint64_t met = 0, again = 0, leading_zeros = 0;
    for (;; at += 2) {
        const uint32_t value = positions[at + 1] + 1, behind = positions[at + 2];
        const uint8_t kind = kinds[at + 2], first = base[value], last = base[behind - 1];
        if (kinds[at + 1] != ':' || !((kind == ',') | (kind == '}')) || !((first > ' ') & (last > ' '))) return 0;
        const JsonKeys::Entry* const entry = keys.look_up(base + positions[at] + 1, base + value - 1);
        if (!entry || (entry->stop == no_stop) | (value == behind)) return 0;
        const uint32_t stop = entry->stop;
        const uint32_t quotes = uint32_t(entry->quoted) & (first == '"') & (last == '"') & (behind - value >= 2);
        const uint64_t bit = uint64_t(1) << stop / 2;
        again |= met & bit;
        met |= bit;
        uint64_t leading_zero = has_leading_zero(base + value);
        __asm__("" : "+r"(leading_zero));  // a number from here on: a branch on it could go either way
        leading_zeros |= bit & (0 - leading_zero);
        stops[stop] = to_segment + value + quotes;
        stops[stop + 1] = to_segment + behind - quotes;
        if (kind != ',') break;
    }
    const uint64_t columns = (uint64_t(1) << column_nodes_.size()) - 1;
    for (leading_zeros &= columns; leading_zeros != 0; leading_zeros &= leading_zeros - 1)
        nodes_[column_nodes_[size_t(__builtin_ctzll(leading_zeros))]].leading_zeros = true;
    keys.looked_up(unsigned(at + 2 - first_part) / 2);
    return (again & columns) == 0 ? at + 2 : 0;
}

size_t JsonWalk::read_object(uint32_t node, size_t at, uint32_t* row) {
    const uint8_t* const base = parts_.base;
    const uint32_t* const positions = parts_.positions;
    const uint8_t* const kinds = parts_.kinds;
    Object& object = objects_[node];
    const JsonKeys::Entry* entry = nullptr;
    if (kinds[at + 1] == '}') {
        if (!only_space(at, at + 1)) return 0;
        at++;
    } else {
        // Every key of it has so many bytes before its end that are compared.
        const bool reaches = base + positions[at] - readable_begin_ >= ptrdiff_t(JsonKeys::reach);
        do {
            // Members that nobody asked for, as long as they are those that stood here last.
            while (entry && reaches && object.keys.in_order() && entry->next && entry->next->node == 0 &&
                   kinds[at + 1] == ':' && kinds[at + 2] == ',' &&
                   JsonKeys::is_likely(*entry->next, base + positions[at] + 1, base + positions[at + 1])) {
                entry = entry->next;
                at += 2;
            }
            if (kinds[at + 1] != ':') return 0;
            const uint8_t* const key_begin = base + positions[at] + 1;
            const uint8_t* const key_end = base + positions[at + 1];
            entry = __builtin_expect(key_end - readable_begin_ >= ptrdiff_t(JsonKeys::reach), 1)
                        ? object.keys.find(key_begin, key_end, entry)
                        : find_near_begin(object.keys, key_begin, key_end, entry);
            if (__builtin_expect(entry == nullptr, 0)) {
                entry = learn_key(node, key_begin, key_end);
                if (!entry) return 0;
            }
            at++;
            if (object.keys.in_order() && entry->node == 0) {  // what nobody asked for: not even looked at
                at = is_nested(kinds[at + 1]) ? behind(at + 1) : at + 1;
            } else if (__builtin_expect(is_nested(kinds[at + 1]), 0)) {
                if (entry->node != 0 && !only_space(at, at + 1)) return 0;
                at = read_nested(entry->node, at + 1, row);
                if (at == 0) return 0;
            } else {
                Node& member = nodes_[entry->node];
                const uint8_t* begin = base + positions[at] + 1;
                const uint8_t* end = base + positions[at + 1];
                begin += *begin == ' ';
                const uint8_t first = *begin, last = end[-1];
                // The usual case, by branches where it can be foreseen which way they go.
                if (object.keys.in_order() && member.kind == Node::leaf && (first > '0' || first == '"') &&
                    last > ' ' && begin < end) {
                    uint32_t* const out = (member.place == Node::row ? row : stops_) + member.entry;
                    if (member.quoted && first == '"' && last == '"' && end - begin >= 2) begin++, end--;
                    if (out[0] != line_end_) return 0;
                    out[0] = uint32_t(begin - segment_base_);
                    out[1] = uint32_t(end - segment_base_);
                } else if (!read_plain(entry->node, at, row)) {
                    return 0;
                }
                at++;
            }
        } while (kinds[at] == ',');
        if (kinds[at] != '}') return 0;
    }
    for (uint32_t i : object.required) {
        const Node& member = nodes_[i];
        const bool leaf = member.kind == Node::leaf || member.kind == Node::map;
        if (row[leaf ? member.entry : member.mark] == (leaf ? line_end_ : JsonSpace::absent)) return 0;
    }
    return at;
}

inline bool JsonWalk::write_leaf(Node& node, uint32_t* row, const uint8_t* begin, const uint8_t* end) {
    // No branches: where keys come in any order, any of these could go either way.
    // What nobody asked for goes nowhere, and is never there already.
    nowhere_[0] = line_end_;
    uint32_t* const out = (node.place == Node::row ? row : outside_[node.place]) + node.entry;
    const bool quotes = node.quoted & (*begin == '"') & (end[-1] == '"') & (end - begin >= 2);
    node.leading_zeros |= !node.quoted & has_leading_zero(begin);
    const bool again = out[0] != line_end_;
    out[0] = uint32_t(begin - segment_base_) + quotes;
    out[1] = uint32_t(end - segment_base_) - quotes;
    return !again;
}

void JsonWalk::note_unknown(const uint8_t* begin, const uint8_t* end) {
    if (unknown_ == 0) return;
    uint32_t* const stops = stops_ + 2 * format_->rescue_column;
    stops[0] = uint32_t(begin - segment_base_);
    stops[1] = uint32_t(end - segment_base_);
}

// Of a nested column: false if it has a value already.
bool JsonWalk::note_whole(const Node& node, const uint8_t* begin, const uint8_t* end) {
    if (node.column < 0) return true;
    uint32_t* stops = stops_ + 2 * node.column;
    if (stops[0] != line_end_) return false;
    stops[0] = uint32_t(begin - segment_base_);
    stops[1] = uint32_t(end - segment_base_);
    return true;
}

inline bool JsonWalk::read_plain(uint32_t at, size_t before, uint32_t* row) {
    Node& node = nodes_[at];
    const uint8_t* begin = parts_.base + parts_.positions[before] + 1;
    const uint8_t* end = parts_.base + parts_.positions[before + 1];
    while (is_line_space(*begin)) begin++;
    while (end > begin && is_line_space(end[-1])) end--;
    if (begin >= end) return false;
    if (__builtin_expect(node.kind <= Node::leaf, 1)) return write_leaf(node, row, begin, end);
    return read_plain_elsewhere(at, row, begin, end);
}

bool JsonWalk::read_plain_elsewhere(uint32_t at, uint32_t* row, const uint8_t* begin, const uint8_t* end) {
    Node& node = nodes_[at];
    if (node.kind == Node::contested) return false;
    if (node.kind == Node::unknown) return note_unknown(begin, end), true;
    if (node.is_passage()) {
        note_unknown(begin, end);
        const bool again = std::exchange(objects_[at].seen, record_) == record_;
        return !again && (node.kind == Node::passage || write_leaf(node, row, begin, end));
    }
    if (!note_whole(node, begin, end)) return false;
    if (node.kind == Node::map) return write_leaf(node, row, begin, end);
    if (row[node.mark] != JsonSpace::absent) return false;
    row[node.mark] = JsonSpace::null;
    const bool null = node.nullable && end - begin == 4 && std::memcmp(begin, "null", 4) == 0;
    if (null || node.column < 0) return null;
    troubled_[size_t(node.column)] = true;
    return true;
}

size_t JsonWalk::read_nested(uint32_t node_at, size_t at, uint32_t* row) {
    Node& node = nodes_[node_at];
    const bool object = parts_.kinds[at] == '{';
    const uint8_t* const begin = parts_.base + parts_.positions[at];
    const auto end_before = [this](size_t part) { return parts_.base + parts_.positions[part - 1] + 1; };
    if (node.kind == Node::structure || node.kind == Node::list) {
        if (row[node.mark] != JsonSpace::absent) return 0;
        row[node.mark] = JsonSpace::present;
        const bool fits = object == (node.kind == Node::structure);
        const size_t close = !fits ? 0 : object ? read_object(node_at, at, row) : read_list(node, at, row);
        if (close == 0 && node.column < 0) return 0;
        const size_t next =
            close != 0 ? close + 1 : behind(at);  // brackets match: what closes it is where it was read to
        if (!only_space(next - 1, next) || !note_whole(node, begin, end_before(next))) return 0;
        if (close == 0) troubled_[size_t(node.column)] = true;  // the whole column's text decides then
        return next;
    }
    const size_t next = behind(at);
    if (node.kind == Node::ignored) return next;
    if (node.kind == Node::unknown) return note_unknown(begin, end_before(next)), next;
    if (!only_space(next - 1, next)) return 0;
    const uint8_t* const end = end_before(next);
    if (node.kind == Node::map && !note_whole(node, begin, end)) return 0;
    switch (node.kind) {
        case Node::leaf:
        case Node::map: return write_leaf(node, row, begin, end) ? next : 0;
        case Node::passage:
        case Node::shared:
            if (!object || std::exchange(objects_[node_at].seen, record_) == record_) return 0;
            if (node.kind == Node::shared && !write_leaf(node, row, begin, end)) return 0;
            return read_object(node_at, at, row) == next - 1 ? next : 0;
        default: return 0;
    }
}

size_t JsonWalk::read_list(Node& node, size_t at, uint32_t* row) {
    JsonSpace& space = spaces_[node.items];
    const uint32_t first = space.rows(), item = node.item;
    if (parts_.kinds[at + 1] == ']' && only_space(at, at + 1)) {
        at++;
    } else if (nodes_[item].kind == Node::leaf && space.stride() == 2) {
        at = read_leaves(item, at, space);
        if (at == 0) return 0;
    } else {
        do {
            uint32_t* const item_row = space.add_row(line_end_, spaces_);
            if (is_nested(parts_.kinds[at + 1])) {
                if (!only_space(at, at + 1)) return 0;
                at = read_nested(item, at + 1, item_row);
                if (at == 0) return 0;
            } else {
                if (!read_plain(item, at, item_row)) return 0;
                at++;
            }
        } while (parts_.kinds[at] == ',');
        if (parts_.kinds[at] != ']') return 0;
    }
    row[node.count] = space.rows();
    return !node.sized || space.rows() - first == node.fixed_size ? at : 0;
}

// The items of a list, each a number or string; the part that closes it, or 0.
size_t JsonWalk::read_leaves(uint32_t item, size_t at, JsonSpace& space) {
    const uint8_t* const base = parts_.base;
    const uint32_t to_segment = uint32_t(base - segment_base_);
    Node& node = nodes_[item];
    const bool quoted = node.quoted;
    bool leading_zeros = false;
    do {
        uint32_t* const row = space.add_leaf_row(line_end_);
        uint32_t begin = parts_.positions[at] + 1;
        const uint32_t end = parts_.positions[at + 1];
        begin += base[begin] == ' ';
        const uint8_t first = base[begin], last = base[end - 1];
        if (__builtin_expect(is_nested(parts_.kinds[at + 1]), 0)) {
            if (!only_space(at, at + 1)) return 0;
            at = read_nested(item, at + 1, row);
            if (at == 0) return 0;
            continue;
        }
        if (__builtin_expect((first <= ' ') | (last <= ' ') | (begin >= end), 0)) {
            if (!read_plain(item, at++, row)) return 0;
            continue;
        }
        const uint32_t quotes = uint32_t(quoted) & (first == '"') & (last == '"') & (end - begin >= 2);
        leading_zeros |= has_leading_zero(base + begin);
        row[0] = to_segment + begin + quotes;
        row[1] = to_segment + end - quotes;
        at++;
    } while (parts_.kinds[at] == ',');
    node.leading_zeros |= leading_zeros & !quoted;
    return parts_.kinds[at] == ']' ? at : 0;
}

// Where fewer bytes can be read than are compared.
const JsonKeys::Entry* JsonWalk::find_near_begin(JsonKeys& keys, const uint8_t* begin, const uint8_t* end,
                                                 const JsonKeys::Entry* before) {
    uint8_t copy[2 * JsonKeys::reach] = {};
    std::memcpy(copy + JsonKeys::reach, begin, size_t(end - begin));
    return keys.find(copy + JsonKeys::reach, copy + JsonKeys::reach + (end - begin), before);
}

// A spelling that is new here: by its text, once.
const JsonKeys::Entry* JsonWalk::learn_key(uint32_t node, const uint8_t* begin, const uint8_t* end) {
    Object& object = objects_[node];
    const uint8_t *from = skip_json_space(begin, end), *to = end;
    while (to > from && is_json_space(to[-1])) to--;
    if (to - from < 2 || *from != '"') return nullptr;
    bool escapes;
    const Skipped close = check_string(from + 1, to, &escapes);
    if (close.code != ErrorCode::none || close.at != to - 1) return nullptr;
    std::string key(reinterpret_cast<const char*>(from) + 1, size_t(to - from) - 2);
    const Surrogate alone = format_->lone_surrogates;
    if (escapes && unescape(bytes_of(std::string(key)), &key, alone) != ErrorCode::none) return nullptr;
    const auto known = object.by_key.find(key);
    const bool all_known = format_->unknown_is_error && (nodes_[node].kind == Node::structure || node == 1);
    if (known == object.by_key.end() && all_known) return nullptr;
    const uint32_t at = known == object.by_key.end() ? unknown_ : known->second;
    const Node& member = nodes_[at];
    uint32_t stop = uint32_t(2 * column_nodes_.size());  // what nobody asked for, behind all columns
    if (at != 0) stop = member.kind == Node::leaf && member.place == Node::record_stops ? member.entry : no_stop;
    return object.keys.add(begin, end, at, stop, member.quoted);
}

}  // namespace formatter
