// The narrow contract between the engine and the per-CPU kernels. Every kernel gives the same answer for every input.
//
// In: bytes and row views. Out: positions, values, bitmaps. Kernels know no schema, no policy, no Python, and allocate
// nothing. What a value loop cannot decide quickly it marks `odd`; the engine decides those one by one, exactly.
#pragma once

#include "kernels/row_view.hpp"

namespace formatter {

// ---------------------------------------------------------------------------------------------- csv index

// Which quote bytes are quotes; docs/csv.md has the rules.
enum class QuoteRule : uint8_t {
    strict,  // all of them, wherever they stand
    lenient,  // those that open stand at a field's start, and one inside closes or is doubled
    sticky,  // the same, but one inside closes only where a separator follows
};

// Of a separator of several bytes, those behind the first.
struct SeparatorRest {
    static constexpr uint32_t most = 7;
    uint8_t count = 0;
    uint8_t bytes[most] = {};
};

struct CsvBytes {
    uint8_t delimiter;
    uint8_t record_end;
    uint8_t quote;    // ignored unless `quoting`
    bool quoting;
    QuoteRule rule = QuoteRule::strict;
    bool ends_in_quotes = false;  // a record end inside quotes ends those, and the record
    bool opens_behind_blanks =
        false;  // by the lenient rule: blanks may stand between a separator and a quote that opens
    // By the strict rule, or without quotes, index_csv knows more: separators of several bytes, none of which stands in the
    // other one or is a quote or the escape; and an escape, which makes the byte behind it data.
    SeparatorRest delimiter_rest = {}, record_end_rest = {};
    bool escaping = false;
    uint8_t escape = 0;
};

// What of the bytes before a place decides which of the quotes behind it are quotes.
struct QuoteState {
    bool inside = false;
    bool fresh = false;  // a quote would open: a separator, or a quote that closed, stands before
    // A quote that closed stands before: by the sticky rule it is text if no separator follows, and where quotes open behind blanks,
    // they do not behind these.
    bool closing = false;

    bool operator==(const QuoteState& o) const {
        return inside == o.inside && fresh == o.fresh && closing == o.closing;
    }
};

// From one such state to that at the end of some bytes, and the record ends on the way: positions of the byte itself.
struct QuoteCourse {
    QuoteState state;  // in: where the bytes begin; out: where they end
    uint64_t first_end;
    uint64_t last_end;
};

// What a look at bytes by themselves says of their quotes: where all of them stand so that every rule takes them alike, they are
// counted, and no more need be known.
struct QuoteAgreement {
    bool holds[2] = {false, false};  // if the bytes begin outside quotes, and inside
    bool opens = false;  // the first byte is a quote
    bool follows = false;  // the first byte may stand behind a quote that closed
    bool odd = false;  // how many quotes there are
};

// `stops` are the separator ordinals of a record to write, ascending; the last is always fields - 1 (the record end).
struct StopChoice {
    uint32_t fields;
    uint32_t stop_count;
    const uint32_t* stops;
};

enum class IndexEnd : uint32_t {
    input,  // no further complete record in the input
    capacity,  // `capacity_rows` records were written
    irregular,  // the record at `consumed` has not exactly `fields` fields (an empty line counts): not written
};

struct CsvIndex {
    // in
    uint32_t* stops;  // room for capacity_rows * stop_count + 64 entries: kernels may overwrite past the end
    uint32_t capacity_rows;
    // out
    uint32_t rows;
    size_t consumed;  // bytes through the end of the last complete record written
    IndexEnd end;
    bool saw_carriage_return;  // some record end had '\r' before it (may be true too often, never too seldom)
};

// Quote parity and record ends of a buffer under both possible start states: [0] starts outside quotes, [1] inside.
// Positions are of the record-end byte itself; `none` if there is none.
struct QuoteSummary {
    static constexpr uint64_t none = ~uint64_t(0);
    uint64_t quotes;  // number of quote bytes
    uint64_t record_ends[2];  // number of record ends in effect
    uint64_t first_end[2];
    uint64_t last_end[2];
};

// ---------------------------------------------------------------------------------------------- byte sets

struct ByteSet {
    static constexpr uint32_t most = 16, most_marked = 12;
    uint8_t bytes[most];  // the first is that of record ends
    uint32_t count;  // at least one
};

struct BytePositions {
    uint32_t* positions;  // room for one entry a byte + 64: kernels may overwrite past the end
    uint32_t* ends;  // the same room: which of the positions are of record ends
    // out
    size_t count;
    size_t end_count;
};

// ---------------------------------------------------------------------------------------------- needles

// Bytes that a record must hold to be of interest.
struct NeedleBytes {
    static constexpr uint32_t probe_count = 3;
    const uint8_t* bytes;  // no record end among them
    uint32_t size;
    uint32_t probes[probe_count];  // which of them are looked for first, within the first 64; one may stand twice
    bool number;  // digits; found only where no digit follows, and none but 0 stands before
};

enum class BlankLines : uint8_t {
    records,  // are such
    empty,  // are none: no byte, or a carriage return where the record end is a line feed
    spaces,  // are none: spaces, tabs, carriage returns
};

struct NeedleSet {
    static constexpr uint32_t most = 12;
    const NeedleBytes* needles;  // any of them
    uint32_t count;
    bool escapes;  // a backslash is one, too
    bool exponents;  // and an e or E behind a digit or a point
    bool all_probes;  // two of them are not rare enough
    BlankLines blank;
};

struct PassedRecords {
    size_t bytes;  // of the records before the first that holds a needle, or of all whole ones
    uint64_t records;  // of these, without blank lines
    size_t
        found;  // bytes of the record behind them, which holds one, with its end; 0: none does, or its end is missing
};

// ---------------------------------------------------------------------------------------------- json index

struct JsonValued {  // of 64 positions, a bit each
    uint64_t values;  // a value stands before it
    uint64_t others;  // and it is no string
};

struct JsonIndex {
    uint32_t* positions;  // room for one entry a byte + 64: kernels may overwrite past the end
    uint8_t* kinds;  // the bytes at the positions, with the same room; null if they are not wanted
    JsonValued* valued;  // with room for one more; null if not wanted
    // out
    bool checked;  // `valued` is there, and strings and what stands between values are in order by the JSON grammar
    size_t count;  // positions of whole lines: the last is a line end
    bool utf8_known;  // all bytes up to the last position are UTF-8 (may be false too often)
    bool stopped;  // the line behind the last position has no strings in order: not written, nor those after it
};

struct JsonLevels {
    const uint8_t* kinds;  // as index_json writes them, of whole lines; 64 more bytes can be read
    const JsonValued* valued;  // as index_json writes it: then the whole grammar is checked. Or null
    const uint8_t* data;  // that was indexed, and its positions: looked at with `valued` only
    const uint32_t* positions;
    size_t count;
    uint8_t* depths;  // out: room for `count` + 64
    uint32_t* line_ends;  // out: which kinds are line ends, as far as `whole`, from `first` on; room for `count` + 64
    size_t first;
    size_t whole;  // out: kinds of the lines, from the first, that are in order; may stop early, never late
};

struct ItemEnds {
    uint32_t* ends;  // out: positions behind the commas between items; room for `most`
    size_t most;
    // in: where the bytes begin; out: behind those used
    bool inside;  // a string
    bool escaped;  // the next byte
    uint64_t depth;  // brackets of the item that are open
    // out
    size_t count;
    size_t used;  // all bytes, or those through the last of `most` ends, or through the bracket that closes the array
    bool closed;
};

// ---------------------------------------------------------------------------------------------- values

// What the numbers of a column were like so far, in a loop's own terms. A guess that saves time and changes no value.
struct NumberShape {
    uint32_t word_count = 1;  // of eight bytes that hold most
    uint32_t shorter = 0;  // chunks in a row for which fewer would have done
    bool beyond_eight = false;
    bool long_digits = false;
    bool exponents = false;
};

// Bitmaps are least significant bit first, as Arrow's, (rows + 63) / 64 words; bits past `rows` are written as zero.
struct ValueMarks {
    uint64_t* empty;  // the field has no bytes
    uint64_t* odd;  // not decided here: out[] is unspecified. Never set together with `empty`
    uint32_t empty_count;  // out
    uint32_t odd_count;  // out
    NumberShape* shape = nullptr;  // of this column, from call to call, if the caller keeps it
};

enum class TimeUnit : uint8_t { second, milli, micro, nano };

struct Token {  // a short literal, for booleans and null markers
    uint8_t length;  // <= 8
    uint8_t bytes[8];
};

struct StringSums {
    uint64_t bytes;  // upper bound of the bytes gather_strings will write
    bool any_non_ascii;  // out of gather_strings: some byte >= 0x80 was copied
};

struct JsonStrings {  // where the strings of a column go
    uint8_t* text;
    uint64_t bytes;  // in and out: of it that are written; 64 more than `room` may be overwritten
    uint64_t room;
    uint8_t* ends;  // one a row: int32, or int64 if `wide`
    bool wide;
    bool nullable;  // if not, a null is not decided here
    uint64_t* valid;  // a bitmap whose bits are set: those of nulls are cleared
};

struct Kernel {
    const char* name;
    bool (*supported)();

    // Writes the wanted stops of every complete record from `data`, which begins a record outside quotes. Separators are
    // delimiters and record ends outside quotes, by the bytes' rule. Offsets are relative to `data`.
    void (*index_csv)(const uint8_t* data, size_t size, const CsvBytes&, const StopChoice&, CsvIndex&);
    // Where bytes of the set stand, in order.
    void (*find_bytes)(const uint8_t* data, size_t size, const ByteSet&, BytePositions&);
    // The same as bits, one for each byte of the data: `stride` words for each byte of the set, one behind the other. Those of its
    // second byte up to `joined` more have the bits of the ones before them, too.
    void (*mark_bytes)(const uint8_t* data, size_t size, const ByteSet&, uint32_t joined, uint64_t* bits,
                       size_t stride);
    // Passes over the records from `data`, which begins one, that hold no needle. Only the strict rule for quotes, or none.
    // Writes as many entries as there is room for, or up to one that has found nothing; returns how many. `false_hits`: probes
    // met that were no needle.
    size_t (*pass_records)(const uint8_t* data, size_t size, const NeedleSet&, const CsvBytes&, PassedRecords* out,
                           size_t room, uint64_t* false_hits);
    void (*summarize_quotes)(const uint8_t* data, size_t size, const CsvBytes&, QuoteSummary&);
    uint64_t (*count_byte)(const uint8_t* data, size_t size, uint8_t byte);
    // The position of the first record end outside quotes, for bytes that begin inside or outside, or `none`.
    uint64_t (*first_record_end)(const uint8_t* data, size_t size, const CsvBytes&, bool inside);
    // Where each of several courses leads, by a rule other than the strict one. Most soon are one, and cost as much.
    void (*follow_quotes)(const uint8_t* data, size_t size, const CsvBytes&, QuoteCourse* courses, size_t count);
    // Whether such courses are needed, by the same rules. Copies on the way unless `to` is null, as the next one does.
    void (*agree_on_quotes)(uint8_t* to, const uint8_t* from, size_t size, const CsvBytes&, const uint8_t* next,
                            size_t next_size, QuoteAgreement&);
    // Copies and counts; `next` is where the caller will read then, or null.
    uint64_t (*copy_counting)(uint8_t* to, const uint8_t* from, size_t size, uint8_t byte, const uint8_t* next,
                              size_t next_size);

    // -?digits, 1 to 18 digits, and most of 19 where a column has many of them. Anything else (signs '+', spaces, quotes,
    // longer, overflow) is odd.
    void (*decode_int64)(const FieldView&, int64_t* out, ValueMarks&);
    // The same without signs, up to 20 digits.
    void (*decode_uint64)(const FieldView&, uint64_t* out, ValueMarks&);
    // -?digits[.digits] with at most 15 digits in all and at least one on each side of a point that is there, and where a
    // column has many such, most of 20 digits and with an exponent behind (e or E, a sign or none, one to four digits): correctly
    // rounded. Everything else is odd. `decimal_point` is '.' or ','.
    void (*decode_float64)(const FieldView&, uint8_t decimal_point, double* out, ValueMarks&);
    // -?digits[.digits] with at least one digit on each side of a point that is there, and no more behind it than `scale`
    // (0 to 38): times 10^scale, as 16 bytes a value, below 10^precision. Most such are decided, everything else is odd.
    void (*decode_decimal128)(const FieldView&, uint8_t decimal_point, uint32_t precision, uint32_t scale, uint8_t* out,
                              ValueMarks&);
    // YYYY-MM-DD, and in timestamps also YYYY-MM-DD[T ]HH:MM[:SS[.f{1,9}]], each of those with an optional zone: Z, or + or -
    // and HH, HHMM or HH:MM. Valid calendar dates of years 0001 to 9999 only; else odd. More fraction digits than the unit
    // holds: odd unless they are zeros.
    void (*decode_timestamp)(const FieldView&, TimeUnit, int64_t* out, ValueMarks&);
    void (*decode_date32)(const FieldView&, int32_t* out, ValueMarks&);
    // One bit a row into `out` (a bitmap like the marks). Fields equal to a token decide; others are odd (or empty).
    void (*decode_bool)(const FieldView&, const Token* trues, size_t true_count, const Token* falses,
                        size_t false_count, uint64_t* out, ValueMarks&);

    // Strings. measure_strings gives the bound that the caller reserves (plus 64 bytes of slack the copy may overwrite);
    // gather_strings copies each field behind the one before and writes the end offset of row i to offsets[i], starting
    // from `start_offset`. A field that begins with `quote` (when quoting) loses its outer quotes and has doubled ones
    // halved; one that is not a well-formed quoted field, or an unquoted one that holds a quote, is odd and written
    // empty. marks.empty: the field has no bytes at all (a quoted empty string is not empty).
    void (*measure_strings)(const FieldView&, StringSums&);
    void (*gather_strings)(const FieldView&, bool quoting, uint8_t quote, int32_t start_offset, int32_t* offsets,
                           uint8_t* out, StringSums&, ValueMarks&);

    bool (*valid_utf8)(const uint8_t* data, size_t size);

    // Structure of JSON lines: `data` begins a line, and the last byte of `size` ends one.
    void (*index_json)(const uint8_t* data, size_t size, JsonIndex&);
    // Where items of an array end: brackets are counted whatever their kind, but only a ']' closes the array.
    void (*find_items)(const uint8_t* data, size_t size, ItemEnds&);
    // How deep each part of that structure stands: 1 between the brackets of a record and for themselves, 0 line ends.
    void (*level_json)(JsonLevels&);
    // The text a JSON string's content stands for; the bytes written, or -1 if no string has such content. 64 bytes more
    // than `size` are read and may be written.
    ptrdiff_t (*copy_json_string)(const uint8_t* from, size_t size, uint8_t* to);
    // The same for rows `from` and on of one segment, the strings behind each other; `stops` are those of row `from`, a
    // string's lie inside its quotes, and row 0 of the segment has bit `bit` in the bitmap. What is neither a string nor
    // null nor missing (a line end), what there is no room for, and what stands so near to the end of what can be read
    // that whole blocks cannot, ends it. Returns the row behind the last one decided.
    uint32_t (*gather_json_strings)(const Segment&, const uint32_t* stops, size_t stride, uint32_t from, uint64_t bit,
                                    JsonStrings&);
};

// Kernels compiled in and supported by this CPU, best first; the last is scalar.
const Kernel* const* available_kernels(size_t* count);
// By name, or null if unknown or unsupported.
const Kernel* find_kernel(const char* name);

}  // namespace formatter
