// A format as streams, readers and record arrays see it. In: what a format's room makes of its options. Out: how its
// records are found, how they are decoded, what stands before the first of them. Refuses to know which format it is.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/records/record_ending.hpp"
#include "engine/records/record_decoder.hpp"

namespace formatter {

struct RecordFormat;

// What bytes are that hold a preamble: the first ones of an input, all of it, or its header's lines alone. Only an input begins with
// a byte order mark, and only the first bytes of one must have the end of the header's line, too.
enum class Extent : uint8_t { beginning, whole, header };

// What stands before the first record of an input, and how a header in it changes the format.
struct Preamble {
    bool complete = false;
    size_t size = 0;
    std::vector<std::string> missing;  // columns the header does not name
    std::string header;  // the lines that name the fields, as UTF-8
    std::shared_ptr<const RecordFormat> format;  // with the columns where the header says
};

// How far the way to the preamble's end has been followed, over buffers that come in order.
struct PreambleScan {
    ScanState state = ScanState::of_stream_start();
    std::string line;  // as far as it has come
    std::string header;  // the lines that name the fields, with their ends and without a byte order mark
    uint64_t lines = 0;  // passed that may hold anything
    uint64_t records = 0;  // passed behind those
    bool first_line = true;
    bool too_long = false;  // a line was, with its end: it is not kept, and nothing is the header any more
};

class HeaderReader {
  public:
    virtual ~HeaderReader() = default;
    // Passes all that stands before the first record. The position behind that, or `none`. `most`: bytes of a line with its
    // end.
    virtual uint64_t find_end(const uint8_t* data, size_t size, uint64_t most, PreambleScan*) const = 0;
    // The stream's end is that of its last line. Whether the header is there then.
    virtual bool end(PreambleScan*) const = 0;
    virtual Preamble read(const uint8_t* data, size_t size, Extent) const = 0;
};

struct RecordFormat {
    RecordEnding ending;
    bool line_ends_inside = false;  // within a record that is known whole, line ends are space
    bool keeps_text = false;  // of values as they are written, line ends and all
    bool ends_as_told = false;  // code that is not ours says where records end: the decoder may see it otherwise
    bool readable = true;  // else the header lacks a wanted column: records can only be passed over
    std::shared_ptr<const HeaderReader> header;  // null: records begin at once
    std::function<std::unique_ptr<RecordDecoder>()> make_decoder;
};

}  // namespace formatter
