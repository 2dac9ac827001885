// Where quote parity is all, one pass tells both courses. Otherwise every possible state is followed until those that have
// become equal can go on as one: after a few bytes there are seldom more than two.
#include "engine/whole/chunk_survey.hpp"

#include <algorithm>
#include <cstring>

namespace formatter {
namespace {

constexpr size_t evidence_window = 64 << 10;
constexpr size_t first_stretch = 64;  // states merge early
constexpr size_t longest_stretch = 64 << 10;

struct Course {
    ScanState state;
    uint16_t packed;
    std::vector<size_t> members;  // of the survey's courses
};

// By the notes on a buffer. Only a stream's first bytes have more states than those: of a byte order mark.
void follow_courses(const RecordEnding& ending, const uint8_t* data, size_t size, ChunkSurvey* survey) {
    QuoteNotes notes;
    ending.note(data, size, &notes);
    QuoteState quotes[QuoteNotes::most_courses];
    const size_t count = ending.course_states(quotes);
    for (size_t i = 0; i < count + mark_bytes; i++) {
        ScanState state;
        if (i < count) state.take(quotes[i]);
        if (i >= count) state.mark = uint8_t(i - count), state.fresh = i == count;
        const uint16_t start = packed_state(ending, state);
        const RecordEnds ends = ending.ends_after(data, size, notes, &state);
        survey->courses.push_back(
            {start, packed_state(ending, state), ends.any() ? uint32_t(ends.last) : ChunkCourse::none});
    }
}

void follow_states(const RecordEnding& ending, const uint8_t* data, size_t size, ChunkSurvey* survey) {
    std::vector<Course> going;
    for (const ScanState& state : ending.scanner->possible_states()) {
        const uint16_t packed = packed_state(ending, state);
        going.push_back({state, packed, {survey->courses.size()}});
        survey->courses.push_back({packed, packed, ChunkCourse::none});
    }
    for (size_t at = 0, stretch = first_stretch; at < size; stretch = std::min(2 * stretch, longest_stretch)) {
        const size_t count = std::min(stretch, size - at);
        for (Course& course : going) {
            const RecordEnds ends = ending.scanner->scan(data + at, count, &course.state, false);
            course.packed = packed_state(ending, course.state);
            if (!ends.any()) continue;
            for (size_t member : course.members) survey->courses[member].last_end = uint32_t(at + ends.last);
        }
        for (size_t i = 0; i < going.size(); i++) {
            for (size_t j = going.size() - 1; j > i; j--) {
                if (going[j].packed != going[i].packed) continue;
                going[i].members.insert(going[i].members.end(), going[j].members.begin(), going[j].members.end());
                going.erase(going.begin() + ptrdiff_t(j));
            }
        }
        at += count;
    }
    for (const Course& course : going)
        for (size_t member : course.members) survey->courses[member].end = course.packed;
}

uint32_t behind(uint64_t end) { return end == QuoteSummary::none ? ChunkCourse::none : uint32_t(end + 1); }

}  // namespace

uint16_t packed_state(const RecordEnding& ending, const ScanState& s) {
    if (ending.kind == EndingKind::stateless || ending.kind == EndingKind::parity)
        return ending.kind == EndingKind::parity && s.inside;
    const QuoteState quotes = s.quotes();
    if (ending.kind == EndingKind::courses)
        return uint16_t(quotes.inside | s.mark << 7 | quotes.fresh << 9 | quotes.closing << 10);
    return uint16_t(s.inside | s.escaped << 1 | s.in_comment << 2 | s.at_record_start << 3 | s.matched << 4 |
                    s.mark << 7 | quotes.fresh << 9 | quotes.closing << 10 | s.delimiter_matched << 11);
}

ScanState unpacked_state(const RecordEnding& ending, uint16_t packed) {
    ScanState s;
    s.inside = packed & 1;
    if (ending.kind == EndingKind::stateless || ending.kind == EndingKind::parity) return s;
    s.mark = uint8_t(packed >> 7 & 3);
    s.fresh = packed >> 9 & 1;
    s.closing = packed >> 10 & 1;
    if (ending.kind == EndingKind::courses) return s;
    s.delimiter_matched = uint8_t(packed >> 11 & 7);
    s.escaped = packed & 2;
    s.in_comment = packed & 4;
    s.at_record_start = packed & 8;
    s.matched = uint8_t(packed >> 4 & 7);
    return s;
}

uint16_t first_state(const RecordEnding& ending) { return packed_state(ending, ScanState::of_stream_start()); }

std::vector<uint16_t> part_states(const RecordEnding& ending) {
    std::vector<uint16_t> packed;
    const auto add = [&](const ScanState& state) {
        const uint16_t number = packed_state(ending, state);
        if (std::find(packed.begin(), packed.end(), number) == packed.end()) packed.push_back(number);
    };
    ScanState state;
    if (ending.kind == EndingKind::scanned) {
        for (const ScanState& possible : ending.scanner->possible_states())
            if (possible.mark == mark_bytes) add(possible);
        return packed;
    }
    add(state);
    if (ending.kind == EndingKind::parity) state.inside = true, add(state);
    if (ending.kind != EndingKind::courses) return packed;
    QuoteState quotes[QuoteNotes::most_courses];
    const size_t count = ending.course_states(quotes);
    for (size_t i = 0; i < count; i++) state.take(quotes[i]), add(state);
    return packed;
}

void survey_chunk(const RecordEnding& ending, const uint8_t* data, size_t size, ChunkSurvey* survey) {
    survey->courses.clear();
    survey->likely = 0;
    if (ending.kind == EndingKind::stateless) {
        const RecordEnds ends = ending.ends_anywhere(data, size);
        survey->courses.push_back({0, 0, ends.any() ? uint32_t(ends.last) : ChunkCourse::none});
        return;
    }
    if (ending.kind == EndingKind::parity) {
        const QuoteSummary summary = ending.summarize(data, size);
        const uint16_t odd = summary.quotes & 1;
        survey->courses.push_back({0, odd, behind(summary.last_end[0])});
        survey->courses.push_back({1, uint16_t(1 ^ odd), behind(summary.last_end[1])});
    } else if (ending.kind == EndingKind::courses) {
        follow_courses(ending, data, size, survey);
    } else {
        follow_states(ending, data, size, survey);
    }
    const bool inside = ending.bytes.quoting && guess_inside(ending, data, size, 0);
    if (ending.kind == EndingKind::parity) {
        survey->likely = inside;
        return;
    }
    ScanState wanted;
    wanted.inside = inside;
    wanted.fresh = wanted.at_record_start = false;
    const uint16_t packed = packed_state(ending, wanted);
    for (size_t i = 0; i < survey->courses.size(); i++)
        if (survey->courses[i].start == packed) survey->likely = i;
}

bool guess_inside(const RecordEnding& ending, const uint8_t* data, size_t size, size_t at) {
    const uint8_t quote = ending.bytes.quote;
    const size_t end = std::min(size, at + evidence_window);
    bool odd = false;
    for (size_t i = at; i < end; i++) {
        const void* found = std::memchr(data + i, quote, end - i);
        if (!found) break;
        i = size_t(static_cast<const uint8_t*>(found) - data);
        const bool separator_before = i > 0 && ending.separates(data[i - 1]);
        const bool separator_behind = i + 1 < size && (ending.separates(data[i + 1]) || data[i + 1] == '\r');
        const bool quote_near = (i > 0 && data[i - 1] == quote) || (i + 1 < size && data[i + 1] == quote);
        const bool at_edge = i == 0 || i + 1 == size;  // what stands beyond is not known
        if (!at_edge && !quote_near && separator_before != separator_behind) return odd == separator_before;
        odd = !odd;
    }
    return false;
}

}  // namespace formatter
