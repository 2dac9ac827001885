// Several threads on one window of bytes. In: a window, where its first record starts. Out: what its ranges hold, in
// order, each proven to begin where the one before it ended.
//
// The thread that asks for the next range works as well: it takes ranges itself until the one it waits for is there. So
// a crew of one starts no thread, and a crew of two starts one. Every range costs something besides its bytes, so there
// are few: a round of one a thread takes most of what is left, and the rounds become smaller towards the window's end,
// so that all threads come to the end of their last ones at about the same time. Knows nothing of formats.
#pragma once

#include <memory>
#include <vector>

#include "engine/threads/fork_watch.hpp"
#include "engine/threads/synchronization.hpp"
#include "engine/threads/waiting_threads.hpp"
#include "engine/whole/range_reader.hpp"

namespace formatter {

struct CrewWindow {
    const uint8_t* data = nullptr;  // stays until the window's last range was handed out, or until abandon()
    size_t size = 0;
    size_t first_record = 0;
    size_t range_bytes = 0;  // the largest range
    size_t smallest_range_bytes = 0;
    bool splittable = true;  // a range can find its first record by itself
    bool input_ends = false;
    int64_t byte_offset = 0;
};

struct CrewRange {
    uint64_t records = 0;
    std::vector<OwnedArray> batches;
    std::vector<FindingAt<OriginPosition>> findings;
    DecodeCounters counters;
};

class RangeCrew final : ForkWatch {
  public:
    RangeCrew(RecordFormat format, unsigned threads, uint64_t max_rows, uint64_t max_batch_bytes);
    ~RangeCrew();
    RangeCrew(const RangeCrew&) = delete;
    RangeCrew& operator=(const RangeCrew&) = delete;

    void begin(const CrewWindow&);
    // What the next range holds; false when the window is read. One thread asks, and learns here if there
    // is no memory. Records are counted from the first one
    // that the crew handed out.
    bool next(CrewRange*);
    // Behind the last record handed out.
    size_t used() const { return expected_; }
    // Waits for ranges under way and forgets the window.
    void abandon();

  private:
    using Decoder = std::unique_ptr<RecordDecoder>;  // null: to be made, for the last one did not come to its end

    struct Task {
        size_t begin;
        size_t end;
        bool done = false;
        bool failed = false;  // there was no memory for it: the thread that asks tries again
        RangeResult result;
    };

    void before_fork() override { lock_.lock(); }
    void after_fork(bool in_child) override;

    static void help(void* crew) noexcept;
    void cut_ranges();
    void call_helpers();
    void send_helpers_away();
    void wait_for_range(std::unique_lock<Mutex>& held);
    bool work_on(size_t task, Decoder& decoder, std::unique_lock<Mutex>& held);
    bool may_take() const { return taken_ < tasks_.size() && taken_ < given_ + ahead_; }
    bool all_taken() const { return taken_ == tasks_.size(); }
    RangeResult read(size_t begin, size_t end, bool begins_record, bool covered, Decoder& decoder) const;

    const RecordFormat format_;
    const unsigned threads_;
    const size_t ahead_;  // ranges read and not handed out, at most: results take memory
    const uint64_t max_rows_;
    const uint64_t max_batch_bytes_;
    Decoder decoder_;  // of the thread that asks
    Atomic<unsigned> helpers_in_{0};  // asked and not gone again
    std::vector<Decoder> spare_decoders_;  // of helpers that went; there is room for all
    HelperRequest request_{help, this};

    Mutex lock_;
    Condition work_to_do_, range_done_;
    CrewWindow window_;
    std::vector<Task> tasks_;
    size_t taken_ = 0;  // tasks that a thread has begun
    size_t given_ = 0;  // tasks whose results were handed out
    size_t under_way_ = 0;
    Atomic<uint32_t> ranges_done_{0};
    size_t expected_ = 0;  // where the first record not handed out starts
    uint64_t records_given_ = 0;
    bool open_ = false;  // it does not end within the window: no later range has a record
};

}  // namespace formatter
