#include "engine/json/json_filler.hpp"

#include <cstring>

#include "engine/records/row_block.hpp"

namespace formatter {

using Node = JsonWalk::Node;

bool JsonFiller::fill_column(JsonBuilder& builder, size_t column) {
    const uint32_t node_at = walk_->column_node(column);
    const Node& node = walk_->node(node_at);
    if (node.kind == Node::contested) return false;
    const JsonSpace& space = walk_->space(node.space);
    if (!node.nullable) {
        for (uint32_t row = 0; row < space.rows(); row++) {
            const uint32_t* entries = space.row(row);
            if (node.kind != Node::map && entries[node.mark] == JsonSpace::absent) return false;
        }
        if (node.kind == Node::map) return false;
    }
    return fill(builder, node_at);
}

bool JsonFiller::fill(JsonBuilder& builder, uint32_t at) {
    const Node& node = walk_->node(at);
    builder.reserve_more(walk_->space(node.space).rows());
    switch (node.kind) {
        case Node::structure: return fill_structure(builder, at);
        case Node::list: return fill_list(builder, at);
        case Node::map: return fill_map(builder, at);
        case Node::leaf: break;
        default: return false;
    }
    return is_text(builder.spec().scalar) ? fill_text(builder, at) : fill_fixed_width(builder, at);
}

void JsonFiller::begin_rows(size_t rows) {
    marks_.make_room(rows);
    marks_.all_valid(rows);
}

// Below a null everything is null, or a zero where the schema allows none; and so is what is absent.
bool JsonFiller::fill_structure(JsonBuilder& builder, uint32_t at) {
    const Node& node = walk_->node(at);
    const JsonSpace& space = walk_->space(node.space);
    for (size_t i = 0; i < walk_->members(at).size(); i++)
        if (!fill(builder.child(i), walk_->members(at)[i])) return false;
    begin_rows(space.rows());
    for (uint32_t row = 0; row < space.rows(); row++)
        if (space.row(row)[node.mark] != JsonSpace::present && node.nullable) clear_valid(row);
    builder.append_written(space.rows(), marks_.valid.data());
    return true;
}

bool JsonFiller::fill_list(JsonBuilder& builder, uint32_t at) {
    const Node& node = walk_->node(at);
    const JsonSpace& space = walk_->space(node.space);
    const uint64_t first = builder.child(0).length(), row_count = space.rows();
    const uint64_t items = row_count ? space.row(uint32_t(row_count - 1))[node.count] : 0;
    // What a list that failed has left behind belongs to a column that is troubled.
    if (items != walk_->space(node.items).rows()) return false;
    const bool wide = builder.wide_offsets();
    begin_rows(row_count);
    for (uint32_t row = 0; row < row_count; row++) {
        const uint32_t* entries = space.row(row);
        if (entries[node.mark] != JsonSpace::present) {
            if (node.sized) return false;  // items are due even below a null
            if (node.nullable) clear_valid(row);
        }
        if (!node.sized) builder.write_end(builder.length() + row, first + entries[node.count], wide);
    }
    builder.append_written(row_count, marks_.valid.data());
    return fill(builder.child(0), node.item);
}

bool JsonFiller::fill_fixed_width(JsonBuilder& builder, uint32_t at) {
    const Node& node = walk_->node(at);
    const JsonNodeSpec& spec = builder.spec();
    const JsonSpace& space = walk_->space(node.space);
    const FieldView view = space.view(node.entry);
    const bool nullable = spec.scalar.nullable;
    begin_rows(view.rows);
    loops_.make_room(view.rows);
    ValueMarks marks = marks_.for_loop();
    loops_.decode(spec.scalar, view, node.leading_zeros, builder.values(), builder.length(), &marks);
    static const JsonScalar zero;
    // What has no bytes and no quotes around them is absent, below a null or not: that nothing due is absent was seen on
    // the walk.
    const bool absent_known = marks.empty_count != 0 && !node.quoted;
    if (absent_known) {
        // The loops have written zeros.
        for (uint32_t word = 0; nullable && word * 64 < view.rows; word++) marks_.valid[word] &= ~marks_.empty[word];
    }
    bool fine = true;
    if (marks.odd_count + (absent_known ? 0 : marks.empty_count) != 0) {
        each_row(view, [&](uint32_t row, const Segment& segment, const uint32_t* entries) {
            if (!fine || (!has_bit(marks_.empty.data(), row) && !has_bit(marks_.odd.data(), row))) return;
            const uint32_t* stops = entries + node.entry;
            bool null = segment.base[stops[0]] == '\n';
            if (!null) {
                fine = read_exactly(spec, segment, stops, node.quoted) && (nullable || !scalar_.null);
                null = scalar_.null;
            }
            store_value(*spec.scalar.type, null ? zero.value : scalar_.value, builder.values(), builder.length() + row);
            if (null && nullable) clear_valid(row);
        });
    }
    if (fine) builder.append_written(view.rows, marks_.valid.data());
    return fine;
}

bool JsonFiller::fill_text(JsonBuilder& builder, uint32_t at) {
    const Node& node = walk_->node(at);
    const JsonNodeSpec& spec = builder.spec();
    const FieldView view = walk_->space(node.space).view(node.entry);
    const bool nullable = spec.scalar.nullable;
    begin_rows(view.rows);
    const std::vector<uint8_t> zeros(zero_bytes(spec.scalar) + 1);  // one more: text of no bytes has an address, too
    const auto exactly = [&](uint32_t row, const Segment& segment, const uint32_t* stops) {
        bool null = segment.base[stops[0]] == '\n';  // that nothing due is absent was seen on the walk
        if (!null) {
            if (!read_exactly(spec, segment, stops, node.quoted)) return Bytes{nullptr, 0};
            null = scalar_.null;
            if (null && !nullable) return Bytes{nullptr, 0};
        }
        if (null && nullable) clear_valid(row);
        if (null) return Bytes{zeros.data(), zeros.size() - 1};
        return scalar_.text.size == 0 ? Bytes{zeros.data(), 0} : scalar_.text;
    };
    JsonLoops::TextTarget target = builder.text_target(marks_.valid.data());
    if (!loops_.gather_text(view, is_plain_text(spec.scalar), &target, exactly)) return false;
    builder.set_text_bytes(target.bytes);
    builder.append_written(view.rows, marks_.valid.data());
    return true;
}

bool JsonFiller::fill_map(JsonBuilder& builder, uint32_t at) {
    const Node& node = walk_->node(at);
    const JsonSpace& space = walk_->space(node.space);
    uint32_t row = 0;
    const uint64_t nulled = reader_->nulled;
    for (const Segment& segment : space.segments()) {
        for (const uint32_t end = row + segment.rows; row < end; row++) {
            const uint32_t* stops = space.row(row) + node.entry;
            const uint8_t* begin = segment.base + stops[0];
            if (*begin == '\n') {
                builder.append_null();
                continue;
            }
            reader_->left_out = false;
            const Skipped done = reader_->read(builder, begin, segment.base + stops[1]);
            if (done.code == ErrorCode::none && done.at == segment.base + stops[1] && reader_->nulled == nulled &&
                !(rescues_ && reader_->left_out))
                continue;
            reader_->nulled = nulled;
            return false;
        }
    }
    return true;
}

bool JsonFiller::read_exactly(const JsonNodeSpec& spec, const Segment& segment, const uint32_t* stops, bool quoted) {
    const uint8_t* begin = segment.base + stops[0];
    const uint8_t* end = segment.base + stops[1];
    if (quoted && begin[-1] == '"') begin--, end++;
    const Skipped done = parse_json_scalar(spec, begin, end, &scalar_);
    return done.code == ErrorCode::none && done.at == end;
}

}  // namespace formatter
