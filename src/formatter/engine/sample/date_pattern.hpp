// Dates and times as people write them: 12/31/2024, 31.12.24, Dec 31 2024 5:01PM. In: a field. Out: the strptime-like
// format it follows, with %1 and %2 for two numbers of which either may be the month. Refuses to know columns.
#pragma once

#include <string>

#include "engine/values/exact_values.hpp"

namespace formatter {

struct DatePattern {
    std::string format;
    bool has_date = false, has_time = false, has_zone = false;
    bool first_can_be_month = false;  // where %1 and %2 stand
    bool second_can_be_month = false;
    uint8_t fineness = 0;             // digits of a fraction of seconds
};

// False: it is no such date or time, or none that exists in the calendar.
bool find_date_pattern(Bytes, DatePattern* out);

}  // namespace formatter
