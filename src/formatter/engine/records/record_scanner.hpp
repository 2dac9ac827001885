// Following records over the buffers of a stream. In: bytes and the state at their start. Out: where records end, and the
// state at the bytes' end. Refuses to know fields and values; what the parts of a state mean is its scanner's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/records/byte_order_mark.hpp"
#include "kernels/kernel.hpp"

namespace formatter {

// What a scanner knows where a buffer begins. A fresh one is that of a record's start.
struct ScanState {
    bool inside = false;  // inside quotes, or inside a record whose length is known
    bool escaped = false;  // the next byte is literal
    bool in_comment = false;
    bool at_record_start = true;
    bool fresh = true;  // a quote would open quotes, by rules that care
    bool closing = false;  // a quote stands before that closed, if a separator follows
    uint8_t delimiter_matched = 0;  // bytes of a delimiter already met, by rules that care
    uint8_t matched = 0;  // bytes of the record end, or of a length, already met
    uint8_t mark = mark_bytes;  // bytes of a byte order mark already met; all: none can stand here
    uint64_t count = 0;  // of open brackets, or of bytes of a record
    uint64_t carried = 0;  // bytes that were met and could not be decided about yet

    void begin_record() {  // with no thought of those before
        inside = in_comment = closing = false;
        at_record_start = fresh = true;
        matched = delimiter_matched = 0;
    }
    bool operator==(const ScanState& o) const {
        return inside == o.inside && escaped == o.escaped && in_comment == o.in_comment &&
               at_record_start == o.at_record_start && fresh == o.fresh && closing == o.closing &&
               delimiter_matched == o.delimiter_matched && matched == o.matched && mark == o.mark && count == o.count &&
               carried == o.carried;
    }
    QuoteState quotes() const { return {inside, fresh && !inside, closing}; }
    void take(const QuoteState& quotes) {
        inside = quotes.inside;
        fresh = quotes.fresh;
        closing = quotes.closing;
    }

    static ScanState of_stream_start() {
        ScanState state;
        state.mark = 0;
        return state;
    }
};

struct RecordEnds {  // positions behind the first and the last record end that complete in a buffer
    static constexpr uint64_t none = ~uint64_t(0);
    static constexpr uint64_t later =
        none - 1;  // `last` was not looked for: few need it, and RecordEnding::last_end tells
    uint64_t first = none;
    uint64_t last = none;
    bool by_parity =
        false;  // each quote counts, whatever the rule: the buffer's bytes can be indexed by the strict one
    bool any() const { return first != none; }
    void add(uint64_t end) {
        if (first == none) first = end;
        last = end;
    }
};

// How far record ends were followed where one that is open may turn out to be none: positions count from the bytes given.
struct LookStep {
    static constexpr uint64_t none = RecordEnds::none;
    uint64_t used = 0;
    bool ended = false;  // a record ends with the bytes used
    bool given_up = false;  // what is open will never be closed: its record ends with the line it stands on
    bool open = false;  // it may be, or not
    bool anew = false;  // it opened within these bytes, or nothing is open
    uint64_t line_end = none;  // the first one behind it that was met within these bytes
};

class RecordScanner {
  public:
    virtual ~RecordScanner() = default;

    // With `first_only` it stops behind the first record end.
    virtual RecordEnds scan(const uint8_t* data, size_t size, ScanState*, bool first_only) const = 0;
    // Whether record ends may be certain only with what follows them, so that bytes are looked at by `look`.
    virtual bool looks_ahead() const { return false; }
    // Follows records up to the first end, and stops where an open quote passes a bound. `count` and `carried` of the state say
    // what is open.
    virtual LookStep look(const uint8_t*, size_t, ScanState*) const { return {}; }
    // The size of the first record of bytes that end with a record.
    virtual uint64_t size_of_first(const uint8_t* data, size_t size, ScanState* state) const {
        return scan(data, size, state, true).first;
    }
    // Whether following bytes can lead to this state; a saved one may say anything.
    virtual bool can_be(const ScanState&) const { return true; }
    // Whether something is wrong if the input ends behind this record end: the decoder is then told of the end, even
    // though no bytes are left.
    virtual bool checks_end() const { return false; }
    // Whether anything but white space has come, so that the end matters.
    virtual bool has_begun(const ScanState& state) const { return state.mark == mark_bytes; }
    // Fixed size of every record, so that a range of the input can find its own first one; 0: none.
    virtual size_t fixed_size() const { return 0; }
    // Whether the first record start behind `begin` can be guessed in the middle of the input; a guess is to be proven.
    virtual bool guesses_records() const { return false; }
    virtual uint64_t guess_record(const uint8_t*, size_t /*size*/, size_t /*begin*/, size_t /*end*/) const {
        return RecordEnds::none;
    }
    // All states a buffer can begin in, where that is a finite number that can be followed at once; else none.
    virtual std::vector<ScanState> possible_states() const { return {}; }
};

}  // namespace formatter
