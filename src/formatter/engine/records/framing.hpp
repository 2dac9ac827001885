// Where records end in a buffer that may begin in the middle of one. In: bytes and, for some dialects, the state at the
// buffer's start. Out: the first and the last record end. Knows no fields and no values.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/records/frame_scanner.hpp"
#include "engine/records/record_decoder.hpp"
#include "kernels/kernel.hpp"

namespace formatter {

// How much of the past a buffer's framing depends on.
enum class FramingKind : uint8_t {
    stateless,  // the record-end byte always ends a record: buffers can be used in any order at once
    parity,  // it does outside quotes: quote counts compose by XOR, so only those of the prefix have to be known
    scanned,  // longer delimiters, escapes, comments: buffers are followed in order
};

struct FrameEnds {  // positions behind the record ends, `none` if the buffer has no record end
    static constexpr uint64_t none = BufferScan::none;
    static constexpr uint64_t later =
        none - 1;  // `last` has not been looked for: only the last buffer of a run needs it
    uint64_t first = none;
    uint64_t last = none;
    bool any() const { return first != none; }
};

struct Framing;

// Finds the end of what stands before the first record: a byte order mark, blank lines, comments and the header.
struct PreambleScan {
    ScanState state;
    std::string line;  // as far as it has come; at the end the header itself
    bool first_line = true;

    // The position behind the header, or `none`; buffers come in order.
    uint64_t advance(const Framing&, const uint8_t* data, size_t size);
};

struct Framing {
    FramingKind kind = FramingKind::stateless;
    uint8_t record_end = '\n';
    uint8_t quote = '"';
    const Kernel* kernel = nullptr;
    std::shared_ptr<const CsvFormat> csv;  // for `scanned` without a scanner, and for headers
    std::shared_ptr<const FrameScanner> scanner;  // for `scanned`: who follows the records, if no CSV dialect does

    bool needs_prefix() const { return kind != FramingKind::stateless; }
    FrameEnds ends_anywhere(const uint8_t* data, size_t size) const;
    QuoteSummary summarize(const uint8_t* data, size_t size) const;
    // What has to be known of a buffer for those behind it while its own start state is not: quotes, if they matter.
    uint64_t count_quotes(const uint8_t* data, size_t size) const;
    // The same while the bytes are copied; at `next` the caller will read then.
    uint64_t copy_counting(uint8_t* to, const uint8_t* data, size_t size, const uint8_t* next, size_t next_size) const;
    // The state is that at the buffer's start, and on return that at its end.
    FrameEnds ends_after(const uint8_t* data, size_t size, uint64_t quotes, ScanState*) const;
    // The `last` that was left for later, given whether the bytes end inside quotes.
    uint64_t last_end(const uint8_t* data, size_t size, bool inside) const;
    // The size of the record that begins these bytes, with its end, or `none`. `state` is that at the bytes' start and
    // goes on over several calls.
    uint64_t record_size(const uint8_t* data, size_t size, ScanState* state) const;
    size_t record_end_size() const { return scanner ? scanner->record_end_size() : csv ? csv->record_end.size() : 1; }
    size_t fixed_size() const { return scanner ? scanner->fixed_size() : 0; }
    bool checks_end() const { return scanner && scanner->checks_end(); }
    BufferScan scan(const uint8_t* data, size_t size, ScanState* state, bool first_only) const {
        return scanner ? scanner->scan(data, size, state, first_only)
                       : scan_buffer(*csv, data, size, state, first_only);
    }
};

struct RecordFormat;

// What stands before the first record of a stream with a header, and how the header changes the format.
struct Preamble {
    bool complete = false;
    size_t size = 0;  // through the header's end
    std::string header;
    std::vector<std::string> missing;  // columns the header does not name
    std::shared_ptr<const RecordFormat> format;  // with the columns where the header says
};

// What a stream or reader needs to know of a format.
struct RecordFormat {
    Framing framing;
    bool has_header = false;
    bool line_ends_inside = false;  // within a record that is known whole, line ends are space
    std::function<Preamble(const uint8_t* data, size_t size)> read_preamble;  // if has_header
    std::function<std::unique_ptr<RecordDecoder>()> make_decoder;
};

}  // namespace formatter
