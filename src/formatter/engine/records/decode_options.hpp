// What a decoder is asked for whatever the format. In: options, filled once by the binding. Out: the same, read by many
// threads. Refuses to know how a record is written.
#pragma once

#include <cstdint>

#include "engine/columns/row_filter.hpp"
#include "kernels/kernel.hpp"

namespace formatter {

enum class OnError : uint8_t { raise, null, skip, collect };

struct DecodeOptions {
    uint32_t output_columns = 0;  // of the format's columns, the first ones; the others only the filter needs
    OnError on_error = OnError::raise;
    bool note_nulled = false;  // tell of values that an error made null, too
    bool rescues = false;  // values that do not fit become null, which is no error: their text can be had beside them
    int32_t rescue_column = -1;  // of the format's columns: where that text goes; -1: nobody asked for it
    RowFilter filter;
    bool counts_unmatched = false;  // records whose bytes cannot pass the filter are counted, and not looked at
    const Kernel* kernel = nullptr;

    bool nulls_misfits() const { return rescues || on_error == OnError::null; }
    bool tells_errors() const { return on_error != OnError::skip && (on_error != OnError::null || note_nulled); }
};

}  // namespace formatter
