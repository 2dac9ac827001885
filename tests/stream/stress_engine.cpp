// Real threads on one stream engine, with a decoder that only knows lines of numbers. In: the number of records. Out: a
// line of praise, or what is wrong. Built with ThreadSanitizer by test_sanitizers.py; knows no CSV values and no Arrow.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "engine/csv/csv_scanner.hpp"
#include "engine/stream/stream_engine.hpp"
#include "kernels/kernel.hpp"

using namespace formatter;

namespace formatter {
extern const Kernel kernel_scalar;
}

namespace {

constexpr uint64_t origins = 3;

struct Rows {
    uint64_t plan;  // that the decoder was made for
    std::vector<uint64_t> values;
};

class LineDecoder : public RecordDecoder {
  public:
    explicit LineDecoder(uint64_t plan) : plan_(plan) {}
    void place(const Place& at) override { place_ = at, records_ = 0; }
    size_t index(const uint8_t* data, size_t size, uint64_t row_limit) override {
        size_t done = 0;
        for (const uint8_t* end;
             row_limit && (end = static_cast<const uint8_t*>(memchr(data + done, '\n', size - done))); row_limit--) {
            waiting_.push_back({data + done, size_t(end - data) - done});
            records_++;
            done = size_t(end - data) + 1;
        }
        return done;
    }
    size_t index_unterminated(const uint8_t* data, size_t size) override {
        waiting_.push_back({data, size});
        records_++;
        return size;
    }
    bool fits(uint64_t) const override { return true; }
    void materialize() override {  // reads the bytes as late as is allowed
        for (const Line& line : waiting_) {
            uint64_t value = 0;
            for (size_t i = 0; i < line.size; i++) value = value * 10 + (line.data[i] - '0');
            values_.push_back(value);
        }
        counters.records += waiting_.size();
        waiting_.clear();
    }
    uint64_t rows() const override { return values_.size() + waiting_.size(); }
    uint64_t records_placed() const override { return records_; }
    uint64_t byte_count() const override { return 8 * values_.size(); }
    void export_batch(ArrowArray* out) override {
        out->private_data = new Rows{plan_, std::move(values_)};
        values_.clear();
    }

  private:
    struct Line {
        const uint8_t* data;
        size_t size;
    };
    uint64_t plan_;
    Place place_;
    uint64_t records_ = 0;
    std::vector<Line> waiting_;
    std::vector<uint64_t> values_;
};

struct Found {
    std::vector<uint64_t> values[origins], sequences[origins];
    bool one_plan = true;  // each batch is by the decoder of the plan it carries
    uint64_t newest_plan = 0;
    void add(PushResult&& result) {
        for (FinishedBatch& batch : result.batches) {
            std::unique_ptr<Rows> rows(static_cast<Rows*>(batch.array.private_data));
            const std::vector<uint64_t>& more = rows->values;
            one_plan &= rows->plan == batch.plan->version;
            newest_plan = std::max(newest_plan, rows->plan);
            values[batch.origin].insert(values[batch.origin].end(), more.begin(), more.end());
            for (const SequenceSpan& span : batch.spans)
                for (uint64_t s = span.first; s <= span.last; s++) sequences[batch.origin].push_back(s);
        }
    }
};

StreamOptions options_for(EndingKind kind, bool ordered) {
    StreamOptions options;
    options.format.ending.kind = kind;
    options.format.ending.kernel = &kernel_scalar;
    options.format.ending.bytes.quoting = kind == EndingKind::parity;
    options.format.ending.scanner = std::make_shared<CsvScanner>(std::make_shared<CsvFormat>());
    options.format.make_decoder = [] { return std::unique_ptr<RecordDecoder>(new LineDecoder(1)); };
    options.ordered = ordered;
    options.max_record_bytes = 1 << 20;
    options.max_pending_bytes = 1 << 30;
    options.max_rows = 50;
    return options;
}

// Another thread changes the plan while a call parses by the old one: the call's rows leave with it, later ones are new.
bool change_plan_amid_a_parse() {
    class Interrupted : public LineDecoder {
      public:
        explicit Interrupted(const std::function<void()>& interrupt) : LineDecoder(1), interrupt_(interrupt) {}
        size_t index(const uint8_t* data, size_t size, uint64_t row_limit) override {
            std::thread(interrupt_).join();
            return LineDecoder::index(data, size, row_limit);
        }

      private:
        std::function<void()> interrupt_;
    };
    StreamOptions options = options_for(EndingKind::stateless, false);
    StreamEngine* stream = nullptr;
    PushResult open;
    RecordFormat later = options.format;
    later.make_decoder = [] { return std::unique_ptr<RecordDecoder>(new LineDecoder(2)); };
    const auto change = [&] { stream->replan(later, {}, false, &open); };
    options.format.make_decoder = [&] { return std::unique_ptr<RecordDecoder>(new Interrupted(change)); };
    StreamEngine engine(options);
    stream = &engine;
    const auto text = [](const char* line) { return reinterpret_cast<const uint8_t*>(line); };
    const PushedBuffer first{0, 1, text("1\n"), 2}, second{0, 2, text("2\n"), 2};
    Found before, after;
    before.add(engine.push(&first, 1));
    after.add(engine.push(&second, 1));
    after.add(engine.finish(0, true, 2));
    const std::vector<uint64_t> one{1}, two{2};
    const bool fine = open.batches.empty() && before.values[0] == one && after.values[0] == two && before.one_plan &&
                      after.one_plan && after.newest_plan == 2;
    if (!fine) std::printf("wrong: a plan that changed amid a parse\n");
    return fine;
}

bool drive(EndingKind kind, bool ordered, uint64_t records, unsigned threads) {
    const StreamOptions options = options_for(kind, ordered);
    StreamEngine engine(options);

    std::string text;
    for (uint64_t i = 1; i <= records; i++) text += std::to_string(i) + "\n";
    std::mt19937_64 chance(records + threads);
    std::vector<std::pair<size_t, size_t>> pieces;
    for (size_t at = 0; at < text.size();) {
        const size_t most = chance() % 100 ? 20 : 40000;  // now and then one that is parsed where it lies
        const size_t size = std::min<size_t>(text.size() - at, chance() % most);
        pieces.emplace_back(at, size);
        at += size;
    }
    std::vector<uint32_t> order(pieces.size());
    for (size_t i = 0; i < order.size(); i++) order[i] = uint32_t(i);
    for (size_t i = 0; i < order.size(); i += 200)
        std::shuffle(order.begin() + long(i), order.begin() + long(std::min(order.size(), i + 200)), chance);

    std::atomic<size_t> next{0};
    std::atomic<bool> fine{true}, done{false};
    std::vector<Found> found(threads + 2);
    std::vector<std::thread> running;
    for (unsigned t = 0; t < threads; t++) {
        running.emplace_back([&, t] {
            std::mt19937_64 mine(t);
            for (;;) {
                const size_t wanted = 1 + mine() % 5, from = next.fetch_add(wanted);
                if (from >= order.size()) return;
                // The buffers are this thread's own and gone when push returns.
                std::vector<std::unique_ptr<uint8_t[]>> bytes;
                std::vector<PushedBuffer> buffers;
                for (size_t i = from; i < std::min(order.size(), from + wanted); i++) {
                    const auto piece = pieces[order[i]];
                    for (uint64_t origin = 0; origin < origins; origin++) {
                        bytes.emplace_back(new uint8_t[piece.second + 1]);
                        memcpy(bytes.back().get(), text.data() + piece.first, piece.second);
                        buffers.push_back({origin, order[i] + 1, bytes.back().get(), piece.second});
                    }
                }
                PushResult result = engine.push(buffers.data(), buffers.size());
                if (result.status != PushStatus::ok) fine = false;
                found[t].add(std::move(result));
            }
        });
    }
    std::thread onlooker([&] {
        while (!done) {
            PushResult open;
            const std::string state = engine.checkpoint(&open);
            StreamEngine other(options);
            if (!other.restore(state)) fine = false;
            found[threads].add(std::move(open));
            found[threads].add(engine.flush(false));
            engine.counts();
            std::this_thread::yield();
        }
    });
    std::thread planner([&] {
        for (uint64_t version = 2; !done; version++) {
            RecordFormat format = options.format;
            format.make_decoder = [version] { return std::unique_ptr<RecordDecoder>(new LineDecoder(version)); };
            PushResult open;
            const PlanChange change = engine.replan(std::move(format), {}, false, &open);
            if (change.version != version || change.oldest > version) fine = false;
            if (version % 4 == 0 && engine.await_older(version, 1000000000) < change.batches) fine = false;
            found[threads + 1].add(std::move(open));
            std::this_thread::yield();
        }
    });
    for (std::thread& thread : running) thread.join();
    done = true;
    onlooker.join();
    planner.join();
    for (uint64_t origin = 0; origin < origins; origin++) {
        PushResult result = engine.finish(origin, true, pieces.size());
        if (result.status != PushStatus::ok) fine = false;
        found[threads].add(std::move(result));
    }
    for (const Found& f : found) fine = fine && f.one_plan;
    for (uint64_t origin = 0; origin < origins; origin++) {
        std::vector<uint64_t> values, sequences;
        for (const Found& f : found) {
            values.insert(values.end(), f.values[origin].begin(), f.values[origin].end());
            sequences.insert(sequences.end(), f.sequences[origin].begin(), f.sequences[origin].end());
        }
        std::sort(values.begin(), values.end());
        std::sort(sequences.begin(), sequences.end());
        if (values.size() != records || sequences.size() != pieces.size()) fine = false;
        for (size_t i = 0; fine && i < values.size(); i++) fine = values[i] == i + 1;
        for (size_t i = 0; fine && i < sequences.size(); i++) fine = sequences[i] == i + 1;
    }
    if (!fine) std::printf("wrong: kind %d, ordered %d, %u threads\n", int(kind), int(ordered), threads);
    return fine;
}

}  // namespace

int main(int, char** arguments) {
    const uint64_t records = std::strtoull(arguments[1], nullptr, 10);
    bool fine = change_plan_amid_a_parse();
    for (EndingKind kind : {EndingKind::stateless, EndingKind::parity, EndingKind::scanned})
        for (bool ordered : {false, true})
            for (unsigned threads : {2u, 5u}) fine &= drive(kind, ordered, records, threads);
    if (fine) std::puts("every record and every buffer exactly once");
    return fine ? 0 : 1;
}
