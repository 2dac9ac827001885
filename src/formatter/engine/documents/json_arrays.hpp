// The items of one top-level array, or of the arrays that a path leads to in documents one behind the other. In: bytes. Out:
// where records end, and where one might begin in the middle of them. Refuses to know values.
//
// A record is an item with the comma behind it; the first one of a top-level array has the bracket before it, too. Behind the
// last item of a document's array the record goes on through the key that leads to the next array: so every record but the
// input's first begins either in an array, where an item is due, or with the colon behind that key, and can be read alone. The
// last item, what closes its array and what follows them are no record but the input's unterminated end, so that an array
// that is not closed is seen at every cut.
#pragma once

#include "engine/json_text/json_format.hpp"
#include "engine/documents/json_wrapper.hpp"
#include "engine/records/record_scanner.hpp"

namespace formatter {

class JsonArrays : public RecordScanner {
  public:
    JsonArrays(const Kernel* kernel, std::vector<std::string> path) : kernel_(kernel), wrapper_(std::move(path)) {}

    // In the state: `in_comment` outside of arrays, `matched` 1 once a top-level one has closed, `count` open brackets.
    RecordEnds scan(const uint8_t* data, size_t size, ScanState*, bool first_only) const override;
    bool can_be(const ScanState&) const override;
    bool checks_end() const override { return true; }
    bool has_begun(const ScanState& state) const override { return state.mark == mark_bytes && !state.in_comment; }
    bool guesses_records() const override { return true; }
    uint64_t guess_record(const uint8_t* data, size_t size, size_t begin, size_t end) const override;

    const JsonWrapper& wrapper() const { return wrapper_; }
    // Whether what stands at a record's start is the colon behind the key that leads to an array.
    bool begins_value(uint8_t c) const { return c == ':' && wrapper_.any(); }
    // The ends of items from a record's start on, or from where `items` says.
    void find_items(const uint8_t* data, size_t size, ItemEnds* items) const;

  private:
    size_t begin_input(const uint8_t* data, size_t size, ScanState*) const;
    bool scan_items(const uint8_t* data, size_t size, size_t* at, ScanState*, bool first_only, RecordEnds*) const;

    const Kernel* const kernel_;
    const JsonWrapper wrapper_;
};

}  // namespace formatter
