// Where the first of several tables in one input ends. In: bytes that begin at a record. Out: how many of them are the table's.
// Refuses to know values, and what the tables behind the first one hold.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/csv/csv_format.hpp"
#include "engine/records/record_ending.hpp"

namespace formatter {

enum class TableEnd : uint8_t {
    blank_line,  // behind a record
    names,  // a record that names the columns again, as far as it or the header goes
};

class TableEndSearch {
  public:
    TableEndSearch(std::shared_ptr<const CsvFormat> csv, TextEncoding encoding, RecordEnding ending, TableEnd sign);

    // An input begins so. `whole`: that is all of it.
    void begin(const uint8_t* data, size_t size, bool whole);
    // Bytes that begin at a record, of the table or behind it. How many are the table's, or are to be looked at again with more
    // behind them; `ended()` tells which of the two.
    size_t find(const uint8_t* data, size_t size, bool input_ends);
    bool ended() const { return ended_; }

  private:
    enum class Answer { goes_on, ends, open };
    // Of a record that begins there.
    Answer look(const uint8_t* data, size_t size, bool input_ends) const;
    bool may_end_at(const uint8_t* data, size_t size, bool input_ends) const;
    size_t find_first_record(const uint8_t* data, size_t size, bool input_ends);
    bool is_blank_line(const uint8_t* data, size_t size_without_end) const;
    std::vector<std::string> fields_of(const uint8_t* data, size_t size, bool ends) const;

    std::shared_ptr<const CsvFormat> csv_;
    RecordEnding ending_;
    TableEnd sign_;
    std::vector<std::string> names_;
    size_t mark_ = 0;  // bytes of a byte order mark that the first record stands behind
    bool has_records_ = false;
    bool ended_ = false;
};

}  // namespace formatter
