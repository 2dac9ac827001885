// Every value loop of every kernel against naive oracles, on exact-size buffers: a sanitizer sees each stray load.
//
// Compiled once per kernel with -DFORMATTER_ISA=<name> (its loops become a table) and once without (oracles and main).
// In: a seed. Out: exit code 0, or the first disagreement. Refuses to know how the loops work.
#ifdef FORMATTER_ISA

#include "kernels/text_columns.inl.hpp"
#include "kernels/number_columns.inl.hpp"
#include "kernels/decimal_columns.inl.hpp"
#include "kernels/time_columns.inl.hpp"

#define CHECK_JOIN_(a, b) a##b
#define CHECK_JOIN(a, b) CHECK_JOIN_(a, b)
#define CHECK_TEXT_(a) #a
#define CHECK_TEXT(a) CHECK_TEXT_(a)

namespace formatter {
extern const Kernel CHECK_JOIN(values_, FORMATTER_ISA);
const Kernel CHECK_JOIN(values_, FORMATTER_ISA) = {
    .name = CHECK_TEXT(FORMATTER_ISA),
    .decode_int64 = FORMATTER_ISA::decode_int64,
    .decode_uint64 = FORMATTER_ISA::decode_uint64,
    .decode_float64 = FORMATTER_ISA::decode_float64,
    .decode_decimal128 = FORMATTER_ISA::decode_decimal128,
    .decode_timestamp = FORMATTER_ISA::decode_timestamp,
    .decode_date32 = FORMATTER_ISA::decode_date32,
    .decode_bool = FORMATTER_ISA::decode_bool,
    .measure_strings = FORMATTER_ISA::measure_strings,
    .gather_strings = FORMATTER_ISA::gather_strings,
    .valid_utf8 = FORMATTER_ISA::valid_utf8,
};
}  // namespace formatter

#else

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/kernel.hpp"
#include "value_columns_oracles.hpp"

namespace formatter {
extern const Kernel values_scalar;
#if defined(__x86_64__)
extern const Kernel values_sse42, values_avx2, values_avx512;
#elif defined(__aarch64__)
extern const Kernel values_neon;
#endif
}  // namespace formatter

using namespace formatter;
using Fields = std::vector<std::string>;

static std::vector<const Kernel*> kernels_here() {
    std::vector<const Kernel*> kernels = {&values_scalar};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) kernels.push_back(&values_sse42);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) kernels.push_back(&values_avx2);
    if (__builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vpopcntdq"))
        kernels.push_back(&values_avx512);
#elif defined(__aarch64__)
    kernels.push_back(&values_neon);
#endif
    return kernels;
}

// ------------------------------------------------------------------------------------------ buffers

static std::mt19937_64 randomness;
static size_t below(size_t bound) { return size_t(randomness() % bound); }
static bool one_in(size_t n) { return below(n) == 0; }

template <class T>
struct Exact {  // an allocation of just this size
    std::unique_ptr<T[]> data;
    explicit Exact(size_t count) : data(new T[count]) {
        std::memset(static_cast<void*>(data.get()), 0xA5, count * sizeof(T));
    }
    operator T*() const { return data.get(); }
};

// The fields as one column of records that lie in several exact-size buffers, each with other bytes before the base.
struct Layout {
    std::vector<Exact<uint8_t>> buffers;
    std::vector<Segment> segments;
    std::vector<uint32_t> stops;
    FieldView view;

    Layout(const Fields& fields, bool carriage_returns) {
        const bool last_column = carriage_returns || one_in(2);
        const uint32_t stride = uint32_t(1 + below(3));
        const int32_t end_stop = last_column ? int32_t(stride) - 1 : int32_t(below(stride));
        const uint32_t skip = one_in(4) ? uint32_t(below(3)) : 1;
        for (size_t first = 0; first < fields.size();) {
            const size_t longest = one_in(3) ? 3 : 700;
            const size_t rows = std::min(fields.size() - first, below(longest + 1));
            add_segment(fields, first, rows, stride, end_stop, skip, carriage_returns);
            first += rows;
        }
        view = {segments.data(),         segments.size(), stops.data(), stride, end_stop - 1, end_stop, skip,
                uint32_t(fields.size()), carriage_returns};
    }

    void add_segment(const Fields& fields, size_t first, size_t rows, uint32_t stride, int32_t end_stop, uint32_t skip,
                     bool carriage_returns) {
        std::string text(below(20), '7');       // before the base
        const size_t base = below(text.size() + 1);
        stops.push_back(uint32_t(text.size() - base) - skip);  // the sentinel; wraps if the record begins at the base
        const size_t first_stop = stops.size();
        for (size_t row = 0; row < rows; row++) {
            for (uint32_t stop = 0; stop < stride; stop++) {
                const bool wanted = int32_t(stop) == end_stop;
                text += wanted ? fields[first + row] : std::string(below(5), '8');
                if (wanted && carriage_returns && !one_in(4)) text += '\r';
                stops.push_back(uint32_t(text.size() - base));
                if (row + 1 < rows || stop + 1 < stride) text.append(skip, ',');
            }
        }
        Exact<uint8_t> buffer(text.size());
        std::memcpy(buffer, text.data(), text.size());
        segments.push_back({buffer + base, buffer, buffer + text.size(), first_stop, uint32_t(rows)});
        buffers.push_back(std::move(buffer));
    }
};

// ------------------------------------------------------------------------------------------ comparisons

[[noreturn]] static void disagree(const char* kernel, const char* what, size_t row, const std::string& field) {
    std::fprintf(stderr, "%s %s: row %zu of field '", kernel, what, row);
    for (unsigned char byte : field.substr(0, 100))
        std::fprintf(stderr, byte < 32 || byte > 126 ? "\\x%02x" : "%c", byte);
    std::fprintf(stderr, "' (%zu bytes)\n", field.size());
    std::exit(1);
}

struct Marks {
    Exact<uint64_t> empty, odd;
    ValueMarks marks;
    explicit Marks(size_t rows) : empty((rows + 63) / 64), odd((rows + 63) / 64), marks{empty, odd, 77, 77} {}
    void check(const char* kernel, const char* what, const Fields& fields, const std::vector<Value>& expected) const {
        uint32_t empties = 0, odds = 0;
        for (size_t row = 0; row < (fields.size() + 63) / 64 * 64; row++) {
            const bool is_empty = empty[row / 64] >> row % 64 & 1, is_odd = odd[row / 64] >> row % 64 & 1;
            const bool there = row < fields.size(), free = there && expected[row].may_be_odd;
            if (is_empty != (there && fields[row].empty()) || (is_odd != (there && expected[row].odd) && !free))
                disagree(kernel, what, row, there ? fields[row] : "past the end");
            empties += is_empty;
            odds += is_odd;
        }
        if (marks.empty_count != empties || marks.odd_count != odds) disagree(kernel, "counts", 0, what);
    }
};

template <class Oracle>
static std::vector<Value> expectations(const Fields& fields, Oracle oracle) {
    std::vector<Value> expected;
    for (const std::string& field : fields) expected.push_back(field.empty() ? Value() : oracle(field));
    return expected;
}

template <class T>
static T value_image(const Value& value, T) {
    return T(value.bits);
}
static unsigned __int128 value_image(const Value& value, unsigned __int128) {
    return static_cast<unsigned __int128>(value.high_bits) << 64 | value.bits;
}

// `decode` fills `out` of type T; its values are compared as bits.
template <class T, class Decode>
static void check_values(const char* what, const Fields& fields, const std::vector<Value>& expected, Decode decode) {
    for (const Kernel* kernel : kernels_here()) {
        Exact<T> out(fields.size());
        Marks marks(fields.size());
        decode(*kernel, static_cast<T*>(out), marks.marks);
        marks.check(kernel->name, what, fields, expected);
        for (size_t row = 0; row < fields.size(); row++) {
            const bool is_odd = marks.odd[row / 64] >> row % 64 & 1;
            const T wanted = is_odd ? T(0) : value_image(expected[row], T());
            if (std::memcmp(&out[row], &wanted, sizeof(T)) != 0) disagree(kernel->name, what, row, fields[row]);
        }
    }
}

static void check_numbers(const Fields& fields, bool carriage_returns) {
    const Layout layout(fields, carriage_returns);
    check_values<int64_t>(
        "int64", fields, expectations(fields, int64_oracle),
        [&](const Kernel& kernel, int64_t* out, ValueMarks& marks) { kernel.decode_int64(layout.view, out, marks); });
    check_values<uint64_t>(
        "uint64", fields, expectations(fields, uint64_oracle),
        [&](const Kernel& kernel, uint64_t* out, ValueMarks& marks) { kernel.decode_uint64(layout.view, out, marks); });
    static const unsigned decimals[][2] = {{9, 2}, {18, 0}, {18, 6}, {38, 10}, {5, 5}, {38, 38}, {25, 4}};
    for (const auto& kind : decimals)
        check_values<unsigned __int128>(
            "decimal128", fields,
            expectations(fields,
                         [&](const std::string& field) { return decimal_oracle(field, '.', kind[0], kind[1]); }),
            [&](const Kernel& kernel, unsigned __int128* out, ValueMarks& marks) {
                kernel.decode_decimal128(layout.view, '.', kind[0], kind[1], reinterpret_cast<uint8_t*>(out), marks);
            });
    for (const char point : {'.', ','})
        check_values<uint64_t>(
            "float64", fields,
            expectations(fields, [&](const std::string& field) { return float64_oracle(field, point); }),
            [&](const Kernel& kernel, uint64_t* out, ValueMarks& marks) {
                kernel.decode_float64(layout.view, uint8_t(point), reinterpret_cast<double*>(out), marks);
            });
}

static void check_dates(const FieldView& view, const Fields& fields) {
    check_values<int32_t>(
        "date32", fields, expectations(fields, date_oracle),
        [&](const Kernel& kernel, int32_t* out, ValueMarks& marks) { kernel.decode_date32(view, out, marks); });
}

static void check_times(const Fields& fields, bool carriage_returns) {
    const Layout layout(fields, carriage_returns);
    for (const TimeUnit unit : {TimeUnit::second, TimeUnit::milli, TimeUnit::micro, TimeUnit::nano})
        check_values<int64_t>(
            "timestamp", fields,
            expectations(fields, [&](const std::string& field) { return timestamp_oracle(field, unit); }),
            [&](const Kernel& kernel, int64_t* out, ValueMarks& marks) {
                kernel.decode_timestamp(layout.view, unit, out, marks);
            });
    check_dates(layout.view, fields);
}

static Token token(const std::string& text) {
    Token result = {uint8_t(text.size()), {}};
    std::memcpy(result.bytes, text.data(), text.size());
    return result;
}

static void check_booleans(const Fields& fields, bool carriage_returns) {
    const Layout layout(fields, carriage_returns);
    const std::vector<Token> trues = {token("true"), token("1"), token("SomeTrue")};
    const std::vector<Token> falses = {token("false"), token("0"), token("tru")};
    const std::vector<Value> expected =
        expectations(fields, [&](const std::string& field) { return bool_oracle(field, trues, falses); });
    for (const Kernel* kernel : kernels_here()) {
        Exact<uint64_t> out((fields.size() + 63) / 64);
        Marks marks(fields.size());
        kernel->decode_bool(layout.view, trues.data(), trues.size(), falses.data(), falses.size(), out, marks.marks);
        marks.check(kernel->name, "bool", fields, expected);
        for (size_t row = 0; row < (fields.size() + 63) / 64 * 64; row++)
            if ((out[row / 64] >> row % 64 & 1) != (row < fields.size() ? expected[row].bits : 0))
                disagree(kernel->name, "bool", row, row < fields.size() ? fields[row] : "past the end");
    }
}

static void check_strings(const Fields& fields, bool carriage_returns, bool quoting, char quote) {
    const Layout layout(fields, carriage_returns);
    const std::vector<Value> expected =
        expectations(fields, [&](const std::string& field) { return string_oracle(field, quoting, quote); });
    size_t raw_bytes = fields.size();  // one '\r' a row may be counted
    bool non_ascii = false;
    for (const std::string& field : fields) raw_bytes += field.size();
    for (const Value& value : expected)
        for (const char byte : value.text) non_ascii |= uint8_t(byte) >= 0x80;
    for (const Kernel* kernel : kernels_here()) {
        StringSums sums = {~uint64_t(0), !non_ascii};
        kernel->measure_strings(layout.view, sums);
        if (sums.bytes > raw_bytes) disagree(kernel->name, "measure_strings is too large", 0, "");
        Exact<uint8_t> out(sums.bytes + 64);
        Exact<int32_t> offsets(fields.size());
        Marks marks(fields.size());
        int32_t end = 1000;
        kernel->gather_strings(layout.view, quoting, uint8_t(quote), end, offsets, out, sums, marks.marks);
        marks.check(kernel->name, "strings", fields, expected);
        if (sums.any_non_ascii != non_ascii) disagree(kernel->name, "any_non_ascii", 0, "");
        for (size_t row = 0; row < fields.size(); row++) {
            const std::string& text = expected[row].text;
            const bool same = std::memcmp(out + (end - 1000), text.data(), text.size()) == 0;
            if (!same || offsets[row] != end + int32_t(text.size()))
                disagree(kernel->name, "strings", row, fields[row]);
            end = offsets[row];
        }
    }
}

static void check_utf8(const std::string& text) {
    Exact<uint8_t> data(text.size());
    std::memcpy(data, text.data(), text.size());
    const bool expected = utf8_oracle(text);
    for (const Kernel* kernel : kernels_here())
        if (kernel->valid_utf8(data, text.size()) != expected) disagree(kernel->name, "valid_utf8", expected, text);
}

#include "value_columns_fields.hpp"  // needs the checks above

int main(int argc, char** argv) {
    randomness.seed(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1);
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 10;
    for (int round = 0; round < rounds; round++) check_round(round);
    check_every_date();
    check_utf8_boundaries();
    std::printf("%zu kernels agree\n", kernels_here().size());
    return 0;
}

#endif
