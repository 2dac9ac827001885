// Where records end in a buffer that may begin in the middle of one. In: bytes and, for some dialects, the state at the
// buffer's start. Out: the first and the last record end. Knows no fields and no values.
#pragma once

#include <cstring>
#include <memory>

#include "engine/records/record_scanner.hpp"
#include "kernels/kernel.hpp"

namespace formatter {

// How much of the past a buffer's framing depends on.
enum class FramingKind : uint8_t {
    stateless,  // the record-end byte always ends a record: buffers can be used in any order at once
    parity,  // it does outside quotes: quote counts compose by XOR, so only those of the prefix have to be known
    scanned,  // longer delimiters, escapes, comments: buffers are followed in order
};

struct Framing {
    FramingKind kind = FramingKind::stateless;
    CsvBytes bytes{0, '\n', '"', false};  // the first one of each, where they are longer
    size_t record_end_size = 1;  // bytes of a record that only end it
    const Kernel* kernel = nullptr;
    std::shared_ptr<const RecordScanner> scanner;  // exact for every kind; `stateless` may do without

    bool needs_prefix() const { return kind != FramingKind::stateless; }
    RecordEnds ends_anywhere(const uint8_t* data, size_t size) const;
    QuoteSummary summarize(const uint8_t* data, size_t size) const;
    // What has to be known of a buffer for those behind it while its own start state is not: quotes, if they matter.
    uint64_t count_quotes(const uint8_t* data, size_t size) const {
        return kind == FramingKind::parity && size ? kernel->count_byte(data, size, bytes.quote) : 0;
    }
    // The same while the bytes are copied; at `next` the caller will read then.
    uint64_t copy_counting(uint8_t* to, const uint8_t* data, size_t size, const uint8_t* next, size_t next_size) const {
        if (kind == FramingKind::parity) return kernel->copy_counting(to, data, size, bytes.quote, next, next_size);
        for (size_t offset = 0; offset < next_size; offset += 64) __builtin_prefetch(next + offset);
        std::memcpy(to, data, size);
        return 0;
    }
    // The state is that at the buffer's start, and on return that at its end. The last end may be left for later.
    RecordEnds ends_after(const uint8_t* data, size_t size, uint64_t quotes, ScanState*) const;
    // The last end that was left, given whether the bytes end inside quotes.
    uint64_t last_end(const uint8_t* data, size_t size, bool inside) const;
    // The size of the record that begins these bytes, with its end, or `none`. `state` is that at the bytes' start and
    // goes on over several calls.
    uint64_t record_size(const uint8_t* data, size_t size, ScanState* state) const;
    size_t fixed_size() const { return scanner ? scanner->fixed_size() : 0; }
    bool checks_end() const { return scanner && scanner->checks_end(); }
};

}  // namespace formatter
