#include "engine/documents/json_array_lines.hpp"

#include "engine/records/byte_order_mark.hpp"

namespace formatter {
namespace {

constexpr size_t items_at_once = 256;

}  // namespace

RewrittenText JsonArrayLines::rewrite(const RewriteSource& source, uint8_t* out, std::vector<TextMark>* marks) const {
    JsonLineWriter lines(source, out, marks);
    size_t at = 0;
    while (at < source.size) {
        if (at > 0 || !source.stream_start) at = add_items(source, at, &lines);
        ScanState state = at == 0 && source.stream_start ? ScanState::of_stream_start() : ScanState{};
        const RecordEnds found = arrays_->scan(source.data + at, source.size - at, &state, true);
        if (!found.any()) break;
        add_record(source, at, at + found.first, false, &lines);
        at += found.first;
    }
    return source.final ? add_record(source, at, source.size, true, &lines) : lines.done();
}

// Records that are an item and a comma, as long as there are; returns the position behind them.
size_t JsonArrayLines::add_items(const RewriteSource& source, size_t at, JsonLineWriter* lines) const {
    uint32_t ends[items_at_once];
    const auto begins_value = [&](size_t begin) {
        return begin < source.size && arrays_->begins_value(source.data[begin]);
    };
    while (!begins_value(skip_space(source.data, at, source.size))) {
        ItemEnds items{ends, items_at_once, false, false, 0, 0, 0, false};
        arrays_->find_items(source.data + at, source.size - at, &items);
        const size_t first = at;
        for (size_t i = 0; i < items.count; i++) {
            const size_t end = first + ends[i], begin = skip_space(source.data, at, end);
            if (begins_value(begin)) return at;
            // Nothing at all in front of the comma is an item that is missing, which the comma tells.
            lines->add(begin, begin + 1 == end ? end : end - 1, end);
            at = end;
        }
        if (items.count < items_at_once) break;
    }
    return at;
}

// Of a record that may have more in it: the text around an array.
RewrittenText JsonArrayLines::add_record(const RewriteSource& source, size_t begin, size_t end, bool ends_input,
                                         JsonLineWriter* lines) const {
    const uint8_t* const data = source.data;
    const JsonWrapper& wrapper = arrays_->wrapper();
    const bool first = begin == 0 && source.stream_start;
    size_t at = skip_space(data, first ? mark_size(data, end) : begin, end);
    bool opened = false, in_array = true, wrote_item = false;
    JsonWrapper::From from = JsonWrapper::From::array;
    if (first && wrapper.any()) {
        from = JsonWrapper::From::documents;
        in_array = false;
    } else if (first) {
        if (at == end) return lines->done();  // nothing at all
        if (data[at] != '[') return lines->done(ErrorCode::not_an_array, at);
        opened = true;
        at++;
    } else if (at < end && arrays_->begins_value(data[at])) {
        at = skip_space(data, at + 1, end);
        opened = in_array = at < end && data[at] == '[';
        if (opened)
            at++;
        else
            from = JsonWrapper::From::value;
    }
    if (in_array) {
        uint32_t item_end;
        ItemEnds items{&item_end, 1, false, false, 0, 0, 0, false};
        arrays_->find_items(data + at, end - at, &items);
        const size_t close = at + items.used - (items.closed || items.count);
        const bool open = items.inside || items.depth > 0;
        const size_t item = skip_space(data, at, close);
        wrote_item = item < close || items.count || (items.closed && !opened);
        if (item < close)
            lines->add(item, close, end);
        else if (wrote_item)  // a comma, and no item before or behind it
            lines->add(close, close + 1, end);
        if (items.count) return lines->done();
        if (!items.closed) return open ? lines->done() : lines->done(ErrorCode::unterminated_array, end);
        at = close + 1;
        if (!wrapper.any()) {
            at = skip_space(data, at, end);
            return at < end ? lines->done(ErrorCode::trailing_data, at) : lines->done();
        }
    }
    const Skipped checked = wrapper.check(data + at, data + end, from, ends_input);
    const size_t fault = size_t(checked.at - data);
    if (ends_input) return checked.code == ErrorCode::none ? lines->done() : lines->done(checked.code, fault);
    if (checked.code != ErrorCode::none)
        lines->add_fault(checked.code, std::min(fault, end - 1), end, wrote_item, whole_records_);
    else if (!wrote_item)
        lines->add_nothing(begin, end);
    return lines->done();
}

}  // namespace formatter
