#include "engine/records/record_ending.hpp"

#include <algorithm>
#include <cstring>

#include "engine/columns/column_type.hpp"

namespace formatter {

RecordEnds RecordEnding::ends_anywhere(const uint8_t* data, size_t size) const {
    RecordEnds ends;
    if (size == 0) return ends;
    const void* first = std::memchr(data, bytes.record_end, size);
    if (!first) return ends;
    ends.first = uint64_t(static_cast<const uint8_t*>(first) - data) + 1;
    ends.last = uint64_t(static_cast<const uint8_t*>(memrchr(data, bytes.record_end, size)) - data) + 1;
    return ends;
}

QuoteSummary RecordEnding::summarize(const uint8_t* data, size_t size) const {
    QuoteSummary summary{};
    if (kind == EndingKind::parity) kernel->summarize_quotes(data, size, bytes, summary);
    return summary;
}

size_t RecordEnding::course_states(QuoteState* states) const {
    states[0] = {false, true, false};
    states[1] = {false, false, false};
    states[2] = {true, false, false};
    states[3] = {false, true, true};
    return notes_closing_quotes() ? 4 : 3;
}

// Most bytes need no courses.
void RecordEnding::note_courses(uint8_t* to, const uint8_t* data, size_t size, const uint8_t* next, size_t next_size,
                                QuoteNotes* notes) const {
    kernel->agree_on_quotes(to, data, size, bytes, next, next_size, notes->agreement);
    if (notes->agreement.holds[0] || notes->agreement.holds[1]) return;
    QuoteState states[QuoteNotes::most_courses];
    const size_t count = course_states(states);
    for (size_t i = 0; i < count; i++) notes->courses[i].state = states[i];
    kernel->follow_quotes(to ? to : data, size, bytes, notes->courses, count);
}

bool RecordEnding::quotes_end(const uint8_t* data, size_t size) const {
    if (kind == EndingKind::parity) return kernel->count_byte(data, size, bytes.quote) % 2 == 0;
    if (kind != EndingKind::courses) return false;
    QuoteCourse course{{false, true, false}, 0, 0};
    kernel->follow_quotes(data, size, bytes, &course, 1);
    return !course.state.inside;
}

// Whether the bytes agree if they begin in this state, which then becomes that at their end.
bool RecordEnding::follows_by_parity(const uint8_t* data, size_t size, const QuoteAgreement& agreement,
                                     ScanState* state) const {
    if (size == 0) return true;
    const QuoteState before = state->quotes();
    if (!agreement.holds[before.inside]) return false;
    if (before.closing && !agreement.follows && bytes.rule == QuoteRule::sticky) return false;
    if (agreement.opens && !before.inside && !before.fresh) return false;
    const bool inside = before.inside != agreement.odd;
    size_t blanks = 0;
    if (bytes.opens_behind_blanks && !inside)
        while (blanks < size && is_blank(data[size - 1 - blanks]) && !separates(data[size - 1 - blanks])) blanks++;
    if (blanks == size) {
        state->take({false, before.fresh && !before.closing, false});
        return true;
    }
    const uint8_t last = data[size - 1 - blanks];
    const bool behind_quote = last == bytes.quote && blanks == 0;
    const bool fresh = !inside && (behind_quote || separates(last));
    state->take({inside, fresh, fresh && behind_quote && notes_closing_quotes()});
    return true;
}

// Of bytes in which quotes are counted.
RecordEnds RecordEnding::ends_by_parity(const uint8_t* data, size_t size, bool inside) const {
    RecordEnds ends;
    ends.by_parity = true;
    const uint64_t first = kernel->first_record_end(data, size, bytes, inside);
    if (first == QuoteSummary::none) return ends;
    ends.first = first + 1;
    ends.last = RecordEnds::later;
    return ends;
}

RecordEnds RecordEnding::ends_on_course(const uint8_t* data, size_t size, const QuoteNotes& notes,
                                        ScanState* state) const {
    const bool begins_stream = state->mark < mark_bytes, inside = state->inside;
    if (!begins_stream && follows_by_parity(data, size, notes.agreement, state))
        return ends_by_parity(data, size, inside);
    return ends_by_courses(data, size, notes, state);
}

RecordEnds RecordEnding::ends_by_courses(const uint8_t* data, size_t size, const QuoteNotes& notes,
                                         ScanState* state) const {
    RecordEnds ends;
    QuoteCourse course;
    size_t begin = 0;
    if (state->mark < mark_bytes) {  // of a stream's first bytes: the first field may begin behind a mark
        for (; begin < size && state->mark < mark_bytes; begin++)
            if (scanner->scan(data + begin, 1, state, false).any()) ends.add(begin + 1);
        course.state = state->quotes();
        kernel->follow_quotes(data + begin, size - begin, bytes, &course, 1);
    } else if (notes.agreement.holds[0] || notes.agreement.holds[1]) {
        course.state = state->quotes();
        kernel->follow_quotes(data, size, bytes, &course, 1);
    } else {
        QuoteState states[QuoteNotes::most_courses];
        const size_t count = course_states(states);
        course = notes.courses[std::find(states, states + count, state->quotes()) - states];
    }
    if (course.first_end != QuoteSummary::none) {
        ends.add(begin + course.first_end + 1);
        ends.add(begin + course.last_end + 1);
    }
    state->take(course.state);
    return ends;
}

RecordEnds RecordEnding::ends_after(const uint8_t* data, size_t size, const QuoteNotes& notes, ScanState* state) const {
    if (kind == EndingKind::stateless) return ends_anywhere(data, size);
    if (kind == EndingKind::scanned) return scanner->scan(data, size, state, false);
    if (kind == EndingKind::courses) return ends_on_course(data, size, notes, state);
    const uint64_t quotes = notes.quotes;
    const bool inside = state->inside;
    state->inside ^= quotes & 1;
    if (quotes == 0) return inside ? RecordEnds() : ends_anywhere(data, size);
    return ends_by_parity(data, size, inside);
}

uint64_t RecordEnding::last_end(const uint8_t* data, size_t size, bool inside) const {
    while (const void* found = size ? memrchr(data, bytes.record_end, size) : nullptr) {
        const size_t end = size_t(static_cast<const uint8_t*>(found) - data);
        inside ^= kernel->count_byte(data + end, size - end, bytes.quote) & 1;
        if (!inside) return end + 1;
        size = end;
    }
    return RecordEnds::none;
}

uint64_t RecordEnding::record_size(const uint8_t* data, size_t size, ScanState* state) const {
    if (kind == EndingKind::stateless) return ends_anywhere(data, size).first;
    return scanner->scan(data, size, state, true).first;
}

}  // namespace formatter
