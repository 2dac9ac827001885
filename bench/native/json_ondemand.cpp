// The contestant: hand-written C++ on simdjson's On-Demand front end, the same columns filled from the same lines.
//
// Load: the file given, read once; best of three, by CPU time, on one thread. flat: 12 keys in order by find_field, into
// vectors that keep their memory; "few" fills four of them. shuffled: find_field_unordered. tweets: four leaves.
// Arguments: flat, shuffled or tweets; all, few, dom or stage1; a file. Prints seconds and records.
// Built and run by bench/contestants/simdjson.py.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "simdjson.h"

using namespace simdjson;

namespace {

double cpu_now() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

struct Text {
    std::vector<int32_t> offsets;
    std::vector<char> bytes;
    std::vector<uint8_t> valid;
    void clear() { offsets.assign(1, 0), bytes.clear(), valid.clear(); }
    void add(std::string_view s) {
        const size_t at = bytes.size();
        bytes.resize(at + s.size());
        std::memcpy(bytes.data() + at, s.data(), s.size());
        offsets.push_back(int32_t(bytes.size()));
        valid.push_back(1);
    }
    void add_null() {
        offsets.push_back(int32_t(bytes.size()));
        valid.push_back(0);
    }
};

struct Columns {
    std::vector<int64_t> id, user_id, quantity, created, latency;
    std::vector<double> price, score;
    std::vector<uint8_t> ok;
    Text type, session, country, referrer;
    void clear() {
        for (auto* c : {&id, &user_id, &quantity, &created, &latency}) c->clear();
        price.clear(), score.clear(), ok.clear();
        for (auto* c : {&type, &session, &country, &referrer}) c->clear();
    }
};

int two(const char* s) { return (s[0] - '0') * 10 + (s[1] - '0'); }

int64_t micros(std::string_view s) {  // YYYY-MM-DDTHH:MM:SS
    if (s.size() != 19) return -1;
    int y = two(s.data()) * 100 + two(s.data() + 2);
    const int m = two(s.data() + 5), d = two(s.data() + 8);
    y -= m <= 2;
    const int era = y / 400, year = y - era * 400, day = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    const int64_t days = era * 146097ll + year * 365 + year / 4 - year / 100 + day - 719468;
    return (days * 86400 + two(s.data() + 11) * 3600 + two(s.data() + 14) * 60 + two(s.data() + 17)) * 1000000;
}

template <bool ordered>
auto field(ondemand::object& o, std::string_view key) {
    if constexpr (ordered)
        return o.find_field(key);
    else
        return o.find_field_unordered(key);
}

template <bool ordered>
void all_flat(ondemand::object o, Columns& c) {
    c.id.push_back(int64_t(field<ordered>(o, "id")));
    c.type.add(std::string_view(field<ordered>(o, "type")));
    c.user_id.push_back(int64_t(field<ordered>(o, "user_id")));
    c.session.add(std::string_view(field<ordered>(o, "session")));
    c.price.push_back(double(field<ordered>(o, "price")));
    c.quantity.push_back(int64_t(field<ordered>(o, "quantity")));
    c.created.push_back(micros(std::string_view(field<ordered>(o, "created_at"))));
    c.ok.push_back(bool(field<ordered>(o, "ok")));
    c.score.push_back(double(field<ordered>(o, "score")));
    c.country.add(std::string_view(field<ordered>(o, "country")));
    ondemand::value referrer = field<ordered>(o, "referrer");
    if (referrer.is_null())
        c.referrer.add_null();
    else
        c.referrer.add(std::string_view(referrer));
    c.latency.push_back(int64_t(field<ordered>(o, "latency_ms")));
}

template <bool ordered>
void few_flat(ondemand::object o, Columns& c) {
    c.id.push_back(int64_t(field<ordered>(o, "id")));
    c.user_id.push_back(int64_t(field<ordered>(o, "user_id")));
    c.price.push_back(double(field<ordered>(o, "price")));
    c.country.add(std::string_view(field<ordered>(o, "country")));
}

void few_tweets(ondemand::object o, Columns& c) {
    c.id.push_back(int64_t(o.find_field("id")));
    ondemand::object user = o.find_field("user");
    c.type.add(std::string_view(user.find_field("screen_name")));
    c.user_id.push_back(int64_t(o.find_field("retweet_count")));
    c.country.add(std::string_view(o.find_field("lang")));
}

template <typename Fill>
void run(const padded_string& data, Fill fill) {
    ondemand::parser parser;
#ifdef SIMDJSON_THREADS_ENABLED
    parser.threaded = false;
#endif
    Columns columns;
    double best = 1e9;
    for (int round = 0; round < 3; round++) {
        columns.clear();
        const auto start = cpu_now();
        ondemand::document_stream stream = parser.iterate_many(data, 1 << 20);
        for (auto document : stream) fill(document.get_object(), columns);
        best = std::min(best, (cpu_now() - start));
    }
    std::printf("%.9f %zu\n", best, columns.id.size());
}

void run_dom(const padded_string& data) {
    dom::parser parser;
#ifdef SIMDJSON_THREADS_ENABLED
    parser.threaded = false;
#endif
    double best = 1e9;
    size_t count = 0;
    for (int round = 0; round < 3; round++) {
        count = 0;
        const auto start = cpu_now();
        dom::document_stream stream;
        if (parser.parse_many(data, 1 << 20).get(stream)) return;
        for (auto document : stream) count += document.error() == SUCCESS;
        best = std::min(best, (cpu_now() - start));
    }
    std::printf("%.9f %zu\n", best, count);
}

// The structural index alone, by megabytes: what a front end of ours could be built on.
void run_stage1(const padded_string& data) {
    const size_t step = std::min<size_t>(1 << 20, data.size());
    std::unique_ptr<internal::dom_parser_implementation> parser;
    if (get_active_implementation()->create_dom_parser_implementation(step, 1024, parser)) return;
    double best = 1e9;
    for (int round = 0; round < 3; round++) {
        const auto start = cpu_now();
        for (size_t at = 0; at + step <= data.size(); at += step) {
            const auto* bytes = reinterpret_cast<const uint8_t*>(data.data()) + at;
            if (parser->stage1(bytes, step, stage1_mode::streaming_partial))
                continue;  // begins inside a string perhaps
        }
        best = std::min(best, cpu_now() - start);
    }
    const double whole = double(data.size()) / double(data.size() / step * step);
    std::printf("%.9f 0\n", best * whole);
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4) return 2;
    padded_string data;
    if (padded_string::load(arguments[3]).get(data)) return 1;
    const std::string kind = arguments[1], what = arguments[2];
    const bool all = what == "all", ordered = kind == "flat";
    if (what == "dom")
        run_dom(data);
    else if (what == "stage1")
        run_stage1(data);
    else if (kind == "tweets" && !all)
        run(data, few_tweets);
    else if (kind != "tweets" && all)
        ordered ? run(data, all_flat<true>) : run(data, all_flat<false>);
    else if (kind != "tweets")
        ordered ? run(data, few_flat<true>) : run(data, few_flat<false>);
    else
        return 3;
}
