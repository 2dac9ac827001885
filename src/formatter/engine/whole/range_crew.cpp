#include "engine/whole/range_crew.hpp"

#include <algorithm>

#include "engine/threads/waiting_threads.hpp"
#include "engine/threads/patient_lock.hpp"

namespace formatter {
namespace {

// Of what is left, a round of one range a thread takes three quarters: a thread that is a third slower than the others still
// finds them busy when it comes to the next round.
constexpr size_t round_numerator = 3, round_denominator = 4;

// A thread that sleeps is woken tens of microseconds after it could go on, which is as long as the last ranges take: so
// it looks for a while before it does. This is about 50 microseconds.
constexpr int looks_before_sleep = 2000;

void release_batches(RangeResult* result) {
    for (ArrowArray& batch : result->batches)
        if (batch.release) batch.release(&batch);
    result->batches.clear();
}

}  // namespace

RangeCrew::RangeCrew(RecordFormat format, unsigned threads, uint64_t max_rows, uint64_t max_batch_bytes)
    : format_(std::move(format)),
      threads_(std::max(threads, 1u)),
      ahead_(threads_ == 1 ? 1 : 4 * size_t(threads_)),
      max_rows_(max_rows),
      max_batch_bytes_(max_batch_bytes),
      decoder_(format_.make_decoder()) {}

RangeCrew::~RangeCrew() {
    if (helpers_in_ != 0 && process_ != getpid()) return;  // nobody here will finish what the helpers have begun
    abandon();
    send_helpers_away();
}

void RangeCrew::begin(const CrewWindow& window) {
    std::unique_lock<std::mutex> held(lock_);
    window_ = window;
    tasks_.clear();
    taken_ = given_ = 0;
    expected_ = window.first_record;
    open_ = false;
    cut_ranges();
    // The end itself is looked at, too, where it can be wrong: with nothing left, nothing else would.
    const bool begun = window.first_record > 0 || window.byte_offset > 0;
    if (tasks_.empty() && window.input_ends && begun && format_.framing.checks_end())
        tasks_.push_back(Task{window.size, window.size, false, RangeResult{}});
    held.unlock();
    call_helpers();
}

void RangeCrew::cut_ranges() {
    const CrewWindow& window = window_;
    size_t step = 0;
    unsigned left_of_round = 0;
    for (size_t at = window.first_record; at < window.size; at += step) {
        const size_t left = window.size - at;
        if (!window.splittable) {
            step = left;
        } else if (threads_ == 1) {
            step = window.range_bytes;
        } else if (left_of_round == 0) {
            const size_t share = left / round_denominator * round_numerator / threads_;
            step = std::min(window.range_bytes, std::max(share, window.smallest_range_bytes));
            left_of_round = threads_;
        }
        if (left_of_round) left_of_round--;
        step = std::min(std::max<size_t>(step, 1), left);
        tasks_.push_back(Task{at, at + step, false, RangeResult{}});
    }
}

// As many as have something to do; if there are fewer, those that come do more, and the one that asks always works.
void RangeCrew::call_helpers() {
    if (process_ != getpid()) {
        process_ = getpid();
        helpers_in_ = 0;
    }
    const size_t wanted = std::min<size_t>(threads_, tasks_.size());
    if (wanted <= 1 + helpers_in_) return;
    const unsigned more = unsigned(wanted - 1 - helpers_in_);
    helpers_in_ += more;
    helpers_in_ -= more - ask_helpers(more, help, this);
}

void RangeCrew::help(void* self) {
    RangeCrew& crew = *static_cast<RangeCrew*>(self);
    std::unique_ptr<RecordDecoder> decoder;
    std::unique_lock<std::mutex> held(crew.lock_);
    if (!crew.spare_decoders_.empty()) {
        decoder = std::move(crew.spare_decoders_.back());
        crew.spare_decoders_.pop_back();
    } else {
        held.unlock();
        decoder = crew.format_.make_decoder();
        held.lock();
    }
    for (;;) {
        crew.work_to_do_.wait(held, [&crew] { return crew.may_take() || crew.all_taken(); });
        if (crew.all_taken()) break;
        crew.work_on(crew.taken_++, *decoder, held);
    }
    crew.spare_decoders_.push_back(std::move(decoder));
    if (--crew.helpers_in_ == 0) crew.range_done_.notify_one();
    // Once the lock is open the crew may be gone.
}

void RangeCrew::send_helpers_away() {
    if (helpers_in_ == 0) return;
    helpers_in_ -= recall_helpers(this);
    for (int i = 0; i < looks_before_sleep && helpers_in_ != 0; i++) pause_a_little();
    std::unique_lock<std::mutex> held(lock_);
    range_done_.wait(held, [this] { return helpers_in_ == 0; });
}

void RangeCrew::work_on(size_t number, RecordDecoder& decoder, std::unique_lock<std::mutex>& held) {
    // All ranges before this one are handed out: where its first record starts is known.
    const bool begin_known = number == given_;
    const size_t begin = begin_known ? expected_ : tasks_[number].begin;
    const size_t end = tasks_[number].end;
    const bool covered = open_ || begin > end;  // by one record
    under_way_++;
    held.unlock();
    RangeResult result = covered ? passed(begin) : read(begin, end, begin_known, decoder);
    held.lock();
    under_way_--;
    tasks_[number].result = std::move(result);
    tasks_[number].done = true;
    ranges_done_.fetch_add(1, std::memory_order_release);
    range_done_.notify_one();
}

void RangeCrew::wait_for_range(std::unique_lock<std::mutex>& held) {
    const uint32_t before = ranges_done_.load(std::memory_order_relaxed);
    held.unlock();
    for (int i = 0; i < looks_before_sleep && ranges_done_.load(std::memory_order_acquire) == before; i++)
        pause_a_little();
    held.lock();
    if (ranges_done_.load(std::memory_order_relaxed) == before) range_done_.wait(held);
}

bool RangeCrew::next(CrewRange* out) {
    std::unique_lock<std::mutex> held(lock_);
    while (given_ < tasks_.size()) {
        while (!tasks_[given_].done) {
            if (may_take())
                work_on(taken_++, *decoder_, held);
            else
                wait_for_range(held);
        }
        Task& task = tasks_[given_];
        RangeResult result = std::move(task.result);
        if (open_ || result.first_record != expected_) {  // the guess was wrong
            release_batches(&result);
            const size_t begin = expected_, end = task.end;
            const bool covered = open_ || begin > end;
            held.unlock();
            result = covered ? passed(begin) : read(begin, end, true, *decoder_);
            held.lock();
        }
        expected_ = result.next_record;
        open_ |= result.open;
        given_++;
        if (threads_ > 1) work_to_do_.notify_one();
        out->records = result.records;
        out->batches = std::move(result.batches);
        out->counters = result.counters;
        for (FindingAt<StretchPosition>& found : result.findings)
            out->findings.emplace_back(std::move(found),
                                       OriginPosition{0, found.at.bytes, records_given_ + found.at.records});
        records_given_ += result.records;
        return true;
    }
    return false;
}

void RangeCrew::abandon() {
    std::unique_lock<std::mutex> held(lock_);
    taken_ = tasks_.size();  // nobody begins another one
    range_done_.wait(held, [this] { return under_way_ == 0; });
    for (Task& task : tasks_) release_batches(&task.result);
    tasks_.clear();
    taken_ = given_ = 0;
    work_to_do_.notify_all();  // there is none: helpers that waited for some go
}

RangeResult RangeCrew::read(size_t begin, size_t end, bool begins_record, RecordDecoder& decoder) const {
    RangeRequest request;
    request.data = window_.data;
    request.size = window_.size;
    request.begin = begin;
    request.end = end;
    request.begins_record = begins_record;
    request.input_ends = window_.input_ends;
    request.stream_start = window_.byte_offset == 0 && begin == 0;
    request.byte_offset = window_.byte_offset;
    request.max_rows = max_rows_;
    request.max_batch_bytes = max_batch_bytes_;
    return read_range(format_, decoder, request);
}

}  // namespace formatter
