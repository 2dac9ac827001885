// Nanoseconds a value, for every kernel this machine can run: the 19 columns of a taxi-like record, then harder ones.
//
// In: nothing, or the names of one kernel and of one row. Out: a table. Timings are the best of several rounds over data in cache;
// single columns go through eight blocks in turn, so that the branch predictor cannot learn the rows by heart.
// Built and run by bench/compiled.py and bench/contestants/native_loops.py.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "kernels/kernel.hpp"

using namespace formatter;

static std::mt19937_64 randomness(7);
static size_t below(size_t bound) { return size_t(randomness() % bound); }

static std::string number(size_t digits, size_t places, bool may_be_negative = false) {
    std::string text = may_be_negative && below(10) == 0 ? "-" : "";
    text += char('1' + below(9));
    for (size_t i = 1; i < digits; i++) text += char('0' + below(10));
    if (places != 0) text += '.';
    for (size_t i = 0; i < places; i++) text += char('0' + below(10));
    return text;
}
static std::string amount() { return number(1 + below(2), 1 + below(2), true); }

static std::string moment(const char* tail = "") {
    char text[40];
    std::snprintf(text, sizeof text, "2024-%02zu-%02zu %02zu:%02zu:%02zu%s", 1 + below(12), 1 + below(28), below(24),
                  below(60), below(60), tail);
    return text;
}

static std::string letters(size_t size) {
    std::string text;
    while (text.size() < size) text += char(below(6) == 0 ? ' ' : 'a' + below(26));
    return text;
}

// Quoted text with a doubled quote about every fifty bytes.
static std::string prose() {
    std::string text;
    for (size_t words = 15 + below(46); words > 0; words--) {
        text += letters(3 + below(6));
        text += below(17) < 2 ? " \"\"" : below(17) < 3 ? ", " : " ";
    }
    return '"' + text + '"';
}

// A block of records with all their stops, and views of single columns.
struct Block {
    std::string text;
    std::vector<uint32_t> stops = {~uint32_t(0)};
    uint32_t rows, columns;
    Segment segment = {};

    Block(uint32_t row_count, const std::vector<std::function<std::string()>>& makers)
        : rows(row_count), columns(uint32_t(makers.size())) {
        for (uint32_t row = 0; row < rows; row++)
            for (uint32_t column = 0; column < columns; column++) {
                text += makers[column]();
                stops.push_back(uint32_t(text.size()));
                text += column + 1 < columns ? ',' : '\n';
            }
        text_size = text.size();
        text.resize(text_size + 64);
    }
    // The rows come in `parts` views, one after the other.
    void each_view(uint32_t column, uint32_t parts, const std::function<void(const FieldView&)>& use) {
        segment.base = segment.readable_begin = reinterpret_cast<const uint8_t*>(text.data());
        segment.readable_end = segment.base + text.size();
        segment.rows = rows / parts;
        for (uint32_t part = 0; part < parts; part++) {
            segment.first_stop = 1 + size_t(part) * segment.rows * columns;
            use({&segment, 1, stops.data(), columns, int32_t(column) - 1, int32_t(column), 1, segment.rows, false});
        }
    }
    size_t text_size;
};

struct Room {  // for results, used again by every run as the engine does
    std::vector<uint64_t> values, empty, odd;
    std::vector<int32_t> offsets;
    std::vector<uint8_t> bytes;
    ValueMarks marks;
    explicit Room(size_t rows)
        : values(rows), empty(rows / 64 + 1), odd(rows / 64 + 1), offsets(rows), bytes(16 << 20) {
        marks = {empty.data(), odd.data(), 0, 0};
    }
};

using Decode = std::function<void(const Kernel&, const FieldView&, Room&)>;

static void decode_integers(const Kernel& kernel, const FieldView& view, Room& room) {
    kernel.decode_int64(view, reinterpret_cast<int64_t*>(room.values.data()), room.marks);
}
static void decode_fractions(const Kernel& kernel, const FieldView& view, Room& room) {
    kernel.decode_float64(view, '.', reinterpret_cast<double*>(room.values.data()), room.marks);
}
static void decode_moments(const Kernel& kernel, const FieldView& view, Room& room) {
    kernel.decode_timestamp(view, TimeUnit::micro, reinterpret_cast<int64_t*>(room.values.data()), room.marks);
}
static void decode_days(const Kernel& kernel, const FieldView& view, Room& room) {
    kernel.decode_date32(view, reinterpret_cast<int32_t*>(room.values.data()), room.marks);
}
static void decode_truths(const Kernel& kernel, const FieldView& view, Room& room) {
    static const Token trues[] = {{4, {'t', 'r', 'u', 'e'}}, {1, {'1'}}};
    static const Token falses[] = {{5, {'f', 'a', 'l', 's', 'e'}}, {1, {'0'}}};
    kernel.decode_bool(view, trues, 2, falses, 2, room.values.data(), room.marks);
}
static void gather_text(const Kernel& kernel, const FieldView& view, Room& room) {
    StringSums sums;
    kernel.measure_strings(view, sums);
    kernel.gather_strings(view, true, '"', 0, room.offsets.data(), room.bytes.data(), sums, room.marks);
}

static double best_seconds(const std::function<void()>& work) {
    using Clock = std::chrono::steady_clock;
    double best = 1e9;
    for (int round = 0; round < 12; round++) {
        int runs = 0;
        const auto begin = Clock::now();
        double seconds = 0;
        for (; seconds < 0.002; runs++) {
            work();
            seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        }
        best = std::min(best, seconds / runs);
    }
    return best;
}

struct Case {
    const char* name;
    Decode decode;
    std::function<std::string()> make;
};

int main(int argc, char** argv) {
    const Case taxi[] = {
        {"vendor int", decode_integers, [] { return number(1, 0); }},
        {"pickup timestamp", decode_moments, [] { return moment(); }},
        {"dropoff timestamp", decode_moments, [] { return moment(); }},
        {"passengers int", decode_integers, [] { return number(1, 0); }},
        {"distance float", decode_fractions, [] { return number(1 + below(2), 2); }},
        {"rate int", decode_integers, [] { return number(1, 0); }},
        {"flag string", gather_text, [] { return std::string(below(20) ? "N" : "Y"); }},
        {"from int", decode_integers, [] { return number(1 + below(3), 0); }},
        {"to int", decode_integers, [] { return number(1 + below(3), 0); }},
        {"payment int", decode_integers, [] { return number(1, 0); }},
        {"fare float", decode_fractions, amount},
        {"extra float", decode_fractions, amount},
        {"tax float", decode_fractions, [] { return std::string("0.5"); }},
        {"tip float", decode_fractions, amount},
        {"tolls float", decode_fractions, [] { return below(10) ? std::string("0.0") : amount(); }},
        {"improvement float", decode_fractions, [] { return std::string("1.0"); }},
        {"total float", decode_fractions, [] { return number(2, 2, true); }},
        {"congestion float", decode_fractions, [] { return std::string("2.5"); }},
        {"airport float", decode_fractions, [] { return std::string(below(10) ? "0.0" : "1.75"); }},
    };
    const Case single[] = {
        {"int 1-8 digits", decode_integers, [] { return number(1 + below(8), 0); }},
        {"int 9-15 digits", decode_integers, [] { return number(9 + below(7), 0, true); }},
        {"int 18 digits", decode_integers, [] { return number(18, 0); }},
        {"float 9-16 bytes", decode_fractions, [] { return number(3, 5 + below(6), true); }},
        {"float 17 bytes", decode_fractions, [] { return "-" + number(2, 13); }},
        {"timestamp .ffffff", decode_moments, [] { return moment(("." + number(6, 0)).c_str()); }},
        {"timestamp Z", decode_moments, [] { return moment("Z"); }},
        {"date32", decode_days, [] { return moment().substr(0, 10); }},
        {"bool", decode_truths, [] { return std::string(below(2) ? "true" : "false"); }},
        {"string 5-20", gather_text, [] { return letters(5 + below(16)); }},
        {"string 5-60", gather_text, [] { return letters(5 + below(56)); }},
        {"quoted 5-20", gather_text, [] { return '"' + letters(5 + below(16)) + '"'; }},
        {"quoted or not 5-60", gather_text,
         [] { return below(2) ? letters(5 + below(56)) : '"' + letters(5 + below(56)) + '"'; }},
        {"quoted with doubled", gather_text, [] { return '"' + letters(5 + below(16)) + "\"\"" + letters(9) + '"'; }},
        {"quoted prose 80-400", gather_text, prose},
        {"string 2000", gather_text, [] { return letters(1900 + below(200)); }},
        {"quoted 2000", gather_text, [] { return '"' + letters(1900 + below(200)) + '"'; }},
    };
    const uint32_t rows = 2000;
    Room room(rows);
    std::vector<std::function<std::string()>> makers;
    const char* only = argc > 2 ? argv[2] : "";
    const auto asked = [only](const char* name) { return *only == 0 || std::strcmp(only, name) == 0; };
    for (const Case& column : taxi) makers.push_back(column.make);
    Block records(rows, makers);
    std::vector<Block> columns;
    for (const Case& column : single)
        columns.emplace_back(std::strstr(column.name, "2000") ? 400 : 8 * rows,
                             std::vector<std::function<std::string()>>{column.make});
    std::string ascii = letters(100000), mixed;
    while (mixed.size() < 100000) mixed += letters(5) + (below(2) ? "\xC3\xA9" : "\xE2\x82\xAC");

    size_t count;
    const Kernel* const* kernels = available_kernels(&count);
    std::vector<const Kernel*> chosen;
    for (size_t k = 0; k < count; k++)
        if (argc < 2 || std::strcmp(argv[1], kernels[k]->name) == 0) chosen.push_back(kernels[k]);

    std::printf("%-26s", "ns a value");
    for (const Kernel* kernel : chosen) std::printf("%10s", kernel->name);
    std::vector<double> sums(chosen.size());
    std::printf("\n");
    for (uint32_t c = 0; c < records.columns && *only == 0; c++) {
        std::printf("%-26s", taxi[c].name);
        for (size_t k = 0; k < chosen.size(); k++) {
            const auto decode = [&](const FieldView& view) { taxi[c].decode(*chosen[k], view, room); };
            const double seconds = best_seconds([&] { records.each_view(c, 1, decode); });
            sums[k] += seconds;
            std::printf("%10.2f", seconds / rows * 1e9);
        }
        std::printf("\n");
    }
    if (*only == 0) {
        std::printf("%-26s", "all 19, ns a record");
        for (double sum : sums) std::printf("%10.2f", sum / rows * 1e9);
        std::printf("\n%-26s", "all 19, GB/s");
        for (double sum : sums) std::printf("%10.2f", double(records.text_size) / sum / 1e9);
        std::printf("\n");
    }
    for (size_t c = 0; c < columns.size(); c++) {
        if (!asked(single[c].name)) continue;
        std::printf("%-26s", single[c].name);
        for (const Kernel* kernel : chosen) {
            const auto decode = [&](const FieldView& view) { single[c].decode(*kernel, view, room); };
            const double seconds = best_seconds([&] { columns[c].each_view(0, 8, decode); });
            std::printf("%10.2f", seconds / columns[c].rows * 1e9);
        }
        std::printf("\n");
    }
    for (const std::string* text : {&ascii, &mixed}) {
        if (*only != 0) break;
        std::printf("%-26s", text == &ascii ? "utf8 ascii, GB/s" : "utf8 mixed, GB/s");
        for (const Kernel* kernel : chosen) {
            volatile bool valid;
            const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(text->data());
            const double seconds = best_seconds([&] { valid = kernel->valid_utf8(bytes, text->size()); });
            std::printf("%10.2f", double(text->size()) / seconds / 1e9);
        }
        std::printf("\n");
    }
    return 0;
}
