// One JSON value that is not nested, exactly, as its column's type. In: text that begins at a value. Out: the value or
// what is wrong with it: the reference behind the fast loops. Refuses to know rows and columns.
#pragma once

#include "engine/json_text/json_format.hpp"
#include "engine/json_text/json_text.hpp"
#include "engine/variants/json_variant.hpp"

namespace formatter {

struct JsonScalar {
    bool null = false;
    alignas(widest_value) uint8_t value[widest_value] = {};  // as its type stores it
    Bytes text{};         // of string and binary columns; may lie in `scratch`
    std::string scratch;
    std::shared_ptr<VariantWriter> variants;  // made for the first value of a column of them
};

// Values as JSON writes them all.
const Spelling& json_spelling();
// The same, with other ways to write times.
std::shared_ptr<const Spelling> json_spelling_with(std::vector<std::string> timestamp_formats);

// Reads the value at `at` and stops behind it; on an error, where the value (or the offending byte of it) stands.
// Strings hold valid UTF-8 as far as the record does.
Skipped parse_json_scalar(const JsonNodeSpec&, const uint8_t* at, const uint8_t* end, JsonScalar* out);

// The key of a map's entry, unescaped, as its key's type: what a value of that type may be, here always between quotes.
ErrorCode parse_json_key(const JsonNodeSpec&, Bytes key, JsonScalar* out);
// Bytes that two keys of one type share if and only if they are the same key.
std::string identity_of_key(const ColumnSpec&, const JsonScalar&);
// The same for equal keys, and seldom for others.
uint64_t digest_of_key(const ColumnSpec&, const JsonScalar&);

}  // namespace formatter
