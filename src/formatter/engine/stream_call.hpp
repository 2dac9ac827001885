// What one call of the stream engine carries between its locked and its unlocked parts.
#pragma once

#include <utility>

#include "engine/stream_engine.hpp"

namespace formatter {

// Ordinals of records behind the spanning record that ends in their buffer count from here, until it is known whether
// that one was a record at all (it may have been a blank line).
constexpr uint64_t after_spanning = uint64_t(1) << 63;

struct StreamEngine::Job {
    Origin* origin = nullptr;
    uint64_t position = 0;  // the buffer the records end in
    bool spanning = false;
    bool stream_start = false;
    bool completes_buffer = false;  // the builder answers for `position`
    // own records
    const uint8_t* data = nullptr;
    size_t size = 0;
    size_t offset = 0;  // of `data` in its buffer
    // a spanning record
    std::vector<std::pair<const uint8_t*, size_t>> pieces;
    uint64_t bytes_in_earlier = 0;  // its bytes in buffers before `position`
    uint64_t let_go = 0;
    bool lost = false;
    bool unterminated = false;
    // out
    uint64_t records = 0;
};

struct StreamEngine::Call {
    std::vector<Job> jobs;
    std::vector<Origin*> origins;
    std::vector<std::pair<Origin*, Builder*>> builders;
    std::vector<OwnedBytes> owners;  // of the bytes that jobs refer to
    std::vector<FinishedBatch> batches;
    std::vector<RowError> errors;    // found while parsing, with their origin
    std::vector<Origin*> error_origins;

    void touch(Origin& origin) {
        if (origins.empty() || origins.back() != &origin) {
            for (Origin* known : origins)
                if (known == &origin) return;
            origins.push_back(&origin);
        }
    }
    void add_error(Origin* origin, RowError&& error) {
        errors.push_back(std::move(error));
        error_origins.push_back(origin);
    }
};

}  // namespace formatter
