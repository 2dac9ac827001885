#include "engine/whole/range_crew.hpp"

#include <algorithm>
#include <new>

#include "engine/threads/waiting_threads.hpp"

namespace formatter {
namespace {

// Of what is left, a round of one range a thread takes three quarters: a thread that is a third slower than the others still
// finds them busy when it comes to the next round.
constexpr size_t round_numerator = 3, round_denominator = 4;

// A thread that sleeps is woken tens of microseconds after it could go on, which is as long as the last ranges take: so
// it looks for a while before it does. This is about 50 microseconds.
constexpr int looks_before_sleep = 2000;

}  // namespace

RangeCrew::RangeCrew(RecordFormat format, unsigned threads, uint64_t max_rows, uint64_t max_batch_bytes)
    : format_(std::move(format)),
      threads_(std::max(threads, 1u)),
      ahead_(threads_ == 1 ? 1 : 4 * size_t(threads_)),
      max_rows_(max_rows),
      max_batch_bytes_(max_batch_bytes),
      decoder_(format_.make_decoder()) {
    spare_decoders_.reserve(threads_);
    begin_watch();
}

RangeCrew::~RangeCrew() {
    end_watch();
    abandon();
    send_helpers_away();
}

// A child has none of the helpers: what they had begun counts as failed, and the thread that asks reads it anew.
void RangeCrew::after_fork(bool in_child) {
    if (in_child) {
        for (size_t i = given_; i < taken_; i++) {
            tasks_[i].failed |= !tasks_[i].done;
            tasks_[i].done = true;
        }
        helpers_in_ = 0;
        under_way_ = request_.waiting = 0;
        new (&work_to_do_) Condition;  // not destroyed: that would wait for those that waited here
        new (&range_done_) Condition;
    }
    lock_.unlock();
}

void RangeCrew::begin(const CrewWindow& window) {
    std::unique_lock<Mutex> held(lock_);
    window_ = window;
    tasks_.clear();
    taken_ = given_ = 0;
    expected_ = window.first_record;
    open_ = false;
    cut_ranges();
    // The end itself is looked at, too, where it can be wrong: with nothing left, nothing else would.
    const bool begun = window.first_record > 0 || window.byte_offset > 0;
    if (tasks_.empty() && window.input_ends && begun && format_.ending.checks_end())
        tasks_.push_back(Task{window.size, window.size});
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
        tasks_.push_back(Task{at, at + step});
    }
}

// As many as have something to do; if there are fewer, those that come do more, and the one that asks always works.
void RangeCrew::call_helpers() {
    const size_t wanted = std::min<size_t>(threads_, tasks_.size());
    if (wanted <= 1 + helpers_in_) return;
    const unsigned more = unsigned(wanted - 1 - helpers_in_);
    helpers_in_ += more;
    helpers_in_ -= more - ask_helpers(&request_, more);
}

void RangeCrew::help(void* self) noexcept {
    RangeCrew& crew = *static_cast<RangeCrew*>(self);
    Decoder decoder;
    std::unique_lock<Mutex> held(crew.lock_);
    if (!crew.spare_decoders_.empty()) {
        decoder = std::move(crew.spare_decoders_.back());
        crew.spare_decoders_.pop_back();
    }
    for (bool helps = true; helps;) {
        crew.work_to_do_.wait(held, [&crew] { return crew.may_take() || crew.all_taken(); });
        helps = !crew.all_taken() && crew.work_on(crew.taken_++, decoder, held);
    }
    if (decoder) crew.spare_decoders_.push_back(std::move(decoder));
    if (--crew.helpers_in_ == 0) crew.range_done_.notify_one();
    // Once the lock is open the crew may be gone.
}

void RangeCrew::send_helpers_away() {
    if (helpers_in_ == 0) return;
    helpers_in_ -= recall_helpers(&request_);
    for (int i = 0; i < looks(looks_before_sleep) && helpers_in_ != 0; i++) pause_a_little();
    std::unique_lock<Mutex> held(lock_);
    range_done_.wait(held, [this] { return helpers_in_ == 0; });
}

// False if there was no memory for it.
bool RangeCrew::work_on(size_t number, Decoder& decoder, std::unique_lock<Mutex>& held) {
    // All ranges before this one are handed out: where its first record starts is known.
    const bool begin_known = number == given_;
    const size_t begin = begin_known ? expected_ : tasks_[number].begin;
    const size_t end = tasks_[number].end;
    const bool covered = open_;
    under_way_++;
    held.unlock();
    RangeResult result;
    bool failed = false;
    try {
        result = read(begin, end, begin_known, covered, decoder);
    } catch (...) {
        failed = true;
    }
    held.lock();
    under_way_--;
    tasks_[number].result = std::move(result);
    tasks_[number].failed = failed;
    tasks_[number].done = true;
    ranges_done_.fetch_add(1, std::memory_order_release);
    range_done_.notify_one();
    return !failed;
}

void RangeCrew::wait_for_range(std::unique_lock<Mutex>& held) {
    const uint32_t before = ranges_done_.load(std::memory_order_relaxed);
    held.unlock();
    for (int i = 0; i < looks(looks_before_sleep) && ranges_done_.load(std::memory_order_acquire) == before; i++)
        pause_a_little();
    held.lock();
    if (ranges_done_.load(std::memory_order_relaxed) == before) range_done_.wait(held);
}

bool RangeCrew::next(CrewRange* out) {
    std::unique_lock<Mutex> held(lock_);
    while (given_ < tasks_.size()) {
        while (!tasks_[given_].done) {
            if (may_take())
                work_on(taken_++, decoder_, held);
            else
                wait_for_range(held);
        }
        Task& task = tasks_[given_];
        RangeResult result = std::move(task.result);
        if (task.failed || open_ || result.first_record != expected_) {  // or the guess was wrong
            const size_t begin = expected_, end = task.end;
            const bool covered = open_;
            held.unlock();
            result = RangeResult{};
            result = read(begin, end, true, covered, decoder_);
            held.lock();
        }
        expected_ = result.next_record;
        open_ |= result.open;
        given_++;
        if (threads_ > 1) work_to_do_.notify_one();
        out->records = result.records;
        out->batches = std::move(result.batches);
        out->counters = result.counters;
        out->findings.reserve(result.findings.size());
        for (FindingAt<StretchPosition>& found : result.findings)
            out->findings.emplace_back(std::move(found),
                                       OriginPosition{0, found.at.bytes, records_given_ + found.at.records});
        records_given_ += result.records;
        return true;
    }
    return false;
}

void RangeCrew::abandon() {
    std::unique_lock<Mutex> held(lock_);
    taken_ = tasks_.size();  // nobody begins another one
    range_done_.wait(held, [this] { return under_way_ == 0; });
    tasks_.clear();
    taken_ = given_ = 0;
    work_to_do_.notify_all();  // there is none: helpers that waited for some go
}

// `covered`: one record is known to cover the range, as one that begins behind it does.
RangeResult RangeCrew::read(size_t begin, size_t end, bool begins_record, bool covered, Decoder& decoder) const {
    RangeResult result;
    result.first_record = result.next_record = begin;
    if (covered || begin > end) return result;
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
    Decoder used = decoder ? std::move(decoder) : format_.make_decoder();
    result = read_range(format_, *used, request);
    decoder = std::move(used);
    return result;
}

}  // namespace formatter
