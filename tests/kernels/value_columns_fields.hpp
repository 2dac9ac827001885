// The fields that value_columns_check.cpp feeds to the loops: ordinary ones, ones just off the rules, and noise.
// In: the check program's random source. Out: checks made. Included once, by it.
#pragma once

static std::string random_digits(size_t count) {
    std::string text;
    for (size_t i = 0; i < count; i++) text += char('0' + below(10));
    return text;
}

static std::string noise(size_t size) {
    static const char likely[] = "-+.,: \0\x01TZ\"\"\xAF\xB0\xB5\xFF/:;@9eE";
    std::string text;
    for (size_t i = 0; i < size; i++)
        text += one_in(3) ? char(below(256)) : one_in(2) ? char('0' + below(10)) : likely[below(sizeof likely)];
    return text;
}

// Replaces, inserts or removes one byte.
static std::string damaged(std::string text) {
    const size_t at = below(text.size() + 1);
    if (one_in(3)) return text.insert(at, noise(1));
    if (at == text.size()) return text;
    if (one_in(2)) return text.erase(at, 1);
    text[at] = noise(1)[0];
    return text;
}

static std::string number_field(size_t usual_digits) {
    std::string text = (one_in(3) ? "-" : "") + random_digits(one_in(10) ? below(41) : 1 + below(usual_digits));
    if (one_in(2)) text.insert(below(text.size() + 1), one_in(8) ? "," : ".");
    return one_in(12) ? damaged(text) : text;
}

// Seventeen digits and more, mostly with a point, often with an exponent.
static std::string long_number_field() {
    const size_t digits = one_in(10) ? 1 + below(41) : 15 + below(7);
    std::string text = random_digits(digits);
    if (one_in(3)) text = std::string(below(8), '0') + text;
    if (one_in(8)) text = std::to_string(one_in(2) ? randomness() : uint64_t(INT64_MAX) + below(5) - 2);
    if (!one_in(4)) text.insert(1 + (one_in(3) ? below(text.size()) : 0), one_in(20) ? "," : ".");
    if (one_in(3)) text = "-" + text;
    if (one_in(3)) {
        static const char* const signs[] = {"", "+", "-", "-", "--"};
        const std::string exponent = one_in(9) ? random_digits(below(6)) : std::to_string(below(330));
        text += (one_in(3) ? "E" : "e") + std::string(signs[below(one_in(9) ? 5 : 4)]) + exponent;
    }
    return one_in(20) ? damaged(text) : text;
}

static std::string two_digits(size_t number) { return {char('0' + number / 10), char('0' + number % 10)}; }

static std::string date_field() {
    static const char* const years[] = {"1677", "2262", "1900", "2000", "0000", "9999", "1969", "1970"};
    const std::string year = one_in(3) ? random_digits(4) : one_in(2) ? years[below(8)] : "20" + two_digits(below(30));
    const size_t month = one_in(20) ? below(100) : one_in(3) ? 2 : 1 + below(12);
    const size_t day = one_in(20) ? below(100) : one_in(2) ? 1 + below(31) : 28 + below(4);
    return year + "-" + two_digits(month) + "-" + two_digits(day);
}

static std::string time_field() {
    std::string text = date_field();
    if (one_in(6)) return one_in(10) ? text + "Z" : text;
    text += (one_in(2) ? "T" : " ") + two_digits(one_in(40) ? below(100) : below(24)) + ":" +
            two_digits(one_in(40) ? below(100) : below(60)) + ":" + two_digits(one_in(40) ? below(100) : below(60));
    if (one_in(100)) text = (one_in(2) ? "1677-09-21T00:12:4" : "2262-04-11T23:47:1") + random_digits(1);
    if (one_in(2)) text += "." + random_digits(below(one_in(3) ? 4 : 11)) + std::string(one_in(2) ? 0 : below(8), '0');
    if (one_in(20)) text = date_field() + "T" + two_digits(below(24)) + ":" + two_digits(below(60));
    if (one_in(3)) {
        text += "Z";
    } else if (one_in(2)) {
        text += (one_in(2) ? "+" : "-") + two_digits(one_in(9) ? below(100) : below(15));
        if (!one_in(4)) text += (one_in(3) ? "" : ":") + two_digits(one_in(9) ? below(100) : 15 * below(4));
    }
    return one_in(12) ? damaged(text) : text;
}

static std::string bool_field() {
    static const char* const likely[] = {"true", "false", "1", "0", "tru", "True", "SomeTrue", "SomeTruf", "truee"};
    const std::string text = likely[below(9)];
    return one_in(8) ? damaged(text) : text;
}

static std::string words(size_t size) {
    std::string text;
    while (text.size() < size) text += one_in(200) ? std::string("\xC3\xA9") : std::string(1, char('a' + below(26)));
    return text;
}

static std::string string_field(size_t usual_size, bool quotes) {
    std::string text = words(one_in(30) ? below(3000) : below(usual_size));
    if (!quotes || one_in(2)) return text;
    // Runs of quotes where a window of the copy ends.
    if (one_in(6)) return "\"" + words(59 + below(8)) + std::string(1 + below(4), '"') + words(below(3)) + "\"";
    for (size_t doubled = one_in(2) ? 0 : below(4); doubled > 0; doubled--) text.insert(below(text.size() + 1), "\"\"");
    text = "\"" + text + "\"";
    return one_in(15) ? damaged(text) : text;
}

template <class Make>
static Fields some_fields(size_t rows, Make make) {
    Fields fields;
    for (size_t row = 0; row < rows; row++) fields.push_back(one_in(20) ? std::string() : make());
    return fields;
}

// A '\r' at the end of a field is taken off where carriage returns may end records; the fields must then not have one.
static Fields without_carriage_returns(Fields fields) {
    for (std::string& field : fields)
        for (char& byte : field)
            if (byte == '\r') byte = ' ';
    return fields;
}

static std::string utf8_text(size_t size) {
    static const char* const characters[] = {
        "\xC2\x80",     "\xDF\xBF",         "\xE0\xA0\x80",     "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "\xE2\x82\xAC", "z"};
    const size_t rarity = 1 + below(40);
    std::string text;
    while (text.size() < size) text += one_in(rarity) ? characters[below(10)] : "a";
    if (one_in(2)) text = text.substr(0, size);
    if (one_in(3) && !text.empty()) text[below(text.size())] = char(below(256));
    return text;
}

static void check_round(int round) {
    const bool carriage_returns = round % 2 == 1;
    const size_t rows = one_in(3) ? below(70) : below(1500);
    const auto make = [&](auto maker) { return without_carriage_returns(some_fields(rows, maker)); };
    check_numbers(make([] { return number_field(6); }), carriage_returns);
    check_numbers(make([] { return number_field(18); }), carriage_returns);
    check_numbers(make(long_number_field), carriage_returns);
    check_numbers(make([] { return one_in(40) ? long_number_field() : number_field(6); }), carriage_returns);
    check_numbers(make([] { return noise(below(41)); }), carriage_returns);
    check_times(make(time_field), carriage_returns);
    check_times(make([] { return one_in(30) ? damaged(date_field()) : date_field(); }), carriage_returns);
    check_booleans(make(bool_field), carriage_returns);
    check_booleans(make([] { return one_in(9) ? noise(below(30)) : bool_field(); }), carriage_returns);
    for (const bool quotes : {false, true}) {
        const size_t usual_size = one_in(2) ? 12 : 100;
        const Fields fields = make([&] { return string_field(usual_size, quotes); });
        check_strings(fields, carriage_returns, true, '"');
        check_strings(fields, carriage_returns, false, '"');
    }
    check_strings(make([] { return noise(below(90)); }), carriage_returns, true, '"');
    for (int i = 0; i < 300; i++) check_utf8(utf8_text(below(200)));
}

// Every day of the calendar and every day that looks like one: months 0 to 13, days 0 to 32, in years around each rule.
static void check_every_date() {
    for (size_t year = 0; year < 10000; year += year % 100 == 4 ? 92 : 1) {
        const std::string century = two_digits(year / 100), rest = two_digits(year % 100);
        Fields fields;
        for (size_t month = 0; month < 14; month++)
            for (size_t day = 0; day < 33; day++)
                fields.push_back(century + rest + "-" + two_digits(month) + "-" + two_digits(day));
        const Layout layout(fields, false);
        check_dates(layout.view, fields);
    }
}

// Every lead byte with second and third bytes around each limit, at places around the ends of vectors.
static void check_utf8_boundaries() {
    static const uint8_t next[] = {0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xE1, 0xF0, 0xFF};
    static const size_t places[] = {0, 13, 61, 62, 63, 125};
    for (unsigned lead = 0x7F; lead < 0x100; lead++)
        for (const uint8_t second : next)
            for (const uint8_t third : next) {
                const size_t place = places[below(6)];
                std::string text = std::string(place, 'a') + char(lead) + char(second) + char(third);
                check_utf8(text);
                check_utf8(text + "\x80");
                check_utf8(text + "\x80" + std::string(below(70), 'b'));
                check_utf8(text + std::string(below(70), 'b'));
            }
}
