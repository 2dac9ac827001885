// Five fields of HL7 messages to columns of text, as one writes it for one feed: memchr from message to message, from segment to
// segment, from field to field. In: a file. Out: "rows seconds", of the best of five rounds. Refuses to know: escapes, errors.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

struct Column {
    std::vector<uint32_t> ends;
    std::string text;
    void add(const char* begin, const char* end) {
        text.append(begin, size_t(end - begin));
        ends.push_back(uint32_t(text.size()));
    }
};

const char* find(const char* at, const char* end, char what) {
    const void* found = std::memchr(at, what, size_t(end - at));
    return found ? static_cast<const char*>(found) : end;
}

// Behind `count` separators.
const char* skip(const char* at, const char* end, char separator, int count) {
    for (; count > 0 && at < end; count--) at = std::min(find(at, end, separator) + 1, end);
    return at;
}

void add_field(Column& column, const char* at, const char* end, int number, bool component) {
    const char* begin = skip(at, end, '|', number);
    const char* stop = find(begin, end, '|');
    column.add(begin, component ? find(begin, stop, '^') : stop);
}

size_t scan(const std::string& data, std::vector<Column>& columns) {
    const char *at = data.data(), *data_end = at + data.size();
    size_t rows = 0;
    while (at < data_end) {
        const char* end = find(at, data_end, '\x1c');
        for (const char* segment = at + 1; segment < end;) {
            const char* stop = find(segment, end, '\r');
            if (!std::memcmp(segment, "MSH", 3)) {
                add_field(columns[0], segment, stop, 9, false);
            } else if (!std::memcmp(segment, "PID", 3)) {
                add_field(columns[1], segment, stop, 3, true);
                add_field(columns[2], segment, stop, 5, true);
                add_field(columns[3], segment, stop, 8, false);
            } else if (!std::memcmp(segment, "PV1", 3)) {
                add_field(columns[4], segment, stop, 3, true);
            }
            segment = stop + 1;
        }
        rows++;
        at = end + 2;
    }
    return rows;
}

}  // namespace

int main(int, char** arguments) {
    std::ifstream file(arguments[1], std::ios::binary);
    const std::string data{std::istreambuf_iterator<char>(file), {}};
    double best = 1e9;
    size_t rows = 0;
    for (int round = 0; round < 5; round++) {
        std::vector<Column> columns(5);
        const auto begin = std::chrono::steady_clock::now();
        rows = scan(data, columns);
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::printf("%zu %.9f\n", rows, best);
}
