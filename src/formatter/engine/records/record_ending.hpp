// Where records end in a buffer that may begin in the middle of one. In: bytes and, for some dialects, the state at the
// buffer's start. Out: the first and the last record end. Knows no fields and no values.
#pragma once

#include <cstring>
#include <memory>

#include "engine/records/record_scanner.hpp"
#include "kernels/kernel.hpp"

namespace formatter {

// How much of the past the record ends of a buffer depend on.
enum class EndingKind : uint8_t {
    stateless,  // the record-end byte always ends a record: buffers can be used in any order at once
    parity,  // it does outside quotes: quote counts compose by XOR, so only those of the prefix have to be known
    courses,  // it does outside quotes, and what is a quote depends on its place: a buffer is a function of its start state
    scanned,  // longer delimiters, escapes, comments: buffers are followed in order
};

// What has to be known of a buffer for those behind it while its own start state is not.
struct QuoteNotes {
    static constexpr size_t most_courses = 4;
    uint64_t quotes;  // `parity`: how many there are
    QuoteAgreement agreement;  // `courses`: whether parity says as much
    QuoteCourse courses[most_courses];  // else, from each state it may begin in
};

struct RecordEnding {
    EndingKind kind = EndingKind::stateless;
    CsvBytes bytes{0, '\n', '"', false};  // the first one of each, where they are longer
    size_t record_end_size = 1;  // bytes of a record that only end it
    const Kernel* kernel = nullptr;
    std::shared_ptr<const RecordScanner> scanner;  // exact for every kind; `stateless` may do without

    bool needs_prefix() const { return kind != EndingKind::stateless; }
    RecordEnds ends_anywhere(const uint8_t* data, size_t size) const;
    QuoteSummary summarize(const uint8_t* data, size_t size) const;
    void note(const uint8_t* data, size_t size, QuoteNotes* notes) const {
        if (kind == EndingKind::parity)
            notes->quotes = size ? kernel->count_byte(data, size, bytes.quote) : 0;
        else if (kind == EndingKind::courses)
            note_courses(nullptr, data, size, nullptr, 0, notes);
    }
    // The same while the bytes are copied; at `next` the caller will read then.
    void copy_noting(uint8_t* to, const uint8_t* data, size_t size, const uint8_t* next, size_t next_size,
                     QuoteNotes* notes) const {
        if (kind == EndingKind::parity) {
            notes->quotes = kernel->copy_counting(to, data, size, bytes.quote, next, next_size);
            return;
        }
        if (kind == EndingKind::courses) return note_courses(to, data, size, next, next_size, notes);
        for (size_t offset = 0; offset < next_size; offset += 64) __builtin_prefetch(next + offset);
        std::memcpy(to, data, size);
    }
    // The state is that at the buffer's start, and on return that at its end. The last end may be left for later.
    RecordEnds ends_after(const uint8_t* data, size_t size, const QuoteNotes&, ScanState*) const;
    RecordEnds ends_after(const uint8_t* data, size_t size, ScanState* state) const {
        QuoteNotes notes;
        note(data, size, &notes);
        return ends_after(data, size, notes, state);
    }
    bool separates(uint8_t byte) const { return byte == bytes.delimiter || byte == bytes.record_end; }
    // All states a buffer can begin in, where quotes are followed by courses; how many.
    size_t course_states(QuoteState* states) const;
    // Whether bytes that begin a record end outside quotes, so far as quotes are what matters.
    bool ends_outside(const uint8_t* data, size_t size) const {
        return kind == EndingKind::stateless || quotes_end(data, size);
    }
    // The last end that was left, given whether the bytes end inside quotes.
    uint64_t last_end(const uint8_t* data, size_t size, bool inside) const;
    // The size of the record that begins these bytes, with its end, or `none`. `state` is that at the bytes' start and
    // goes on over several calls.
    uint64_t record_size(const uint8_t* data, size_t size, ScanState* state) const;
    // The same of bytes that end with a record.
    uint64_t size_of_first(const uint8_t* data, size_t size, ScanState* state) const {
        return looks_ahead() ? scanner->size_of_first(data, size, state) : record_size(data, size, state);
    }
    size_t fixed_size() const { return scanner ? scanner->fixed_size() : 0; }
    bool guesses_records() const { return scanner && scanner->guesses_records(); }
    bool checks_end() const { return scanner && scanner->checks_end(); }
    bool can_be(const ScanState& state) const { return !scanner || scanner->can_be(state); }
    bool looks_ahead() const { return scanner && scanner->looks_ahead(); }

  private:
    bool notes_closing_quotes() const { return bytes.rule == QuoteRule::sticky || bytes.opens_behind_blanks; }
    bool quotes_end(const uint8_t* data, size_t size) const;
    void note_courses(uint8_t* to, const uint8_t* data, size_t size, const uint8_t* next, size_t next_size,
                      QuoteNotes*) const;
    bool follows_by_parity(const uint8_t* data, size_t size, const QuoteAgreement&, ScanState*) const;
    RecordEnds ends_by_parity(const uint8_t* data, size_t size, bool inside) const;
    RecordEnds ends_on_course(const uint8_t* data, size_t size, const QuoteNotes&, ScanState*) const;
    RecordEnds ends_by_courses(const uint8_t* data, size_t size, const QuoteNotes&, ScanState*) const;
};

}  // namespace formatter
