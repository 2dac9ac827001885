// The text of one JSON value to one value of a nested column. In: text that begins at a value, inside a record whose
// brackets match. Out: one value more in the builder, or what is wrong and where, and nothing more in the builder.
// Refuses to know where the value stood.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "engine/json/json_columns.hpp"

namespace formatter {

struct JsonPolicy {
    DuplicateKey duplicates = DuplicateKey::last;
    bool unknown_is_error = false;
    bool rescues = false;  // tell of what found no place
    bool null_on_error = false;  // a bad value becomes null where the schema allows it, or what holds it does
};

class JsonNestedReader {
  public:
    explicit JsonNestedReader(JsonPolicy policy) : policy_(policy) {}

    // Stops behind the value.
    Skipped read(JsonBuilder&, const uint8_t* at, const uint8_t* end);

    uint64_t nulled = 0;  // values made null for an error
    bool left_out = false;  // a member that the schema lacks, or one of two with a key; who wants to know resets it
    Skipped first_nulled{nullptr, ErrorCode::none};  // and where the first was; who wants to know resets it

  private:
    struct Member {
        JsonScalar key;
        ErrorCode code;  // of the key
        const uint8_t* key_at;
        const uint8_t* value;
    };

    Skipped read_value(JsonBuilder&, const uint8_t* at, const uint8_t* end);
    Skipped read_scalar(JsonBuilder&, const uint8_t* at, const uint8_t* end);
    Skipped read_structure(JsonBuilder&, const uint8_t* at, const uint8_t* end);
    Skipped read_list(JsonBuilder&, const uint8_t* at, const uint8_t* end);
    Skipped read_map(JsonBuilder&, const uint8_t* at, const uint8_t* end);
    const uint8_t* read_plain_map(JsonBuilder&, const uint8_t* at, const uint8_t* end);
    Skipped read_map_again(JsonBuilder&, const uint8_t* at, const uint8_t* end);
    // The key at `at` (its opening quote) and the ':' behind it; stops where the value begins.
    Skipped read_key(const uint8_t* at, const uint8_t* end, Bytes* key, std::string* scratch,
                     Surrogate alone = Surrogate::error);

    JsonPolicy policy_;
    JsonScalar scalar_;
    std::string key_scratch_;
};

// The position of `key` among named nodes, looked for at `guess` first; -1 if it is none of them.
int find_key(const std::vector<JsonNodeSpec>&, Bytes key, size_t guess);

}  // namespace formatter
