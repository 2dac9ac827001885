#include "engine/sample/dialect_tally.hpp"

#include <algorithm>
#include <map>

#include "engine/sample/value_kind.hpp"

namespace formatter {
namespace {

struct RecordTally {
    uint32_t width, bytes, grades, typed, empty;
    bool last_empty;
};

// A table may stand before the largest one if it is not small beside it and not much narrower: a preamble of names and
// values is no table.
constexpr uint64_t FIRST_TABLE_RECORDS = 5;
constexpr uint64_t FIRST_TABLE_SHARE = 4;

// The width of the first table: what most records have, or a long enough run of records before those.
uint32_t table_width(const std::vector<RecordTally>& records) {
    std::map<uint32_t, uint64_t> counts;
    for (const RecordTally& record : records) counts[record.width]++;
    uint32_t usual = 0;
    uint64_t most = 0;
    for (const auto& [width, count] : counts)
        if (count > most || (count == most && width > usual)) usual = width, most = count;
    if (usual <= 1) {
        // Fields beat lines where they are many: prose above a table is counted by its lines.
        for (const auto& [width, count] : counts)
            if (width > 1 && count * width > most && 3 * count > most) usual = width, most = count * width;
        if (usual <= 1) return usual;
        most = counts[usual];
    }
    uint64_t run = 0;
    for (size_t i = 0; i < records.size() && records[i].width != usual; i++) {
        run = i && records[i].width == records[i - 1].width ? run + 1 : 1;
        const uint32_t width = records[i].width;
        if (width > 1 && 2 * width >= usual && run >= FIRST_TABLE_RECORDS && FIRST_TABLE_SHARE * run >= most)
            return width;
    }
    return usual;
}

}  // namespace

void tally_dialect(const SampleReading& reading, const uint8_t* data, size_t size, bool whole, uint64_t records_most,
                   DialectTally* out) {
    SampleScan scan(reading, data, size, whole);
    std::vector<RecordTally> records;
    std::string scratch;
    out->inside_typed.assign(256, 0);
    out->inside_text.assign(256, 0);
    while (records.size() < records_most && scan.next()) {
        out->used = scan.after();
        if (scan.blank() || scan.comment()) {
            (scan.blank() ? out->blank : out->comments)++;
            continue;
        }
        RecordTally record{uint32_t(scan.fields().size()), uint32_t(scan.end() - scan.begin()), 0, 0, 0, false};
        for (const SampleField& field : scan.fields()) {
            const bool quoted = (field.marks & SampleField::quoted) && !(field.marks & SampleField::stray);
            Bytes content{data + field.begin, field.end - field.begin};
            if (field.marks & (SampleField::doubled | SampleField::spaced) || quoted) {
                scratch.clear();
                append_content(reading, data, field, &scratch);
                content = {reinterpret_cast<const uint8_t*>(scratch.data()), scratch.size()};
            } else {
                while (content.size && *content.data == ' ') content.data++, content.size--;
                while (content.size && content.data[content.size - 1] == ' ') content.size--;
            }
            const ValueLook look = look_at(content, quoted);
            record.grades += field.marks & SampleField::stray ? look.grade / 2 : look.grade;
            record.last_empty = look.kind == ValueKind::empty && !quoted;
            record.empty += record.last_empty;
            if (look.kind == ValueKind::empty) continue;
            const bool typed = look.kind != ValueKind::text && look.kind != ValueKind::null_marker;
            record.typed += typed;
            if (quoted) continue;
            std::vector<uint64_t>& inside = typed ? out->inside_typed : out->inside_text;
            for (size_t i = 0; i < content.size; i++) inside[content.data[i]]++;
        }
        records.push_back(record);
    }
    out->quotes = scan.quotes();
    out->records = records.size();
    out->width = table_width(records);
    out->last_always_empty = !records.empty();
    bool found = false;
    for (size_t i = 0; i < records.size(); i++) {
        const RecordTally& record = records[i];
        out->bytes += record.bytes;
        out->widths.push_back(record.width);
        if (record.width != out->width) continue;
        if (!found) out->table_first = i, found = true;
        out->table_records++;
        out->table_bytes += record.bytes;
        out->cells += record.width;
        out->grades += record.grades;
        out->typed += record.typed;
        out->empty += record.empty;
        out->last_always_empty &= record.last_empty;
    }
}

}  // namespace formatter
