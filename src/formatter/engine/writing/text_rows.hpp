// Batches as text: a line of JSON or of CSV a row. In: columns of texts, how each is written. Out: bytes. Refuses to know types:
// what is no text has been made one.
#pragma once

#include <string>
#include <vector>

#include "engine/columns/arrow_abi.hpp"
#include "engine/columns/buffer_pool.hpp"
#include "engine/columns/column_type.hpp"

namespace formatter {

enum class WrittenAs : uint8_t {
    bare,  // as it is
    number,  // as JSON writes numbers
    text,  // in quotes where there have to be some
};

struct WrittenColumn {
    std::string name;
    WrittenAs as = WrittenAs::text;
    bool large = false;  // offsets of 64 bits
};

struct CsvWriting {
    uint8_t delimiter = ',';
    uint8_t quote = '"';
    std::string null;  // what a null is written as
    std::vector<std::string> nulls;  // what reads as one if it stands without quotes
};

class LineBuffer {
  public:
    const uint8_t* data() const { return bytes_.data(); }
    size_t size() const { return used_; }
    // Where so many bytes can be written; `written` takes them.
    uint8_t* room_for(size_t size);
    void written(size_t size) { used_ += size; }
    void append(const void* bytes, size_t size);
    void append_number(Bytes text);

  private:
    PoolBuffer bytes_;
    size_t used_ = 0;
};

// `batch`: a struct array with one child of texts a column.
void write_json_lines(const ArrowArray& batch, const std::vector<WrittenColumn>&, LineBuffer* out);
void write_csv_lines(const ArrowArray& batch, const std::vector<WrittenColumn>&, const CsvWriting&, LineBuffer* out);

}  // namespace formatter
