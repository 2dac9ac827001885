// How fast each CPU's CSV index goes, in GB/s of input on one thread.
//
// Load: 8 MiB of generated records (in the last cache level, not the first), indexed 4096 rows a call as a reader of
// batches does, or 32 as small buffers have them; best of the repeats. Every kernel's stops are compared with the
// scalar kernel's before anything is timed.
// Built and run by bench/compiled.py and bench/contestants/native_loops.py.
// Arguments: repeats, the name of a load, the name of a kernel; all optional.
//   taxi    19 fields, about 110 bytes a record: all stops, and 3 fields of 19
//   wide    200 fields, about 1,500 bytes a record: all stops, and 3 fields of 200
//   quoted  8 fields of text, about 240 bytes, half of them quoted with delimiters and line breaks inside
//   short   3 fields, about 9 bytes a record;  prose  4 fields, about 600 bytes: 2 of 4
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "csv_index_part.hpp"

using namespace formatter;

namespace {

uint64_t state = 42;
uint32_t below(uint32_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return uint32_t((state >> 33) % bound);
}

std::string number(uint32_t least_digits, uint32_t more) {
    std::string digits;
    for (uint32_t count = least_digits + below(more + 1); count > 0; count--) digits += char('0' + below(10));
    return digits;
}

std::string taxi_record() {
    std::string record = "1,2023-01-0" + number(1, 0) + " 12:" + number(2, 0) + ":00,2023-01-01 12:30:" + number(2, 0);
    record += "," + number(1, 0) + "," + number(1, 1) + "." + number(2, 0) + ",1,N,";
    record += number(1, 2) + "," + number(1, 2) + ",1";
    for (int i = 0; i < 9; i++) record += "," + (below(3) ? number(1, 1) + "." + number(1, 1) : "0");
    return record + "\n";
}

std::string wide_record() {
    std::string record;
    for (int i = 0; i < 200; i++) record += (i ? "," : "") + number(1, 2) + "." + number(2, 4);
    return record + "\n";
}

std::string quoted_record() {
    std::string record;
    for (int i = 0; i < 8; i++) {
        std::string text(10 + below(40), 'x');
        if (i) record += ",";
        record += below(2) ? text : "\"" + text + ", and\n\"\"more\"\" " + text.substr(5) + "\"";
    }
    return record + "\n";
}

std::string short_record() { return number(1, 2) + "," + number(1, 2) + "," + number(1, 3) + "\n"; }

std::string prose_record() {
    return number(3, 3) + "," + std::string(200 + below(300), 'x') + "," + std::string(100 + below(200), 'y') + ",z\n";
}

struct Load {
    const char* name;
    std::string (*record)();
    uint32_t fields;
    bool quoting;
    std::vector<uint32_t> stops;  // empty: all
    uint32_t rows_a_call = 4096;
};

// All rows; `keep` gets the stops.
size_t index_all(const CsvIndexPart& part, const std::string& data, const CsvBytes& bytes, const StopChoice& choice,
                 uint32_t rows_a_call, std::vector<uint32_t>& stops, std::vector<uint32_t>* keep) {
    const uint8_t* at = reinterpret_cast<const uint8_t*>(data.data());
    const uint8_t* const end = at + data.size();
    size_t rows = 0;
    for (;;) {
        CsvIndex index = {stops.data() + 1, rows_a_call, 0, 0, IndexEnd::input, false};
        part.index_csv(at, size_t(end - at), bytes, choice, index);
        rows += index.rows;
        at += index.consumed;
        const uint32_t* first = stops.data() + 1;
        if (keep) keep->insert(keep->end(), first, first + size_t(index.rows) * choice.stop_count);
        if (index.end == IndexEnd::irregular) std::abort();
        if (index.end != IndexEnd::capacity) return rows;
    }
}

template <class Work>
double best_gbps(size_t size, int repeats, Work work) {
    double best = 1e9;
    for (int i = 0; i < repeats; i++) {
        auto begin = std::chrono::steady_clock::now();
        work();
        double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (seconds < best) best = seconds;
    }
    return double(size) / best / 1e9;
}

}  // namespace

int main(int argc, char** argv) {
    const int repeats = argc > 1 ? std::atoi(argv[1]) : 15;
    const char* only = argc > 2 ? argv[2] : "";
    const char* only_kernel = argc > 3 ? argv[3] : "";
    const auto asked = [only](const char* name) { return *only == 0 || std::strcmp(only, name) == 0; };
    std::vector<const CsvIndexPart*> parts;
    for (const CsvIndexPart* part : csv_index_parts)
        if (part->supported() && (*only_kernel == 0 || std::strcmp(part->name, only_kernel) == 0))
            parts.push_back(part);
    const Load loads[] = {
        {"taxi 19 of 19", taxi_record, 19, false, {}},
        {"taxi 3 of 19", taxi_record, 19, false, {0, 1, 3, 4, 9, 10, 18}},
        {"taxi 3 of 19, quoting", taxi_record, 19, true, {0, 1, 3, 4, 9, 10, 18}},
        {"wide 200 of 200", wide_record, 200, false, {}},
        {"wide 3 of 200", wide_record, 200, false, {9, 10, 99, 100, 149, 150, 199}},
        {"wide 3 of 200, quoting", wide_record, 200, true, {9, 10, 99, 100, 149, 150, 199}},
        {"quoted 8 of 8", quoted_record, 8, true, {}},
        {"quoted 3 of 8", quoted_record, 8, true, {0, 1, 3, 4, 7}},
        {"short 3 of 3", short_record, 3, false, {}},
        {"prose 2 of 4", prose_record, 4, false, {0, 2, 3}},
        {"taxi 19 of 19, 32 rows", taxi_record, 19, false, {}, 32},
        {"taxi 3 of 19, 32 rows", taxi_record, 19, false, {0, 1, 3, 4, 9, 10, 18}, 32},
    };
    std::printf("%-24s", "GB/s");
    for (const CsvIndexPart* part : parts) std::printf("%9s", part->name);
    std::printf("\n");
    for (const Load& load : loads) {
        if (!asked(load.name)) continue;
        std::string data;
        while (data.size() < size_t(8) << 20) data += load.record();
        const CsvBytes bytes = {',', '\n', '"', load.quoting};
        std::vector<uint32_t> wanted = load.stops;
        for (uint32_t i = 0; load.stops.empty() && i < load.fields; i++) wanted.push_back(i);
        const StopChoice choice = {load.fields, uint32_t(wanted.size()), wanted.data()};
        std::vector<uint32_t> stops(1 + load.rows_a_call * wanted.size() + 64), expected, got;
        const CsvIndexPart& reference = *csv_index_parts[sizeof csv_index_parts / sizeof *csv_index_parts - 1];
        index_all(reference, data, bytes, choice, load.rows_a_call, stops, &expected);
        std::printf("%-24s", load.name);
        for (const CsvIndexPart* part : parts) {
            got.clear();
            index_all(*part, data, bytes, choice, load.rows_a_call, stops, &got);
            if (got != expected) std::abort();
            std::printf("%9.2f", best_gbps(data.size(), repeats, [&] {
                            index_all(*part, data, bytes, choice, load.rows_a_call, stops, nullptr);
                        }));
        }
        std::printf("\n");
    }
    if (!asked("quote summary") && !asked("count byte")) return 0;
    std::string data;
    while (data.size() < size_t(8) << 20) data += quoted_record();
    const uint8_t* at = reinterpret_cast<const uint8_t*>(data.data());
    std::printf("%-24s", "quote summary");
    QuoteSummary summary;
    for (const CsvIndexPart* part : parts)
        std::printf("%9.2f", best_gbps(data.size(), repeats, [&] {
                        part->summarize_quotes(at, data.size(), {',', '\n', '"', true}, summary);
                    }));
    std::printf("\n%-24s", "count byte");
    volatile uint64_t sink;
    for (const CsvIndexPart* part : parts)
        std::printf("%9.2f", best_gbps(data.size(), repeats, [&] { sink = part->count_byte(at, data.size(), '\n'); }));
    (void)sink;
    std::printf("\n");
    return 0;
}
