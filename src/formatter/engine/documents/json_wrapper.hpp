// Documents around an array of records: {"Records": [...], "next": 7}, one behind the other. In: the text around arrays, cut
// anywhere. Out: where a key leads to the array, where the array opens, and whether all of it is JSON. Refuses to know what
// stands in the array.
//
// A key counts if it is the path's next one, unescaped, in an object that the keys before it led to, and stands there for
// the first time. So what is called the same elsewhere, or stands in a string, leads nowhere.
#pragma once

#include <string>
#include <vector>

#include "engine/json_text/json_text.hpp"
#include "engine/records/record_scanner.hpp"

namespace formatter {

class JsonWrapper {
  public:
    explicit JsonWrapper(std::vector<std::string> path) : path_(std::move(path)) {}
    bool any() const { return !path_.empty(); }
    size_t keys() const { return path_.size(); }

    // States of a scan outside of an array: of them `in_comment` is set, `count` says how many brackets are open, and `carried`
    // is the wrapper's own.
    void begin_documents(ScanState*) const;
    void begin_value(ScanState*) const;  // behind the colon behind the last key
    void leave_array(ScanState*) const;
    bool can_be(const ScanState&) const;

    enum class Met : uint8_t { nothing, key, array };
    struct Followed {
        size_t at;  // behind what was met, or the end
        Met met;
    };
    Followed follow(const uint8_t* data, size_t at, size_t size, ScanState*) const;

    // What text is wrong that begins in one of those states, and ends with the key that leads to the array or, if `ends_input`,
    // with the last document. `at`: where.
    enum class From : uint8_t { documents, value, array };
    Skipped check(const uint8_t* at, const uint8_t* end, From, bool ends_input) const;

  private:
    std::vector<std::string> path_;
};

}  // namespace formatter
