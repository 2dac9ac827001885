// A whole input by a crew of threads, windows one after the other, and a stretch of a file by several. In: a seed. Out: each row
// once and in order, also where memory is short or a window is given up, and helpers that go home. Refuses to know formats.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>

#include "choosers.hpp"
#include "engine/whole/file_bytes.hpp"
#include "engine/whole/range_crew.hpp"
#include "line_decoder.hpp"
#include "schedules.hpp"

using namespace formatter;

namespace formatter {
extern const Kernel kernel_scalar;
}

namespace scheduled_tests {
namespace {

struct CrewRun {
    std::string text;
    std::vector<uint64_t> expected, values;
    unsigned crew_threads = 1;
    size_t window_bytes = 0, range_bytes = 0;
    uint64_t abandoned_after = 0;  // ranges of each window; 0: none is
    uint64_t failures_left = 0;
    Chance chance;

    explicit CrewRun(uint64_t seed) : chance(seed) {
        const bool quotes = chance.one_in(2);
        for (uint64_t value = 1, end = value + chance.below(24); value < end; value++) {
            const bool quoted = quotes && chance.one_in(3);
            if (quoted) text += chance.one_in(2) ? "\"\n" : "\"";
            text += std::to_string(value);
            if (quoted) text += '"';
            if (value + 1 < end || chance.one_in(2)) text += '\n';
            expected.push_back(value);
        }
        crew_threads = 1 + chance.below(4);
        window_bytes = 1 + chance.below(unsigned(text.size() + 20));
        range_bytes = 1 + chance.below(12);
        if (chance.one_in(4)) abandoned_after = 1 + chance.below(3);
        if (chance.one_in(4)) failures_left = 1 + chance.below(3);
        format.ending.kind = quotes ? EndingKind::parity : EndingKind::stateless;
        format.ending.bytes.quoting = quotes;
        format.ending.kernel = &kernel_scalar;
        format.make_decoder = [this, quotes] {
            return std::unique_ptr<RecordDecoder>(new LineDecoder(1, quotes, false, [this] { return fails(); }));
        };
    }
    RecordFormat format;

    bool fails() {
        if (failures_left == 0 || !chance.one_in(4)) return false;
        failures_left--;
        return true;
    }

    // As the binding does: windows that begin behind the last record handed out.
    void read() {
        RangeCrew crew(format, crew_threads, 3, 1 << 20);
        for (size_t at = 0; at < text.size();) {
            size_t size = std::min(window_bytes, text.size() - at);
            for (;; size = std::min(2 * size, text.size() - at)) {
                const size_t used = read_window(&crew, at, size);
                at += used;
                if (used || at + size >= text.size()) break;
            }
            if (at + size >= text.size() && crew_is_through) break;
        }
    }
    bool crew_is_through = false;

    size_t read_window(RangeCrew* crew, size_t at, size_t size) {
        CrewWindow window;
        window.data = reinterpret_cast<const uint8_t*>(text.data()) + at;
        window.size = size;
        window.range_bytes = range_bytes;
        window.smallest_range_bytes = 1;
        window.input_ends = at + size == text.size();
        window.byte_offset = int64_t(at);
        crew->begin(window);
        CrewRange range;
        for (uint64_t ranges = 0;; ranges++) {
            if (abandoned_after && ranges == abandoned_after && crew->used() > 0) {
                crew->abandon();
                return crew->used();
            }
            range = CrewRange();
            try {
                if (!crew->next(&range)) break;
            } catch (const std::bad_alloc&) {
                continue;
            }
            for (OwnedArray& batch : range.batches) {
                const std::vector<uint64_t>& more = static_cast<Rows*>(batch.private_data)->values;
                values.insert(values.end(), more.begin(), more.end());
            }
        }
        crew_is_through = window.input_ends;
        return crew->used();
    }

    void judge() const {
        if (values.size() < expected.size()) wrong("rows are lost");
        if (values != expected) wrong("rows are not those of the input");
    }
};

class File {
  public:
    static File& of_letters() {
        static File file;
        return file;
    }
    int number() const { return fileno(file_); }
    static constexpr size_t size = 40;

  private:
    File() : file_(std::tmpfile()) {
        for (size_t i = 0; i < size; i++) std::fputc(int('A' + i), file_);
        std::fflush(file_);
    }
    FILE* file_;
};

void read_file(Chance& chance) {
    const size_t offset = chance.below(File::size + 3), wanted = chance.below(File::size);
    uint8_t bytes[File::size] = {};
    const ptrdiff_t got = read_file_bytes(File::of_letters().number(), offset, bytes, wanted, 1 + chance.below(4));
    const size_t there = offset > File::size ? 0 : std::min(wanted, File::size - offset);
    if (got != ptrdiff_t(there)) wrong("a file is longer or shorter than it is");
    for (size_t i = 0; i < there; i++)
        if (bytes[i] != 'A' + offset + i) wrong("a file's bytes are others");
}

}  // namespace

void run_crew(uint64_t seed, Figures* figures) {
    name_schedule("crew " + std::to_string(seed));
    Chance chance(~seed);
    std::vector<std::unique_ptr<CrewRun>> runs;
    std::vector<std::function<void()>> threads;
    for (unsigned count = 1 + chance.below(2); runs.size() < count;) {
        runs.emplace_back(new CrewRun(seed * 3 + runs.size()));
        CrewRun* const run = runs.back().get();
        threads.push_back([run] { run->read(); });
    }
    if (chance.one_in(2)) threads.push_back([&chance] { read_file(chance); });
    SeededChooser chooser(seed);
    run_schedule(chooser, threads, int(chance.below(3)), figures);
    for (const auto& run : runs) run->judge();
}

}  // namespace scheduled_tests
