// What can be wrong with a value or a record. In: nothing. Out: codes and their names, from one list. Refuses to know where
// it was met, and words.
#pragma once

#include <cstddef>
#include <cstdint>

namespace formatter {

#define FORMATTER_ERROR_CODES(each)                                                                                    \
    each(none) each(invalid) each(overflow) each(precision) each(bad_utf8) each(missing_required) each(too_few_fields) \
        each(too_many_fields) each(stray_quote) each(unterminated_quote) each(record_too_long) each(lost) each(header) \
            each(several_records) each(malformed) each(not_an_object) each(trailing_data) each(wrong_type)             \
                each(duplicate_key) each(unknown_key) each(too_deep) each(not_an_array) each(unterminated_array)       \
                    each(unterminated_record) each(wrong_length) each(no_record_start) each(unreadable_record)         \
                        each(indexer_failed)

enum class ErrorCode : uint8_t {
#define FORMATTER_CODE(name) name,
    FORMATTER_ERROR_CODES(FORMATTER_CODE)
#undef FORMATTER_CODE
};

#define FORMATTER_ONE(name) +1
constexpr size_t error_code_count = FORMATTER_ERROR_CODES(FORMATTER_ONE);
#undef FORMATTER_ONE

inline const char* code_name(ErrorCode code) {
#define FORMATTER_NAME(name) #name,
    static const char* const names[] = {FORMATTER_ERROR_CODES(FORMATTER_NAME)};
#undef FORMATTER_NAME
    return names[static_cast<unsigned>(code)];
}

// Of the whole stream rather than of a record: these are always raised, and told however many others there are.
inline bool is_of_stream(ErrorCode code) {
    return code == ErrorCode::header || code == ErrorCode::not_an_array || code == ErrorCode::indexer_failed;
}

}  // namespace formatter
