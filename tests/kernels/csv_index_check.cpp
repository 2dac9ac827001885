// Every CPU's CSV index against an oracle that reads byte by byte.
//
// In: a seed and a number of rounds. Out: status 0, or the first difference and status 1. The bytes end at a page that
// may not be touched, or begin after one; the stops end at one too: a read or a write too far ends the program.
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "csv_index_part.hpp"

using namespace formatter;

namespace {

struct Random {
    uint64_t state;
    uint64_t next() {
        state += 0x9e3779b97f4a7c15u;
        uint64_t mixed = (state ^ state >> 30) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
        return mixed ^ mixed >> 31;
    }
    uint32_t below(uint32_t bound) { return uint32_t(next() % bound); }
    bool one_in(uint32_t bound) { return below(bound) == 0; }
};

// Memory between two pages that may not be touched.
class GuardedMemory {
  public:
    explicit GuardedMemory(size_t size) : size_((size + page - 1) / page * page) {
        void* all = mmap(nullptr, size_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (all == MAP_FAILED) std::abort();
        bytes_ = static_cast<uint8_t*>(all) + page;
        if (mprotect(bytes_, size_, PROT_READ | PROT_WRITE) != 0) std::abort();
    }
    uint8_t* at_begin() { return bytes_; }
    uint8_t* at_end(size_t size) { return bytes_ + size_ - size; }

  private:
    static constexpr size_t page = 65536;  // a multiple of every page size in use
    size_t size_;
    uint8_t* bytes_;
};

struct Expected {
    std::vector<uint32_t> stops;
    uint32_t rows = 0;
    size_t consumed = 0;
    IndexEnd end = IndexEnd::input;
    bool saw_carriage_return = false;
};

// The four places a byte can stand in, by the words of docs/csv.md.
enum class Within { field_start, text, quoted, behind_quote };

// Whether a byte separates, by what stands before it.
struct QuoteReader {
    const CsvBytes& bytes;
    Within within = Within::field_start;

    bool separates(uint8_t byte) {
        const bool separator = byte == bytes.delimiter || byte == bytes.record_end;
        const bool quote = bytes.quoting && byte == bytes.quote;
        if (bytes.rule == QuoteRule::strict) {
            const bool ends_quotes = bytes.ends_in_quotes && byte == bytes.record_end;
            if (quote) within = within == Within::quoted ? Within::text : Within::quoted;
            if (ends_quotes) within = Within::text;
            return separator && within != Within::quoted;
        }
        if (within == Within::behind_quote && !quote) {
            const bool sticks =
                bytes.rule == QuoteRule::sticky && !separator && !(byte == '\r' && bytes.record_end == '\n');
            within = sticks ? Within::quoted : Within::text;
        }
        if (within == Within::quoted && !(bytes.ends_in_quotes && byte == bytes.record_end)) {
            if (quote) within = Within::behind_quote;
            return false;
        }
        if (within == Within::behind_quote)  // a quote
            within = Within::quoted;
        else if (quote)
            within = within == Within::field_start ? Within::quoted : Within::text;
        else
            within =
                separator || (within == Within::field_start && is_let_pass(byte)) ? Within::field_start : Within::text;
        return separator;
    }

    bool is_let_pass(uint8_t byte) const { return bytes.opens_behind_blanks && (byte == ' ' || byte == '\t'); }

    // Behind a quote that may have closed, another one opens, as at a field's start; only by the sticky rule, or if blanks are let
    // pass, it matters which of the two it is.
    QuoteState state() const {
        const bool behind = within == Within::behind_quote;
        return {within == Within::quoted, behind || within == Within::field_start,
                behind && (bytes.rule == QuoteRule::sticky || bytes.opens_behind_blanks)};
    }
};

std::vector<QuoteCourse> courses_byte_by_byte(const std::string& data, const CsvBytes& bytes) {
    std::vector<QuoteCourse> courses;
    for (Within start : {Within::field_start, Within::text, Within::quoted, Within::behind_quote}) {
        if (start == Within::behind_quote && bytes.rule == QuoteRule::lenient && !bytes.opens_behind_blanks) continue;
        QuoteReader reader{bytes, start};
        QuoteCourse course = {reader.state(), QuoteSummary::none, QuoteSummary::none};
        courses.push_back(course);  // as it begins
        for (size_t i = 0; i < data.size(); i++) {
            if (!reader.separates(uint8_t(data[i])) || uint8_t(data[i]) != bytes.record_end) continue;
            if (course.first_end == QuoteSummary::none) course.first_end = i;
            course.last_end = i;
        }
        course.state = reader.state();
        courses.push_back(course);
    }
    return courses;
}

bool is_wide(const CsvBytes& bytes) {
    return bytes.escaping || bytes.delimiter_rest.count || bytes.record_end_rest.count;
}

std::string whole_separator(uint8_t first, const SeparatorRest& rest) {
    std::string separator(1, char(first));
    for (uint32_t i = 0; i < rest.count; i++) separator += char(rest.bytes[i]);
    return separator;
}

// Reads separators of several bytes and escapes from the left, as docs/csv.md tells it.
struct WideReader {
    explicit WideReader(const CsvBytes& bytes)
        : bytes(bytes),
          delimiter(whole_separator(bytes.delimiter, bytes.delimiter_rest)),
          record_end(whole_separator(bytes.record_end, bytes.record_end_rest)) {}

    // The position of the next separator from `at` on, which is moved behind it; `none` if there is no more.
    static constexpr size_t none = ~size_t(0);
    size_t next(const std::string& data, size_t* at, bool* ends) {
        while (*at < data.size()) {
            const uint8_t byte = uint8_t(data[*at]);
            if (bytes.escaping && byte == bytes.escape) {
                *at += 2;
                continue;
            }
            if (bytes.quoting && byte == bytes.quote) inside = !inside;
            for (const std::string* separator : {&delimiter, &record_end}) {
                if (inside || data.compare(*at, separator->size(), *separator) != 0) continue;
                const size_t found = *at;
                *at += separator->size();
                *ends = separator == &record_end;
                return found;
            }
            ++*at;
        }
        return none;
    }

    const CsvBytes& bytes;
    std::string delimiter, record_end;
    bool inside = false;
};

// The record that its separators stand for, the last of which ends it in front of `behind`. False: it is not one of these fields.
bool take_record(const std::string& data, const StopChoice& choice, size_t behind, std::vector<uint32_t>* record,
                 Expected* expected) {
    if (record->size() != choice.fields) {
        expected->end = IndexEnd::irregular;
        return false;
    }
    const uint32_t end = record->back();
    for (uint32_t wanted = 0; wanted < choice.stop_count; wanted++)
        expected->stops.push_back((*record)[choice.stops[wanted]]);
    record->clear();
    expected->rows++;
    expected->consumed = behind;
    if (end > 0 && data[end - 1] == '\r') expected->saw_carriage_return = true;
    return true;
}

Expected index_from_the_left(const std::string& data, const CsvBytes& bytes, const StopChoice& choice,
                             uint32_t capacity_rows) {
    Expected expected;
    std::vector<uint32_t> record;
    WideReader reader(bytes);
    bool ends = false;
    for (size_t at = 0; expected.rows < capacity_rows;) {
        const size_t found = reader.next(data, &at, &ends);
        if (found == WideReader::none) break;
        record.push_back(uint32_t(found));
        if (!ends) continue;
        if (!take_record(data, choice, at, &record, &expected)) break;
    }
    if (expected.rows == capacity_rows) expected.end = IndexEnd::capacity;
    return expected;
}

Expected index_byte_by_byte(const std::string& data, const CsvBytes& bytes, const StopChoice& choice,
                            uint32_t capacity_rows) {
    if (is_wide(bytes)) return index_from_the_left(data, bytes, choice, capacity_rows);
    Expected expected;
    std::vector<uint32_t> record;
    QuoteReader reader{bytes};
    for (size_t i = 0; i < data.size() && expected.rows < capacity_rows; i++) {
        const uint8_t byte = uint8_t(data[i]);
        if (!reader.separates(byte)) continue;
        record.push_back(uint32_t(i));
        if (byte != bytes.record_end) continue;
        if (!take_record(data, choice, i + 1, &record, &expected)) break;
    }
    if (expected.rows == capacity_rows) expected.end = IndexEnd::capacity;
    return expected;
}

QuoteSummary summarize_byte_by_byte(const std::string& data, const CsvBytes& bytes) {
    const uint64_t none = QuoteSummary::none;
    QuoteSummary summary = {0, {0, 0}, {none, none}, {none, none}};
    for (size_t i = 0; i < data.size(); i++) {
        const uint8_t byte = uint8_t(data[i]);
        if (bytes.quoting && byte == bytes.quote) summary.quotes++;
        for (unsigned state = 0; state < 2; state++) {
            // without quotes there is no inside: both states are the same
            if (byte != bytes.record_end || (bytes.quoting && (summary.quotes + state) % 2 != 0)) continue;
            if (summary.record_ends[state]++ == 0) summary.first_end[state] = i;
            summary.last_end[state] = i;
        }
    }
    return summary;
}

[[noreturn]] void fail(const char* name, const char* what, const std::string& data, uint32_t fields,
                       uint32_t stop_count) {
    std::printf("%s: %s differs: %zu bytes, %u fields, %u stops\n", name, what, data.size(), fields, stop_count);
    for (size_t i = 0; i < data.size() && i < 400; i++) {
        if (data[i] >= ' ' && data[i] <= '~')
            std::putchar(data[i]);
        else
            std::printf("\\x%02x", uint8_t(data[i]));
    }
    std::putchar('\n');
    std::exit(1);
}

class Check {
  public:
    explicit Check(uint64_t seed) : random_{seed}, input_(1 << 17), stops_(1 << 20) {}

    void round() {
        const CsvBytes bytes = some_bytes();
        const uint32_t fields = some_field_count();
        const std::string data = random_.one_in(3) ? soup(bytes) : records(bytes, fields);
        std::vector<uint32_t> wanted;
        const uint32_t rarity = 1 + random_.below(random_.one_in(2) ? 3 : 100);
        for (uint32_t ordinal = 0; ordinal + 1 < fields; ordinal++)
            if (random_.one_in(rarity)) wanted.push_back(ordinal);
        wanted.push_back(fields - 1);
        const StopChoice choice = {fields, uint32_t(wanted.size()), wanted.data()};

        const Expected all = index_byte_by_byte(data, bytes, choice, UINT32_MAX);
        uint32_t capacities[] = {all.rows + 1, all.rows, random_.below(all.rows + 1)};
        const Expected least = index_byte_by_byte(data, bytes, choice, capacities[2]);
        Expected exact = all;
        exact.end = IndexEnd::capacity;
        const Expected* expected[] = {&all, &exact, &least};

        const QuoteSummary summary = summarize_byte_by_byte(data, bytes);
        const bool has_courses = bytes.quoting && bytes.rule != QuoteRule::strict;
        const std::vector<QuoteCourse> courses =
            has_courses ? courses_byte_by_byte(data, bytes) : std::vector<QuoteCourse>();
        uint64_t record_ends = 0;
        for (char byte : data) record_ends += uint8_t(byte) == bytes.record_end;

        for (bool at_end : {false, true}) {
            uint8_t* input = at_end ? input_.at_end(data.size()) : input_.at_begin();
            std::memcpy(input, data.data(), data.size());
            for (const CsvIndexPart* part : csv_index_parts) {
                if (!part->supported()) continue;
                for (int i = 0; i < 3; i++) {
                    for (auto index_csv : {part->index_csv, part->index_csv_then_pick, part->index_csv_by_rank,
                                           part->index_csv_by_skipping}) {
                        if (index_csv == part->index_csv_then_pick && fields > part->most_scratch_fields) continue;
                        if (index_csv == part->index_csv_by_rank &&
                            (is_wide(bytes) || fields > part->most_scratch_fields ||
                             choice.stop_count > part->most_rank_stops))
                            continue;
                        const char* difference =
                            compare(index_csv, input, data.size(), bytes, choice, capacities[i], *expected[i]);
                        if (difference != nullptr) fail(part->name, difference, data, fields, choice.stop_count);
                    }
                }
                if (is_wide(bytes)) continue;  // the rest knows separators of one byte
                QuoteSummary got;
                part->summarize_quotes(input, data.size(), bytes, got);
                if (std::memcmp(&got, &summary, sizeof got) != 0) fail(part->name, "quote summary", data, fields, 0);
                if (const char* difference = compare_courses(*part, input, data.size(), bytes, courses))
                    fail(part->name, difference, data, fields, 0);
                if (has_courses && !bytes.ends_in_quotes)
                    if (const char* difference = compare_agreement(*part, input, data.size(), bytes, courses))
                        fail(part->name, difference, data, fields, 0);
                if (part->count_byte(input, data.size(), bytes.record_end) != record_ends)
                    fail(part->name, "byte count", data, fields, 0);
            }
        }
        rows += all.rows;
        ends_met[int(all.end)]++;
        if (is_wide(bytes)) wide_rows += all.rows;
    }

    uint64_t rows = 0, wide_rows = 0;
    uint64_t ends_met[3] = {};
    uint64_t agreed = 0;  // how often parity said as much as a rule of place

  private:
    const char* compare(decltype(Kernel::index_csv) index_csv, const uint8_t* input, size_t size, const CsvBytes& bytes,
                        const StopChoice& choice, uint32_t capacity_rows, const Expected& expected) {
        const uint32_t sentinel = 0xabcdef01;
        const size_t entries = size_t(capacity_rows) * choice.stop_count + 64;
        uint32_t* stops = reinterpret_cast<uint32_t*>(stops_.at_end(entries * sizeof(uint32_t)));
        std::memset(stops, 0xee, entries * sizeof(uint32_t));  // not what the kernel before left there
        stops[-1] = sentinel;
        CsvIndex index = {stops, capacity_rows, ~0u, ~size_t(0), IndexEnd(99), true};
        index_csv(input, size, bytes, choice, index);
        if (index.rows != expected.rows) return "rows";
        if (index.consumed != expected.consumed) return "consumed";
        if (index.end != expected.end) return "end";
        // Where a record end begins with one, it may be taken for one before it.
        if (expected.saw_carriage_return > index.saw_carriage_return) return "saw_carriage_return";
        if (!is_wide(bytes) && index.saw_carriage_return != expected.saw_carriage_return) return "saw_carriage_return";
        if (stops[-1] != sentinel) return "the entry before the first";
        const size_t written = size_t(index.rows) * choice.stop_count;
        for (size_t i = 0; i < written; i++)
            if (stops[i] != expected.stops[i]) return "a stop";
        return nullptr;
    }

    static const char* compare_courses(const CsvIndexPart& part, const uint8_t* input, size_t size,
                                       const CsvBytes& bytes, const std::vector<QuoteCourse>& expected) {
        QuoteCourse got[4] = {};
        const size_t count = expected.size() / 2;
        for (size_t i = 0; i < count; i++) got[i].state = expected[2 * i].state;
        if (count) part.follow_quotes(input, size, bytes, got, count);
        for (size_t i = 0; i < count; i++) {
            const QuoteCourse& right = expected[2 * i + 1];
            if (!(got[i].state == right.state)) return "the state a course ends in";
            if (got[i].first_end != right.first_end) return "a course's first record end";
            if (got[i].last_end != right.last_end) return "a course's last record end";
        }
        return nullptr;
    }

    // Where it holds, quotes are counted as they are by the strict rule, and the courses say the same. `courses`: as
    // courses_byte_by_byte has them.
    const char* compare_agreement(const CsvIndexPart& part, const uint8_t* input, size_t size, const CsvBytes& bytes,
                                  const std::vector<QuoteCourse>& courses) {
        QuoteAgreement got, uncopied;
        std::vector<uint8_t> copy(size + 1, 0xee);
        part.agree_on_quotes(copy.data(), input, size, bytes, input, size, got);
        part.agree_on_quotes(nullptr, input, size, bytes, nullptr, 0, uncopied);
        if (std::memcmp(copy.data(), input, size) != 0 || copy[size] != 0xee) return "the copy";
        if (std::memcmp(&got, &uncopied, sizeof got) != 0) return "an agreement without a copy";
        if (got.odd != (size_t(std::count(input, input + size, bytes.quote)) % 2 == 1) &&
            (got.holds[0] || got.holds[1]))
            return "how many quotes there are";
        for (size_t i = 0; i < courses.size() / 2; i++) {
            const QuoteState begin = courses[2 * i].state;
            const QuoteCourse& right = courses[2 * i + 1];
            const bool opens_bare = got.opens && !begin.inside && !begin.fresh;
            if (!got.holds[begin.inside] || opens_bare || (begin.closing && !got.follows)) continue;
            agreed++;
            QuoteCourse parity = {begin, QuoteSummary::none, QuoteSummary::none};
            for (size_t at = 0; at < size; at++) {
                parity.state.inside ^= input[at] == bytes.quote;
                if (input[at] != bytes.record_end || parity.state.inside) continue;
                if (parity.first_end == QuoteSummary::none) parity.first_end = at;
                parity.last_end = at;
            }
            if (parity.state.inside != right.state.inside)
                return "where parity and its rule agree, the state at the end";
            if (parity.first_end != right.first_end || parity.last_end != right.last_end)
                return "where parity and its rule agree, a record end";
        }
        return nullptr;
    }

    // Separators of up to eight bytes, some of which overlap their like, and escapes.
    CsvBytes some_wide_bytes() {
        CsvBytes bytes = {',', '\n', '"', !random_.one_in(3)};
        const char* const delimiters[] = {"", "|", "~|", "|||||||", ",|", "||,", "~", ""};
        const char* const record_ends[] = {"", "\n", "x\n", "", "\n\n\n\n\n\n\n"};
        set_rest(delimiters[random_.below(8)], &bytes.delimiter, &bytes.delimiter_rest);
        set_rest(record_ends[random_.below(5)], &bytes.record_end, &bytes.record_end_rest);
        if (bytes.record_end_rest.count && random_.one_in(2)) bytes.record_end = '\r';
        bytes.escaping = random_.one_in(2);
        bytes.escape = random_.one_in(4) ? 0 : '\\';
        return bytes;
    }

    void set_rest(const char* rest, uint8_t* first, SeparatorRest* out) {
        out->count = uint8_t(std::strlen(rest));
        std::memcpy(out->bytes, rest, out->count);
        if (out->count && random_.one_in(2)) *first = out->bytes[0];
    }

    CsvBytes some_bytes() {
        if (random_.one_in(4)) return some_wide_bytes();
        CsvBytes bytes = some_separators();
        const QuoteRule rules[] = {QuoteRule::strict, QuoteRule::lenient, QuoteRule::sticky};
        bytes.rule = rules[random_.below(3)];
        bytes.ends_in_quotes = random_.one_in(3);
        bytes.opens_behind_blanks = bytes.rule == QuoteRule::lenient && random_.one_in(2);
        return bytes;
    }

    CsvBytes some_separators() {
        if (!random_.one_in(4)) return {',', '\n', '"', !random_.one_in(3)};
        const uint8_t delimiters[] = {'\t', ';', 0, 0xe9}, quotes[] = {'\'', '"', 1, 0xff};
        const unsigned pick = random_.below(4);
        CsvBytes bytes = {delimiters[pick], '|', quotes[random_.below(4)], !random_.one_in(3)};
        if (delimiters[pick] != 0 && random_.one_in(2)) bytes.quote = 0;  // what short blocks are padded with
        return bytes;
    }

    uint32_t some_field_count() {
        switch (random_.below(4)) {
            case 0: return 1 + random_.below(4);
            case 1: return 1 + random_.below(24);
            case 2: return 60 + random_.below(8);
            default: return 1 + random_.below(random_.one_in(3) ? 1500 : 300);
        }
    }

    // All sizes near the multiples of a block, now and then of a round.
    size_t some_size() {
        if (random_.one_in(8)) return 4096 * random_.below(5) + random_.below(5);
        const size_t blocks = 64 * random_.below(random_.one_in(4) ? 300 : 6);
        return random_.one_in(2) ? blocks + random_.below(64) : blocks + random_.below(3);
    }

    // Any bytes, mostly those that mean something, in a mixture of its own.
    std::string soup(const CsvBytes& bytes) {
        const std::string letters = {char(bytes.delimiter),
                                     char(bytes.record_end),
                                     char(bytes.quote),
                                     last_of(bytes.delimiter, bytes.delimiter_rest),
                                     last_of(bytes.record_end, bytes.record_end_rest),
                                     bytes.escaping ? char(bytes.escape) : ' ',
                                     '\t',
                                     '\r',
                                     'x',
                                     '\0'};
        constexpr int last = 9;
        uint32_t weights[last + 1], total = 0;
        for (uint32_t& weight : weights) total += weight = random_.below(random_.one_in(3) ? 60 : 4);
        std::string data(some_size(), 'x');
        for (char& byte : data) {
            uint32_t pick = total == 0 ? 0 : random_.below(total);
            int letter = 0;
            while (letter < last && pick >= weights[letter]) pick -= weights[letter++];
            byte = letters[letter];
        }
        return data;
    }

    static char last_of(uint8_t first, const SeparatorRest& rest) {
        return char(rest.count ? rest.bytes[rest.count - 1] : first);
    }

    // Records of `fields` fields, some quoted, rarely one too few or too many, cut at any place.
    std::string records(const CsvBytes& bytes, uint32_t fields) {
        const size_t size = some_size();
        const uint32_t longest = 1 + random_.below(random_.one_in(3) ? 60 : 9);
        const bool returns = random_.one_in(2);
        const uint32_t fault = random_.one_in(2) ? UINT32_MAX : 40, quoted = random_.one_in(2) ? UINT32_MAX : 5;
        std::string data;
        while (data.size() < size) {
            const bool spaced = random_.one_in(8);
            const uint32_t count = random_.one_in(fault) ? fields - 1 + 2 * random_.below(2) : fields;
            for (uint32_t field = 0; field < count; field++) {
                if (field > 0) data += whole_separator(bytes.delimiter, bytes.delimiter_rest);
                if (spaced) data.append(random_.below(4), ' ');
                if (random_.one_in(quoted)) {
                    ((data += char(bytes.quote)) += whole_separator(bytes.record_end, bytes.record_end_rest)) += "a";
                    data += whole_separator(bytes.delimiter, bytes.delimiter_rest);
                    if (bytes.escaping) (data += char(bytes.escape)) += char(bytes.quote);
                    if (random_.one_in(3)) (data += char(bytes.quote)) += char(bytes.quote);
                    data += char(bytes.quote);
                } else {
                    data.append(random_.below(longest), '7');
                }
            }
            if (returns) data += '\r';
            data += whole_separator(bytes.record_end, bytes.record_end_rest);
        }
        if (!random_.one_in(4)) data.resize(size);
        return data;
    }

    Random random_;
    GuardedMemory input_, stops_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    Check check(std::strtoull(argv[1], nullptr, 10));
    const unsigned long rounds = std::strtoul(argv[2], nullptr, 10);
    for (unsigned long i = 0; i < rounds; i++) check.round();
    std::printf("kernels:");
    for (const CsvIndexPart* part : csv_index_parts)
        if (part->supported()) std::printf(" %s", part->name);
    std::printf("\nrows: %llu\n", static_cast<unsigned long long>(check.rows));
    std::printf("ends: %llu input, %llu irregular\n", static_cast<unsigned long long>(check.ends_met[0]),
                static_cast<unsigned long long>(check.ends_met[2]));
    std::printf("wide rows: %llu\n", static_cast<unsigned long long>(check.wide_rows));
    std::printf("agreed: %llu\n", static_cast<unsigned long long>(check.agreed));
    return 0;
}
