// Formats that a fuzzer chooses: see formats.cpp.
#pragma once

#include <functional>
#include <vector>

#include "choices.hpp"
#include "engine/records/record_format.hpp"
#include "rows.hpp"

struct ChosenFormat {
    std::function<formatter::RecordFormat(const formatter::Kernel*)> for_kernel;
    std::vector<Shape> shapes;
};

ChosenFormat choose_csv(Choices&);
ChosenFormat choose_json(Choices&);
ChosenFormat choose_binary(Choices&);
