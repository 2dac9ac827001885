#include "engine/range_crew.hpp"

#include <algorithm>

namespace formatter {
namespace {

// A range costs a guess, a batch and its hand-over: microseconds, one more for each column. Half a MiB takes at least
// thirty to read, so the last ranges are that small, or a sixteenth of the largest, which grow with the columns.
constexpr size_t smallest_range = 512 << 10;
constexpr size_t ranges_left_a_thread = 2;  // how finely the rest is cut: the next range is this share of it

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
    if (!helpers_.empty() && process_ != getpid()) return;  // nobody here will finish what the helpers have begun
    abandon();
    {
        std::lock_guard<std::mutex> guard(lock_);
        over_ = true;
    }
    work_to_do_.notify_all();
    for (pthread_t helper : helpers_) pthread_join(helper, nullptr);
}

void RangeCrew::begin(const CrewWindow& window) {
    std::unique_lock<std::mutex> held(lock_);
    window_ = window;
    tasks_.clear();
    taken_ = given_ = 0;
    expected_ = window.first_record;
    size_t at = window.first_record;
    while (at < window.size) {
        const size_t left = window.size - at;
        size_t step = left;
        if (window.splittable && threads_ == 1) step = window.range_bytes;
        if (window.splittable && threads_ > 1) {
            const size_t share = left / (ranges_left_a_thread * threads_);
            step = std::min(window.range_bytes, std::max({share, smallest_range, window.range_bytes / 16}));
        }
        step = std::min(std::max<size_t>(step, 1), left);
        tasks_.push_back(Task{at, at + step, false, RangeResult{}});
        at += step;
    }
    // The end itself is looked at, too, where it can be wrong: with nothing left, nothing else would.
    const bool begun = window.first_record > 0 || window.byte_offset > 0;
    if (tasks_.empty() && window.input_ends && begun && format_.framing.checks_end())
        tasks_.push_back(Task{at, at, false, RangeResult{}});
    start_helpers();
    held.unlock();
    if (!helpers_.empty()) work_to_do_.notify_all();
}

// As many as have something to do.
void RangeCrew::start_helpers() {
    process_ = getpid();
    while (helpers_.size() + 1 < std::min<size_t>(threads_, tasks_.size())) {
        pthread_t helper;
        if (pthread_create(&helper, nullptr, help, this) != 0) break;  // fewer do, and the one that asks always works
        helpers_.push_back(helper);
    }
}

void* RangeCrew::help(void* self) {
    RangeCrew& crew = *static_cast<RangeCrew*>(self);
    const std::unique_ptr<RecordDecoder> decoder = crew.format_.make_decoder();
    std::unique_lock<std::mutex> held(crew.lock_);
    for (;;) {
        crew.work_to_do_.wait(held, [&crew] { return crew.over_ || crew.may_take(); });
        if (crew.over_) return nullptr;
        crew.work_on(crew.taken_++, *decoder, held);
    }
}

void RangeCrew::work_on(size_t number, RecordDecoder& decoder, std::unique_lock<std::mutex>& held) {
    // All ranges before this one are handed out: where its first record starts is known.
    const bool begin_known = number == given_;
    const size_t begin = begin_known ? expected_ : tasks_[number].begin;
    const size_t end = tasks_[number].end;
    under_way_++;
    held.unlock();
    RangeResult result;
    if (begin <= end) {
        result = read(begin, end, begin_known, decoder);
    } else {  // one record covers the whole range
        result.first_record = result.next_record = begin;
    }
    held.lock();
    under_way_--;
    tasks_[number].result = std::move(result);
    tasks_[number].done = true;
    range_done_.notify_one();
}

bool RangeCrew::next(RangeResult* out) {
    std::unique_lock<std::mutex> held(lock_);
    while (given_ < tasks_.size()) {
        while (!tasks_[given_].done) {
            if (may_take())
                work_on(taken_++, *decoder_, held);
            else
                range_done_.wait(held);
        }
        Task& task = tasks_[given_];
        RangeResult result = std::move(task.result);
        if (result.first_record != expected_) {  // the guess was wrong
            release_batches(&result);
            const size_t begin = expected_, end = task.end;
            held.unlock();
            result = RangeResult{};
            if (begin <= end)
                result = read(begin, end, true, *decoder_);
            else
                result.next_record = begin;
            held.lock();
        }
        expected_ = result.next_record;
        given_++;
        if (threads_ > 1) work_to_do_.notify_one();
        *out = std::move(result);
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
