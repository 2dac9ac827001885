// Formats that a fuzzer chooses. In: choices. Out: a record format for any kernel, and how its batches are read.
#include "formats.hpp"

#include "engine/binary/binary_record_format.hpp"
#include "engine/csv/csv_record_format.hpp"
#include "engine/json/json_record_format.hpp"
#include "engine/types/column_types.hpp"

using namespace formatter;

namespace {

ColumnSpec column(const char* name, const ColumnType& type, uint32_t field, uint8_t precision = 0, int8_t scale = 0) {
    ColumnSpec spec;
    spec.name = name;
    spec.type_name = type.name;
    spec.type = &type;
    spec.field = field;
    spec.precision = precision;
    spec.scale = scale;
    return spec;
}

std::vector<ColumnSpec> all_columns() {
    return {column("i", int64_type, 0),
            column("s", string_type, 1),
            column("f", float64_type, 2),
            column("b", boolean_type, 3),
            column("d", date32_type, 4),
            column("t", timestamp_type, 5),
            column("n", decimal128_type, 6, 20, 4),
            column("k", int8_type, 7),
            column("u", uint64_type, 8),
            column("x", float32_type, 9),
            column("y", binary_type, 10)};
}

std::vector<Shape> shapes_of(const std::vector<ColumnSpec>& columns) {
    std::vector<Shape> shapes;
    for (const ColumnSpec& spec : columns) {
        shapes.emplace_back();
        shapes.back().type = spec.type;
    }
    return shapes;
}

// A few of all columns, in order.
std::vector<ColumnSpec> chosen_columns(Choices& choices) {
    const unsigned first = choices.below(256), second = choices.below(8);
    std::vector<ColumnSpec> columns;
    for (const ColumnSpec& spec : all_columns())
        if ((first | second << 8) >> spec.field & 1) columns.push_back(spec);
    if (columns.empty()) columns.push_back(all_columns()[choices.below(11)]);
    for (uint32_t i = 0; i < columns.size(); i++) columns[i].nullable = !choices.below(4) || i % 2;
    return columns;
}

void set_options(DecodeOptions* options, size_t columns) {
    options->output_columns = uint32_t(columns);
    options->on_error = OnError::collect;
}

JsonNodeSpec node(JsonKind kind, const char* name, const ColumnType& type, std::vector<JsonNodeSpec> children = {}) {
    JsonNodeSpec spec;
    spec.kind = kind;
    spec.scalar = column(name, type, 0);
    spec.children = std::move(children);
    return spec;
}

Shape shape_of(const JsonNodeSpec& spec) {
    Shape shape;
    shape.kind = spec.kind;
    shape.type = spec.scalar.type;
    shape.list_size = spec.list_size;
    for (const JsonNodeSpec& child : spec.children) shape.children.push_back(shape_of(child));
    return shape;
}

}  // namespace

ChosenFormat choose_csv(Choices& choices) {
    CsvFormat csv;
    static const char* const delimiters[] = {",", "\t", ";", "||", ",,,"};
    static const char* const ends[] = {"\n", "\n", ";\n", "\r\n", "\n\n", "aba"};
    csv.delimiter = delimiters[choices.below(5)];
    csv.record_end = ends[choices.below(6)];
    csv.quoting = choices.below(4) != 0;
    csv.escaping = choices.below(4) == 1;
    csv.escape = '\\';
    csv.commenting = choices.below(4) == 1;
    csv.comment = '#';
    csv.trim_left = choices.below(4) == 1, csv.trim_right = choices.below(4) == 1;
    if (choices.below(4) == 1) csv.header_at = {choices.below(2)};
    csv.quote_rule = QuoteRule(choices.below(8) < 5 ? 0 : choices.below(3));
    csv.newlines_in_quotes = choices.below(8) != 1;
    csv.max_quoted_bytes = csv.newlines_in_quotes && choices.below(8) == 1 ? 20 : 0;
    csv.ragged = Ragged(choices.below(4));
    csv.nulls = choices.yes() ? std::vector<std::string>{""} : std::vector<std::string>{"NULL", "n"};
    csv.spelling.trues = {"true", "1"};
    csv.spelling.falses = {"false", "0"};
    csv.columns = chosen_columns(choices);
    for (uint32_t i = 0; i < csv.columns.size(); i++) csv.columns[i].field = i;
    csv.fields = uint32_t(csv.columns.size()) + choices.below(3);
    const auto encoding = TextEncoding(choices.below(8) == 1 ? 1 + choices.below(3) : 0);
    set_options(&csv, csv.columns.size());
    ChosenFormat chosen;
    chosen.shapes = shapes_of(csv.columns);
    chosen.for_kernel = [csv, encoding](const Kernel* kernel) {
        auto mine = std::make_shared<CsvFormat>(csv);
        mine->kernel = kernel;
        return csv_record_format(mine, encoding);
    };
    return chosen;
}

ChosenFormat choose_json(Choices& choices) {
    JsonFormat json;
    json.layout = JsonLayout(choices.below(3));
    json.validate_full = choices.below(4) == 1;
    json.unknown_is_error = choices.below(8) == 1;
    json.duplicates = DuplicateKey(choices.below(3));
    for (ColumnSpec spec : chosen_columns(choices)) {
        if (spec.type == &binary_type) spec.encoding = BinaryEncoding::hex;
        JsonNodeSpec plain;
        plain.scalar = spec;
        json.columns.push_back({plain, {spec.name}});
    }
    if (choices.yes()) {
        JsonNodeSpec list = node(JsonKind::list, "l", int64_type, {node(JsonKind::scalar, "item", int64_type)});
        JsonNodeSpec map =
            node(JsonKind::map, "m", int64_type,
                 {node(JsonKind::scalar, "key", string_type), node(JsonKind::scalar, "value", float64_type)});
        map.children[0].scalar.nullable = false;
        JsonNodeSpec object =
            node(JsonKind::structure, "o", int64_type, {node(JsonKind::scalar, "s", string_type), list});
        object.children[1].scalar.name = "l";
        for (const JsonNodeSpec& spec : {list, map, object}) json.columns.push_back({spec, {spec.scalar.name}});
    }
    ChosenFormat chosen;
    for (const JsonColumn& wanted : json.columns) {
        if (wanted.node.kind == JsonKind::scalar) json.flat.push_back(wanted.node.scalar);
        chosen.shapes.push_back(shape_of(wanted.node));
    }
    set_options(&json, json.columns.size());
    if (json.layout == JsonLayout::array && choices.yes()) json.array_path = {"o", "l"};
    chosen.for_kernel = [json](const Kernel* kernel) {
        auto mine = std::make_shared<JsonFormat>(json);
        mine->kernel = kernel;
        return json_record_format(mine);
    };
    return chosen;
}

ChosenFormat choose_binary(Choices& choices) {
    BinaryFormat binary;
    static const uint8_t widths[] = {0, 1, 2, 4, LengthPrefix::varint};
    binary.length = {widths[choices.below(5)], choices.yes()};
    binary.big_endian = choices.yes();
    binary.columns = {column("i", int32_type, 0), column("b", boolean_type, 1), column("u", uint16_type, 2)};
    binary.fields = {{0, 4}, {4, 1}, {5, 2}};
    binary.row_width = 7;
    if (binary.length.width && choices.yes()) {
        binary.columns.push_back(column("s", string_type, 3));
        binary.fields.push_back({7, 0});
        binary.has_rest = true;
    }
    set_options(&binary, binary.columns.size());
    ChosenFormat chosen;
    chosen.shapes = shapes_of(binary.columns);
    chosen.for_kernel = [binary](const Kernel* kernel) {
        auto mine = std::make_shared<BinaryFormat>(binary);
        mine->kernel = kernel;
        return binary_record_format(mine);
    };
    return chosen;
}
