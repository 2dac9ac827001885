#include "rows.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace formatter;

namespace {

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "an exported batch is wrong: %s\n", what);
    std::abort();
}

int64_t offset_at(const ArrowArray& a, int64_t i, bool large) {
    return large ? static_cast<const int64_t*>(a.buffers[1])[i] : static_cast<const int32_t*>(a.buffers[1])[i];
}

void append_value(const ArrowArray& a, const Shape& shape, int64_t i, std::string* out);

void append_items(const ArrowArray& items, const Shape& shape, int64_t begin, int64_t end, std::string* out) {
    require(begin >= 0 && begin <= end && end <= items.length, "offsets of a list");
    out->push_back('[');
    for (int64_t i = begin; i < end; i++) append_value(items, shape, i, out);
    out->push_back(']');
}

void append_plain(const ArrowArray& a, const ColumnType& type, int64_t i, std::string* out) {
    if (type.is_text()) {
        const bool large = type.layout == ValueLayout::large_text;
        const int64_t begin = offset_at(a, i, large), end = offset_at(a, i + 1, large);
        require(begin >= 0 && begin <= end, "offsets of text");
        out->append(static_cast<const char*>(a.buffers[2]) + begin, size_t(end - begin));
    } else if (type.layout == ValueLayout::bits) {
        out->push_back('0' + (static_cast<const uint8_t*>(a.buffers[1])[i / 8] >> (i % 8) & 1));
    } else {
        const size_t width = type.width;
        const char* value = static_cast<const char*>(a.buffers[1]) + width * i;
        double real = 0;  // any NaN is as good as another
        if (type.operands == Operands::floats && width == 8) std::memcpy(&real, value, 8);
        if (real != real)
            out->append("nan");
        else
            out->append(value, width);
    }
}

void append_value(const ArrowArray& a, const Shape& shape, int64_t i, std::string* out) {
    require(i < a.length, "an index");
    const uint8_t* validity = static_cast<const uint8_t*>(a.buffers[0]);
    if (validity && !(validity[i / 8] >> (i % 8) & 1)) {
        out->append("null;");
        return;
    }
    switch (shape.kind) {
        case JsonKind::scalar: append_plain(a, *shape.type, i, out); break;
        case JsonKind::structure:
            for (size_t c = 0; c < shape.children.size(); c++) append_value(*a.children[c], shape.children[c], i, out);
            break;
        case JsonKind::fixed_list:
            append_items(*a.children[0], shape.children[0], i * shape.list_size, (i + 1) * shape.list_size, out);
            break;
        case JsonKind::map: {
            const int64_t begin = offset_at(a, i, false), end = offset_at(a, i + 1, false);
            for (int64_t entry = begin; entry < end; entry++)
                for (size_t c = 0; c < 2; c++) append_value(*a.children[0]->children[c], shape.children[c], entry, out);
            break;
        }
        default: {
            const bool large = shape.kind == JsonKind::large_list;
            append_items(*a.children[0], shape.children[0], offset_at(a, i, large), offset_at(a, i + 1, large), out);
        }
    }
    out->push_back(';');
}

}  // namespace

void Outcome::add_batch(const OwnedArray& batch, const std::vector<Shape>& columns) {
    require(size_t(batch.n_children) == columns.size(), "the number of columns");
    for (int64_t i = 0; i < batch.length; i++) {
        rows.emplace_back();
        for (size_t c = 0; c < columns.size(); c++) append_value(*batch.children[c], columns[c], i, &rows.back());
    }
}

void Outcome::add_finding(const Finding& found, int64_t bytes, uint64_t records_before) {
    findings.emplace_back(int(found.code), found.column, bytes, records_before, found.found);
}

void Outcome::sort() {
    std::sort(rows.begin(), rows.end());
    std::stable_sort(findings.begin(), findings.end(),
                     [](const auto& a, const auto& b) { return std::get<3>(a) < std::get<3>(b); });
}

void Outcome::print_difference(const char* mine, const Outcome& other, const char* others) const {
    std::fprintf(stderr, "%s: %zu rows, %zu findings, %llu records; %s: %zu rows, %zu findings, %llu records\n", mine,
                 rows.size(), findings.size(), static_cast<unsigned long long>(records), others, other.rows.size(),
                 other.findings.size(), static_cast<unsigned long long>(other.records));
    const auto differ = std::mismatch(
        findings.begin(), findings.begin() + std::min(findings.size(), other.findings.size()), other.findings.begin());
    for (const auto& [name, at, end] :
         {std::tuple(mine, differ.first, findings.end()), std::tuple(others, differ.second, other.findings.end())})
        if (at != end)
            std::fprintf(stderr, "%s finds code %d, column %d, byte %lld, record %llu: '%s'\n", name, std::get<0>(*at),
                         std::get<1>(*at), static_cast<long long>(std::get<2>(*at)),
                         static_cast<unsigned long long>(std::get<3>(*at)), std::get<4>(*at).c_str());
}
