// Booleans, a bit each. In: fields, one value's text, binary rows. Out: values. Refuses to know formats: which texts say yes
// and which say no is theirs to tell.
#include <algorithm>

#include "engine/types/column_types.hpp"
#include "engine/types/fixed_width.hpp"

namespace formatter {
namespace {

bool decode(const FieldLoop& c) {
    const std::vector<Token>&yes = c.spelling.true_tokens, &no = c.spelling.false_tokens;
    uint64_t* const bits = reinterpret_cast<uint64_t*>(c.wide);
    c.kernel->decode_bool(c.fields, yes.data(), yes.size(), no.data(), no.size(), bits, *c.marks);
    copy_bits(c.values, c.at, bits, c.fields.rows);
    return true;
}

ErrorCode parse_text(Bytes text, const ColumnSpec&, const Spelling& spelling, void* out) {
    const auto is = [text](const std::string& token) { return text.equals(token); };
    const bool yes = std::any_of(spelling.trues.begin(), spelling.trues.end(), is);
    const bool known = yes || std::any_of(spelling.falses.begin(), spelling.falses.end(), is);
    return stored(known ? ErrorCode::none : ErrorCode::invalid, yes, out);
}

void test(const Predicate& p, const ColumnView& c, uint64_t count, uint64_t* keep) {
    const uint8_t* const bits = c.values;
    test_rows<int64_t>(p, p.integers, c, count, keep,
                       [bits](uint64_t row) { return int64_t(bits[row / 8] >> (row % 8) & 1); });
}

void gather(const PackedFields& fields, uint8_t* values, uint64_t at) {
    std::vector<uint64_t> bits(fields.count / 64 + 1);
    each_packed(fields, [&bits](size_t i, const uint8_t* field) { bits[i / 64] |= uint64_t(*field == 1) << (i % 64); });
    copy_bits(values, at, bits.data(), uint32_t(fields.count));
}

size_t next_wrong(const PackedFields& fields, const ColumnSpec&, size_t from, ErrorCode* why) {
    *why = ErrorCode::invalid;
    return next_wrong_packed(fields, from, [](const uint8_t* field) { return *field <= 1; });
}

constexpr ColumnType boolean() {
    ColumnType type;
    type.name = "bool_";
    type.layout = ValueLayout::bits;
    type.json = JsonWriting::boolean;
    type.decode = decode;
    type.parse_text = parse_text;
    type.test = test;
    type.gather = gather;
    type.next_wrong = next_wrong;
    return type;
}

}  // namespace

constexpr ColumnType boolean_type = boolean();

}  // namespace formatter
