// Threads on one stream engine: they push, say what is lost, end origins, change the plan, save, flush, and sometimes close it. In: a
// seed. Out: each row once, by a plan that was in force, each buffer in one batch, in order where that is asked, and what was saved
// goes on to the same. Refuses to know who is next.
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <new>

#include "engine/stream/stream_engine.hpp"
#include "line_decoder.hpp"
#include "schedules.hpp"
#include "stream_inputs.hpp"

using namespace formatter;

namespace scheduled_tests {
namespace {

struct LeftBatch {
    uint64_t origin, number, plan;
    std::vector<uint64_t> values;
    std::vector<SequenceSpan> spans;
};

// What has left a stream.
struct Journal {
    std::vector<LeftBatch> batches;

    void take(PushResult&& result) {
        for (FinishedBatch& batch : result.batches) {
            Rows& rows = *static_cast<Rows*>(batch.array.private_data);
            if (rows.plan != batch.plan->version) wrong("a batch is by another plan than it says");
            batches.push_back({batch.origin, batch.number, rows.plan, std::move(rows.values), std::move(batch.spans)});
        }
        for (const OriginFinding& found : result.findings)
            if (found.what.code != ErrorCode::lost) wrong("an error where nothing is wrong");
    }
    void sort() {
        std::sort(batches.begin(), batches.end(),
                  [](const LeftBatch& a, const LeftBatch& b) { return a.number < b.number; });
    }
};

struct Saved {
    uint64_t batches;  // that had left
    Journal behind;  // what came of the rest
};

class StreamRun {
  public:
    StreamRun(Chance& chance, StreamInput& input)
        : chance_(chance), input_(input), engine_(new StreamEngine(input.options)) {}

    std::vector<std::function<void()>> threads();
    void judge();

  private:
    using Step = std::function<bool()>;  // false: not done, to be tried again behind the others

    std::vector<InputPiece*> shuffled_pieces();
    Step pushing(std::vector<InputPiece*> pieces);
    void push(std::vector<InputPiece*>* pieces);
    void lose(std::vector<InputPiece*>* pieces);
    void finish(uint64_t origin);
    void replan();
    void save();
    void restore_and_end(const std::string& image, Journal* behind) const;
    Step any_other_step();
    void judge_rows(const Journal& journal, const std::string& whose) const;
    void judge_counts();

    Chance& chance_;
    StreamInput& input_;
    const std::unique_ptr<StreamEngine> engine_;
    Journal journal_;
    std::vector<Saved> saved_;
    uint64_t plan_ = 1;  // the newest that is known to be in force
    Mutex planning_;
    std::map<uint64_t, bool> ended_;
    bool closed_ = false;
};

// Each piece once, or some twice; nearly in order, or not at all.
std::vector<InputPiece*> StreamRun::shuffled_pieces() {
    std::vector<InputPiece*> pieces;
    for (std::vector<InputPiece>& origin : input_.origins)
        for (InputPiece& piece : origin) {
            pieces.push_back(&piece);
            if (chance_.one_in(16) && !piece.lost) pieces.push_back(&piece);
        }
    const bool in_order = chance_.one_in(4);  // origin by origin: calls may parse ahead of all others
    const size_t near = in_order ? 1 : 1 + chance_.below(unsigned(pieces.size()));
    if (!in_order && chance_.one_in(2))
        std::sort(pieces.begin(), pieces.end(), [](InputPiece* a, InputPiece* b) { return a->sequence < b->sequence; });
    for (size_t i = 0; i + 1 < pieces.size(); i++)
        std::swap(pieces[i], pieces[i + chance_.below(unsigned(std::min(near, pieces.size() - i)))]);
    return pieces;
}

std::vector<std::function<void()>> StreamRun::threads() {
    const unsigned pushers = 1 + chance_.below(3);
    std::vector<std::vector<Step>> steps(pushers + chance_.below(2));
    const std::vector<InputPiece*> pieces = shuffled_pieces();
    for (size_t at = 0; at < pieces.size();) {
        const size_t together = std::min<size_t>(1 + chance_.below(4), pieces.size() - at);
        const std::vector<InputPiece*> share(pieces.begin() + long(at), pieces.begin() + long(at + together));
        steps[chance_.below(pushers)].push_back(pushing(share));
        at += together;
    }
    for (unsigned others = chance_.below(6); others > 0; others--) {
        std::vector<Step>& thread = steps[chance_.below(unsigned(steps.size()))];
        thread.insert(thread.begin() + chance_.below(unsigned(thread.size() + 1)), any_other_step());
    }
    std::vector<std::function<void()>> threads;
    for (std::vector<Step>& thread : steps)
        threads.push_back([this, thread = std::move(thread)] {
            std::deque<Step> left(thread.begin(), thread.end());
            try {
                for (; !left.empty(); left.pop_front())
                    if (!left.front()()) {
                        left.push_back(left.front());
                        pause_a_little();
                    }
            } catch (const std::bad_alloc&) {
                if (!closed_) wrong("out of memory, which there is");
            }
        });
    return threads;
}

StreamRun::Step StreamRun::any_other_step() {
    const uint64_t origin = chance_.below(unsigned(input_.origins.size()));
    switch (chance_.below(16)) {
        case 0:
        case 1:
        case 2: return [this] { return replan(), true; };
        case 3:
        case 4:
        case 5: return [this] { return save(), true; };
        case 6: {
            const bool all = chance_.one_in(2);
            return [this, all] { return journal_.take(engine_->flush(all)), true; };
        }
        case 7: return [this] { return engine_->await_older(plan_, 2000), true; };
        case 8: return [this] { return engine_->counts(), true; };
        case 9:
            if (!chance_.one_in(4)) return [this] { return engine_->open_origins(), true; };
            return [this] {
                closed_ = true;
                return engine_->close(StreamClosed::out_of_memory), true;
            };
        default: return [this, origin] { return finish(origin), true; };
    }
}

// A call takes the buffers in front of one that is refused; those behind it are brought one by one then.
StreamRun::Step StreamRun::pushing(std::vector<InputPiece*> pieces) {
    auto left = std::make_shared<std::vector<InputPiece*>>();
    auto lost = std::make_shared<std::vector<InputPiece*>>();
    for (InputPiece* piece : pieces) (piece->lost ? lost : left)->push_back(piece);
    auto refused = std::make_shared<bool>(false);
    return [this, left, lost, refused] {
        for (InputPiece* piece : *left) piece->plan = std::min(piece->plan, plan_);
        lose(lost.get());
        std::vector<InputPiece*> still;
        const size_t together = *refused ? 1 : left->size();
        for (size_t at = 0; at < left->size(); at += together) {
            std::vector<InputPiece*> share(left->begin() + long(at), left->begin() + long(at + together));
            push(&share);
            still.insert(still.end(), share.begin(), share.end());
        }
        *left = std::move(still);
        *refused = !left->empty();
        return left->empty() && lost->empty();
    };
}

// Those that are refused stay.
void StreamRun::lose(std::vector<InputPiece*>* pieces) {
    std::vector<InputPiece*> left;
    for (InputPiece* piece : *pieces) {
        PushResult result = engine_->lost(piece->origin, piece->sequence);
        const PushStatus status = result.status;
        journal_.take(std::move(result));
        if (status == PushStatus::pending_limit)
            left.push_back(piece);
        else if (status != PushStatus::ok)
            wrong("a loss was refused");
    }
    *pieces = std::move(left);
}

// The buffers are this call's own, and gone when it returns. Those that were not taken stay in `pieces`.
void StreamRun::push(std::vector<InputPiece*>* pieces) {
    std::vector<std::string> bytes;
    bytes.reserve(pieces->size());
    std::vector<PushedBuffer> buffers;
    for (const InputPiece* piece : *pieces) {
        bytes.push_back(piece->bytes);
        buffers.push_back({piece->origin, piece->sequence, reinterpret_cast<const uint8_t*>(bytes.back().data()),
                           piece->bytes.size()});
    }
    PushResult result = engine_->push(buffers.data(), buffers.size());
    for (std::string& each : bytes) std::fill(each.begin(), each.end(), '7');
    std::vector<InputPiece*> left;
    for (const uint32_t index : result.not_taken) left.push_back((*pieces)[index]);
    const PushStatus status = result.status;
    journal_.take(std::move(result));
    if (status == PushStatus::ok && !left.empty()) wrong("buffers were left without a word");
    const bool twice = status == PushStatus::duplicate || status == PushStatus::finished;
    if (twice && !input_.options.ignore_duplicates) left.erase(left.begin());
    if (!twice && status != PushStatus::ok && status != PushStatus::pending_limit) wrong("a buffer was refused");
    *pieces = std::move(left);
}

void StreamRun::finish(uint64_t origin) {
    PushResult result = engine_->finish(origin, true, input_.origins[origin].size());
    const PushStatus status = result.status;
    if (status == PushStatus::ok && std::exchange(ended_[origin], true)) wrong("an origin ends twice");
    if (status == PushStatus::beyond) wrong("there is more than there is");
    journal_.take(std::move(result));
}

// One at a time, as versions count.
void StreamRun::replan() {
    const std::lock_guard<Mutex> guard(planning_);
    PushResult result;
    const PlanChange change = engine_->replan(input_.format_of_plan(plan_ + 1), {}, false, &result);
    if (!change.applied || change.version != plan_ + 1) wrong("a plan was refused");
    plan_ = change.version;
    journal_.take(std::move(result));
}

void StreamRun::save() {
    PushResult result;
    const std::string image = engine_->checkpoint(&result);
    const Moment moment;  // nobody has had the lock since
    saved_.push_back({engine_->progress().batches, {}});
    restore_and_end(image, &saved_.back().behind);
    journal_.take(std::move(result));
}

// Buffers are brought again, all of them; those that the image has are known.
void StreamRun::restore_and_end(const std::string& image, Journal* behind) const {
    StreamOptions options = input_.options;
    options.max_pending_bytes = 1 << 30;
    StreamEngine other(options);
    if (!other.restore(image)) wrong("what was saved cannot be read");
    for (const std::vector<InputPiece>& origin : input_.origins) {
        for (const InputPiece& piece : origin) {
            const PushedBuffer buffer{piece.origin, piece.sequence,
                                      reinterpret_cast<const uint8_t*>(piece.bytes.data()), piece.bytes.size()};
            behind->take(piece.lost ? other.lost(piece.origin, piece.sequence) : other.push(&buffer, 1));
        }
        PushResult end = other.finish(origin[0].origin, true, origin.size());
        if (end.status != PushStatus::ok && end.status != PushStatus::finished) wrong("a saved origin does not end");
        behind->take(std::move(end));
    }
}

void StreamRun::judge() {
    if (closed_) return;
    for (uint64_t origin = 0; origin < input_.origins.size(); origin++) {
        finish(origin);
        if (!ended_[origin]) wrong("origin " + std::to_string(origin) + " does not end");
    }
    judge_counts();
    journal_.sort();
    judge_rows(journal_, "");
    for (size_t i = 0; i < journal_.batches.size(); i++)
        if (journal_.batches[i].number != i) wrong("batch " + std::to_string(i) + " has not left");
    for (Saved& saved : saved_) {
        Journal both;
        both.batches.assign(journal_.batches.begin(), journal_.batches.begin() + long(saved.batches));
        saved.behind.sort();
        for (LeftBatch& batch : saved.behind.batches) {
            batch.plan = ~uint64_t(0);  // the other stream's own
            both.batches.push_back(std::move(batch));
        }
        judge_rows(both, "saved, ");
    }
}

void StreamRun::judge_rows(const Journal& journal, const std::string& whose) const {
    for (size_t origin = 0; origin < input_.origins.size(); origin++) {
        const std::string where = whose + "origin " + std::to_string(origin) + ": ";
        const std::vector<InputPiece>& pieces = input_.origins[origin];
        std::vector<std::pair<uint64_t, uint64_t>> rows;  // value, plan
        std::vector<uint64_t> covered, expected_values;
        for (const LeftBatch& batch : journal.batches) {
            if (batch.origin != origin) continue;
            for (const uint64_t value : batch.values) rows.push_back({value, batch.plan});
            for (const SequenceSpan& span : batch.spans)
                for (uint64_t sequence = span.first; sequence <= span.last; sequence++) covered.push_back(sequence);
        }
        if (!input_.options.ordered) {
            std::sort(rows.begin(), rows.end());
            std::sort(covered.begin(), covered.end());
        }
        const std::vector<ExpectedRow> expected = input_.expected(origin);
        for (size_t i = 0; i < std::max(rows.size(), expected.size()); i++) {
            if (i >= rows.size()) wrong(where + "row " + std::to_string(expected[i].value) + " is lost");
            if (i >= expected.size() || rows[i].first != expected[i].value)
                wrong(where + "row " + std::to_string(rows[i].first) + " is one too many");
            for (size_t piece = expected[i].first_piece; piece <= expected[i].last_piece; piece++)
                if (rows[i].second < pieces[piece].plan) wrong(where + "a row is by a plan that was over");
        }
        if (covered.size() != pieces.size()) wrong(where + "buffers are not in one batch each");
        for (size_t i = 0; i < covered.size(); i++)
            if (covered[i] != i + 1) wrong(where + "buffer " + std::to_string(i + 1) + " is in no batch");
    }
}

void StreamRun::judge_counts() {
    const StreamCounts counts = engine_->counts();
    uint64_t buffers = 0, bytes = 0, lost = 0;
    for (const std::vector<InputPiece>& origin : input_.origins)
        for (const InputPiece& piece : origin) {
            buffers++;
            lost += piece.lost;
            if (!piece.lost) bytes += piece.bytes.size();
        }
    if (counts.buffers != buffers || counts.bytes != bytes || counts.lost != lost) wrong("buffers are counted wrong");
    if (counts.pending_buffers || counts.pending_bytes || counts.open_batches) wrong("something waits behind the end");
    if (counts.finished != input_.origins.size()) wrong("origins are counted wrong");
}

}  // namespace

void run_stream(uint64_t seed, Figures* figures) {
    Chance chance(seed);
    StreamInput input(chance);
    name_schedule("stream " + std::to_string(seed) + " (" + input.name + ")");
    StreamRun run(chance, input);
    SeededChooser chooser(seed);
    run_schedule(chooser, run.threads(), int(chance.below(3)), figures);
    run.judge();
}

}  // namespace scheduled_tests
