// Nested columns from the spaces a walk has filled: a leaf at a time over all its rows, lists by counts, structures by
// marks. In: a walk. Out: values appended to builders. Where anything is not plainly right it gives up:
// JsonNestedReader then decides value by value. Refuses to know records.
#pragma once

#include <vector>

#include "engine/columns/row_marks.hpp"
#include "engine/json/json_loops.hpp"
#include "engine/json/json_nested.hpp"
#include "engine/json/json_walk.hpp"

namespace formatter {

class JsonFiller {
  public:
    // `rescues`: rows are wanted of which something found no place, too.
    JsonFiller(const JsonWalk* walk, const Kernel* kernel, JsonNestedReader* reader, bool rescues)
        : walk_(walk), loops_(kernel), reader_(reader), rescues_(rescues) {}

    // One value a record of the walk. False: the builder must be truncated, and nothing else has happened.
    bool fill_column(JsonBuilder&, size_t column);

  private:
    bool fill(JsonBuilder&, uint32_t node);
    bool fill_structure(JsonBuilder&, uint32_t node);
    bool fill_list(JsonBuilder&, uint32_t node);
    bool fill_fixed_width(JsonBuilder&, uint32_t node);
    bool fill_text(JsonBuilder&, uint32_t node);
    bool fill_map(JsonBuilder&, uint32_t node);
    void begin_rows(size_t rows);
    void clear_valid(uint32_t row) { clear_bit(marks_.valid.data(), row); }
    // The value whose entries are `stops`, the long way, into scalar_. False for what is no value of the column.
    bool read_exactly(const JsonNodeSpec&, const Segment&, const uint32_t* stops, bool quoted);

    const JsonWalk* walk_;
    JsonLoops loops_;
    JsonNestedReader* reader_;
    const bool rescues_;
    RowMarks marks_;
    JsonScalar scalar_;
};

}  // namespace formatter
