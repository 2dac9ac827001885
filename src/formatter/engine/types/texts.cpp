// Text and bytes of any length, behind offsets of 32 or 64 bits. In: columns that hold them. Out: which values pass. Refuses
// to know how they come there: decoders copy text, each in its own way.
#include <string_view>

#include "engine/columns/value_tests.hpp"
#include "engine/types/column_types.hpp"

namespace formatter {
namespace {

// Of batches the engine made: their texts lie in one buffer.
void test_views(const Predicate& p, const ColumnView& c, uint64_t count, uint64_t* keep) {
    test_rows<std::string_view>(p, p.texts, c, count, keep, [&c](uint64_t row) {
        const uint8_t* view = c.values + 16 * row;
        uint32_t words[4];
        std::memcpy(words, view, 16);
        const char* begin = words[0] > 12 ? c.text + words[3] : reinterpret_cast<const char*>(view) + 4;
        return std::string_view(begin, words[0]);
    });
}

template <typename Offset>
void test(const Predicate& p, const ColumnView& c, uint64_t count, uint64_t* keep) {
    if (c.views) return test_views(p, c, count, keep);
    const Offset* offsets = reinterpret_cast<const Offset*>(c.values);
    const char* text = c.text;
    const auto value_at = [offsets, text](uint64_t row) {
        return std::string_view(text + offsets[row], size_t(offsets[row + 1] - offsets[row]));
    };
    const int32_t* codes = c.codes;
    if (codes)
        return test_rows<std::string_view>(p, p.texts, c, count, keep,
                                           [&](uint64_t row) { return value_at(uint64_t(codes[row])); });
    test_rows<std::string_view>(p, p.texts, c, count, keep, value_at);
}

template <typename Offset>
constexpr ColumnType text(const char* name, bool is_utf8) {
    ColumnType type;
    type.name = name;
    type.layout = sizeof(Offset) == 8 ? ValueLayout::large_text : ValueLayout::text;
    type.operands = Operands::texts;
    type.is_utf8 = is_utf8;
    type.cost = 5;
    type.test = test<Offset>;
    return type;
}

}  // namespace

constexpr ColumnType string_type = text<int32_t>("string", true);
constexpr ColumnType large_string_type = text<int64_t>("large_string", true);
constexpr ColumnType binary_type = text<int32_t>("binary", false);
constexpr ColumnType large_binary_type = text<int64_t>("large_binary", false);

}  // namespace formatter
