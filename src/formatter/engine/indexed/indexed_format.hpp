// A format whose records code of others finds, and the columns wanted, as plain data. In: options, filled once by the binding.
// Out: the same, read by many threads. Refuses to know bytes, and what that code is written in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/csv/csv_format.hpp"
#include "include/formatter.h"

namespace formatter {

class Indexer {
  public:
    virtual ~Indexer() = default;
    // As formatter_indexer has them. Called by any thread; `scan` under a stream's lock.
    virtual int64_t index(formatter_records*) const = 0;
    virtual int scan(formatter_ends*) const = 0;
};

struct IndexedFormat {
    std::shared_ptr<const CsvFormat> fields;  // by which values are read; its record end is the record's
    std::shared_ptr<const Indexer> indexer;
    bool scans = false;  // the indexer says where records end; else the record end does
    std::vector<uint32_t> wanted;  // positions of the columns' fields
    const std::string& ending() const {
        static const std::string none;
        return scans ? none : fields->record_end;
    }
};

}  // namespace formatter
