#include "engine/json/json_rescue.hpp"

#include <algorithm>
#include <unordered_set>

#include "engine/records/rescued_text.hpp"

namespace formatter {
namespace {

const uint8_t* without_space(const uint8_t* begin, const uint8_t* end) {
    while (end > begin && is_json_space(end[-1])) end--;
    return end;
}

// Behind the value at `at`, and the ',' behind that; null behind the last.
const uint8_t* behind_value(const uint8_t* at, const uint8_t* end, const uint8_t** value_end) {
    const Skipped done = skip_value(at, end);
    *value_end = without_space(at, done.at);
    return done.code == ErrorCode::none && done.at < end && *done.at == ',' ? done.at + 1 : nullptr;
}

std::string unescaped(const uint8_t* begin, const uint8_t* end) {
    std::string key(reinterpret_cast<const char*>(begin), size_t(end - begin));
    if (std::find(begin, end, '\\') != end) unescape(Bytes{begin, size_t(end - begin)}, &key, Surrogate::replacement);
    return key;
}

}  // namespace

JsonRescue::JsonRescue(const JsonFormat* format) : format_(format), nodes_(1), is_misfit_(format->columns.size()) {
    if (format->rescue_column < 0) return;
    const auto node_at = [this](const std::vector<std::string>& path) {
        uint32_t at = 0;
        for (const std::string& token : path) {
            if (!nodes_[at].columns.empty()) nodes_[at].kind = Node::contested;
            at = add(at, token);
        }
        return at;
    };
    for (uint32_t column = 0; column < format->output_columns; column++) {
        if (int32_t(column) == format->rescue_column) continue;
        const uint32_t at = node_at(format->columns[column].path);
        const bool alone = nodes_[at].columns.empty() && nodes_[at].children.empty();
        nodes_[at].columns.push_back(column);
        if (alone)
            describe(at, format->columns[column].node);
        else
            nodes_[at].kind = Node::contested;
    }
    const auto cover = [this](const std::vector<std::string>& path) {
        uint32_t at = 0;
        for (auto token = path.begin(); token != path.end() && nodes_[at].columns.empty(); ++token)
            at = add(at, *token);
        nodes_[at].covered = nodes_[at].columns.empty();
    };
    for (size_t column = format->output_columns; column < format->columns.size(); column++)
        cover(format->columns[column].path);
    std::for_each(format->unwanted_paths.begin(), format->unwanted_paths.end(), cover);
}

uint32_t JsonRescue::add(uint32_t parent, const std::string& key) {
    const auto [place, fresh] = nodes_[parent].by_key.emplace(key, uint32_t(nodes_.size()));
    const uint32_t node = place->second;
    if (!fresh) return node;
    nodes_[parent].children.push_back(node);
    nodes_.emplace_back();
    return node;
}

void JsonRescue::describe(uint32_t at, const JsonNodeSpec& spec) {
    nodes_[at].spec = &spec;
    switch (spec.kind) {
        case JsonKind::scalar: nodes_[at].kind = Node::leaf; return;
        case JsonKind::structure:
            nodes_[at].kind = Node::structure;
            for (const JsonNodeSpec& member : spec.children) describe(add(at, member.scalar.name), member);
            for (const std::string& key : spec.ignored_keys) {
                const uint32_t ignored = add(at, key);
                nodes_[ignored].kind = Node::leaf;
                nodes_[ignored].covered = true;
            }
            return;
        default: {
            nodes_[at].kind = spec.kind == JsonKind::map ? Node::map : Node::list;
            const uint32_t item = uint32_t(nodes_.size());
            nodes_.emplace_back();
            nodes_[at].item = item;
            return describe(item, spec.children.back());
        }
    }
}

void JsonRescue::read(const uint8_t* at, const uint8_t* end, std::string* out) {
    at = skip_json_space(at, end);
    read_value(0, at, without_space(at, end), out);
    std::fill(is_misfit_.begin(), is_misfit_.end(), 0);
}

bool JsonRescue::has_misfit(uint32_t node) const {
    const Node& n = nodes_[node];
    return std::any_of(n.columns.begin(), n.columns.end(), [this](uint32_t column) { return is_misfit_[column]; }) ||
           (n.kind == Node::contested &&
            std::any_of(n.children.begin(), n.children.end(), [this](uint32_t child) { return has_misfit(child); }));
}

bool JsonRescue::read_value(uint32_t node, const uint8_t* at, const uint8_t* end, std::string* out) {
    const Node& n = nodes_[node];
    if (at == end) return false;
    if (has_misfit(node)) return keep(at, end, out);
    const bool null = Bytes{at, size_t(end - at)}.equals("null");
    switch (n.kind) {
        case Node::leaf: return false;
        case Node::structure: return !null && read_object(node, at, end, out);
        case Node::list: return !null && read_items(node, at, end, out);
        case Node::map: return !null && read_entries(node, at, end, out);
        case Node::contested: {  // a column that is not nested has all of it; what others share is kept
            const bool whole = std::any_of(n.columns.begin(), n.columns.end(), [this](uint32_t column) {
                return format_->columns[column].node.kind == JsonKind::scalar;
            });
            return !whole && !n.covered && !null && keep(at, end, out);
        }
        case Node::passage: break;
    }
    // What only columns that are not wanted go into nobody has looked at.
    if (node != 0 && check_value(at, end).code != ErrorCode::none) return keep(at, end, out);
    if (*at == '{') return read_object(node, at, end, out);
    if (*at == '[' && !n.children.empty()) return read_items(node, at, end, out);
    return !n.covered && !null && keep(at, end, out);
}

std::vector<JsonRescue::Member> JsonRescue::members(uint32_t node, const uint8_t* at, const uint8_t* end) {
    const Node& n = nodes_[node];
    const uint64_t object = ++objects_;
    std::vector<Member> found;
    at = skip_json_space(at + 1, end);
    while (at && at < end && *at == '"') {
        Member member{at, nullptr, nullptr, nullptr, 0};
        const uint8_t* const close = find_string_end(at + 1, end);
        if (close == end) break;
        member.key_end = close + 1;
        at = skip_json_space(member.key_end, end);
        if (at == end || *at != ':') break;
        member.begin = skip_json_space(at + 1, end);
        at = behind_value(member.begin, end, &member.end);
        if (at) at = skip_json_space(at, end);
        const auto place = n.by_key.find(unescaped(member.key + 1, close));
        if (place != n.by_key.end()) {
            member.node = place->second;
            Node& child = nodes_[member.node];
            if (child.seen != object || format_->duplicates == DuplicateKey::last) child.winner = found.size();
            child.seen = object;
        }
        found.push_back(member);
    }
    return found;
}

bool JsonRescue::read_object(uint32_t node, const uint8_t* at, const uint8_t* end, std::string* out) {
    const std::vector<Member> found = members(node, at, end);
    std::vector<uint8_t> wins(found.size());  // what is inside may be members of the same node
    for (size_t i = 0; i < found.size(); i++) wins[i] = found[i].node != 0 && nodes_[found[i].node].winner == i;
    bool any = false;
    for (size_t i = 0; i < found.size(); i++) {
        const Member& member = found[i];
        const size_t before = out->size();
        out->push_back(any ? ',' : '{');
        out->append(reinterpret_cast<const char*>(member.key), size_t(member.key_end - member.key));
        out->push_back(':');
        bool kept;
        if (wins[i])
            kept = read_value(member.node, member.begin, member.end, out);
        else
            kept = !nodes_[member.node ? member.node : node].covered && keep(member.begin, member.end, out);
        if (!kept) out->resize(before);
        any |= kept;
    }
    if (any) out->push_back('}');
    return any;
}

// A list, or an array that pointers go into: there items have the nodes of their numbers.
bool JsonRescue::read_items(uint32_t node, const uint8_t* at, const uint8_t* end, std::string* out) {
    const Node& n = nodes_[node];
    const bool list = n.kind == Node::list;
    std::string scratch;
    const uint8_t* item = skip_json_space(at + 1, end);
    for (uint64_t number = 0; item && item < end && *item != ']'; number++) {
        const uint8_t* item_end;
        const uint8_t* const next = behind_value(item, end, &item_end);
        uint32_t item_node = n.item;
        if (!list) {
            const auto place = n.by_key.find(std::to_string(number));
            item_node = place == n.by_key.end() ? 0 : place->second;
        }
        if (item_node ? read_value(item_node, item, item_end, &scratch) : !n.covered) return keep(at, end, out);
        item = next ? skip_json_space(next, end) : nullptr;
    }
    return false;
}

bool JsonRescue::read_entries(uint32_t node, const uint8_t* at, const uint8_t* end, std::string* out) {
    const JsonNodeSpec& key_spec = nodes_[node].spec->children[0];
    const uint32_t item = nodes_[node].item;
    std::unordered_set<std::string> keys;
    std::string scratch;
    for (const Member& member : members(node, at, end)) {
        const std::string key = unescaped(member.key + 1, member.key_end - 1);
        parse_json_key(key_spec, bytes_of(key), &scalar_);
        const bool fresh = keys.insert(identity_of_key(key_spec.scalar, scalar_)).second;
        if (!fresh || read_value(item, member.begin, member.end, &scratch)) return keep(at, end, out);
    }
    return false;
}

// A value that is no JSON by itself, in a record that is otherwise in order, is kept as a string of its text.
bool JsonRescue::keep(const uint8_t* at, const uint8_t* end, std::string* out) {
    const Skipped done = check_value(at, end);
    if (done.code == ErrorCode::none && done.at == end)
        append_json_value(at, size_t(end - at), out);
    else
        append_json_string(at, size_t(end - at), out);
    return true;
}

}  // namespace formatter
