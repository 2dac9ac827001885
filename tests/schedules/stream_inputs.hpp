// What a stream is given in a schedule, and what has to come of it. In: a seed. Out: options, buffers of each origin, the rows of a
// slow reading. Refuses to know threads.
#pragma once

#include <string>
#include <vector>

#include "choosers.hpp"
#include "engine/stream/stream_options.hpp"

namespace scheduled_tests {

struct InputPiece {
    uint64_t origin = 0, sequence = 0;
    std::string bytes;
    bool lost = false;  // it never comes
    uint64_t plan = ~uint64_t(0);  // that was known to be in force when it was first brought
};

struct ExpectedRow {
    uint64_t value;
    size_t first_piece, last_piece;
};

struct StreamInput {
    formatter::StreamOptions options;
    std::string name;
    std::vector<std::vector<InputPiece>> origins;

    explicit StreamInput(Chance& chance);
    formatter::RecordFormat format_of_plan(uint64_t plan) const;
    // In the order of the stream; values are unlike each other.
    std::vector<ExpectedRow> expected(size_t origin) const;

  private:
    std::string text(Chance& chance, uint64_t first_value) const;
    void cut(const std::string& text, Chance& chance);
    bool quotes_ = false, header_ = false;
};

}  // namespace scheduled_tests
