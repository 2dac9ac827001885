// What can be wrong with a record, and where. In: findings of the decoders. Out: rows for FormatError and the rejects.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace formatter {

enum class ErrorCode : uint8_t {
    none,
    invalid,
    overflow,
    precision,
    bad_utf8,
    missing_required,
    too_few_fields,
    too_many_fields,
    stray_quote,
    unterminated_quote,
    record_too_long,
    lost,
    header,
    several_records,
    malformed,
    not_an_object,
    trailing_data,
    wrong_type,
    duplicate_key,
    unknown_key,
    too_deep,
    not_an_array,
    unterminated_array,
    unterminated_record,
    wrong_length,
};

inline const char* code_name(ErrorCode code) {
    static const char* const names[] = {
        "none",
        "invalid",
        "overflow",
        "precision",
        "bad_utf8",
        "missing_required",
        "too_few_fields",
        "too_many_fields",
        "stray_quote",
        "unterminated_quote",
        "record_too_long",
        "lost",
        "header",
        "several_records",
        "malformed",
        "not_an_object",
        "trailing_data",
        "wrong_type",
        "duplicate_key",
        "unknown_key",
        "too_deep",
        "not_an_array",
        "unterminated_array",
        "unterminated_record",
        "wrong_length",
    };
    return names[static_cast<unsigned>(code)];
}

struct RowError {
    ErrorCode code = ErrorCode::none;
    bool row_kept = false;      // the field became null, the row came out
    int32_t column = -1;        // index into the format's columns, -1: the record as a whole
    uint64_t sequence = 0;      // buffer in which the record ends; 0: a whole input
    int64_t byte_offset = 0;    // of the field or record; relative to that buffer's start, or absolute
    int64_t record_end = -1;  // counted like byte_offset: where the record ends, if its decoder had to know; else -1
    uint64_t record = 0;  // ordinal among the records that end in that buffer, or absolute
    uint32_t found_fields = 0;  // for the arity codes
    std::string found;  // the field's bytes
    std::string raw;  // the record's bytes
};

}  // namespace formatter
