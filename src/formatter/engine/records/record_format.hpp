// A format as streams, readers and record arrays see it. In: what a format's room makes of its options. Out: how its
// records are found, how they are decoded, what stands before the first of them. Refuses to know which format it is.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/records/framing.hpp"
#include "engine/records/record_decoder.hpp"

namespace formatter {

struct RecordFormat;

// What bytes are that hold a header: the first ones of an input, all of it, or its header alone. Only an input begins with
// a byte order mark, and only the first bytes of one must have the end of the header's line, too.
enum class Extent : uint8_t { beginning, whole, header };

// What stands before the first record of a stream with a header, and how the header changes the format.
struct Preamble {
    bool complete = false;
    size_t size = 0;  // through the header's end
    std::vector<std::string> missing;  // columns the header does not name
    std::shared_ptr<const RecordFormat> format;  // with the columns where the header says
};

// How far the way to the header's end has been followed, over buffers that come in order.
struct PreambleScan {
    ScanState state = ScanState::of_stream_start();
    std::string line;  // as far as it has come; at the end the header itself, without a byte order mark
    bool first_line = true;
    bool too_long = false;  // a line was, with its end: it is not kept, and nothing is the header any more
};

class HeaderReader {
  public:
    virtual ~HeaderReader() = default;
    // Passes a byte order mark, blank lines and comments. The position behind the header, or `none`. `most`: bytes of a
    // line with its end.
    virtual uint64_t find_end(const uint8_t* data, size_t size, uint64_t most, PreambleScan*) const = 0;
    // Whether anything but a byte order mark stands in the last line, which is the header if the stream ends with it.
    virtual bool has_last_line(PreambleScan*) const = 0;
    virtual Preamble read(const uint8_t* data, size_t size, Extent) const = 0;
};

struct RecordFormat {
    Framing framing;
    bool line_ends_inside = false;  // within a record that is known whole, line ends are space
    bool keeps_text = false;  // of values as they are written, line ends and all
    bool readable = true;  // else the header lacks a wanted column: records can only be passed over
    std::shared_ptr<const HeaderReader> header;  // null: it has none
    std::function<std::unique_ptr<RecordDecoder>()> make_decoder;
};

}  // namespace formatter
