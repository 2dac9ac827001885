// A decoder whose records are looked at only if they hold what the filter asks for; the others are counted. In: bytes that
// begin at a record. Out: the inner decoder's rows, of fewer records, and its findings in those. Refuses to know formats.
#pragma once

#include <algorithm>
#include <memory>

#include "engine/records/block_decoder.hpp"
#include "engine/records/needle_search.hpp"

namespace formatter {

template <typename Decoder>
class NeedleDecoder final : public Decoder {
  public:
    template <typename Format>
    NeedleDecoder(const std::shared_ptr<const Format>& format, std::shared_ptr<const RecordNeedles> needles)
        : Decoder(format), search_(std::move(needles), format->kernel), kernel_(format->kernel) {}

    size_t index(const uint8_t* data, size_t size, uint64_t row_limit) override {
        size_t at = 0;
        if (!this->skip_preamble(data, size, &at)) return 0;
        this->readable_ = {data, data + size};
        at += index_records(data + at, size - at, row_limit);
        this->readable_ = {};
        index_gathered();
        return at;
    }

    size_t index_unterminated(const uint8_t* data, size_t size) override {
        size_t at = 0;
        if (this->skip_preamble(data, size, &at) && at < size) {
            // What is never closed ends with its line, and what is behind that is to be read yet.
            const size_t given_up = this->size_given_up(data + at, size - at);
            const size_t record = given_up ? given_up : size - at;
            if (!search_.needles().are_in(data + at, record)) {
                pass_over(record, search_.needles().is_blank(data + at, record) ? 0 : 1);
                return at + record;
            }
        }
        return at + Decoder::index_unterminated(data + at, size - at);
    }

  private:
    // A window of as many bytes as rows are wanted holds no more records.
    static constexpr size_t least_window = 4 << 10;

    size_t index_records(const uint8_t* data, size_t size, uint64_t row_limit) {
        size_t at = 0;
        while (at < size && row_limit > 0) {
            const size_t left = size - at;
            size_t used = 0;
            full_ = false;
            if (left <= row_limit || row_limit >= least_window)
                used = index_window(data + at, std::min<uint64_t>(left, row_limit), &row_limit);
            else if (at > 0)
                break;  // asked again, it will be for more
            if (used == 0 && !full_ && left > row_limit) {
                const uint64_t end = kernel_->first_record_end(data + at, left, search_.needles().bytes(), false);
                if (end != QuoteSummary::none) used = index_window(data + at, size_t(end) + 1, &row_limit);
            }
            if (used == 0) break;
            at += used;
            if (full_) break;
        }
        return at;
    }

    // Of at most `*row_limit` records. Short ones that hold needles are gathered; of others those next to each other are indexed
    // in one go.
    size_t index_window(const uint8_t* data, size_t size, uint64_t* row_limit) {
        size_t at = 0, run = 0;  // records from `run` to `at` hold needles, and are neither indexed nor gathered yet
        const auto index_run = [&] {
            if (run == at) return true;
            index_gathered();
            const uint64_t before = this->records_placed();
            run += Decoder::index(data + run, at - run, *row_limit);
            *row_limit -= this->records_placed() - before;
            full_ = run < at;
            return !full_;
        };
        for (bool more = true; more;) {
            more = false;
            for (PassedRecords passed : search_.pass(data + at, size - at)) {
                more = passed.found > 0;
                const uint8_t* const found = data + at + passed.bytes;
                if (passed.found && !search_.found_holds(found, passed.found)) {
                    passed.records += search_.needles().is_blank(found, passed.found - 1) ? 0 : 1;
                    passed.bytes += passed.found;
                    passed.found = 0;
                }
                if (passed.bytes > 0) {
                    if (!index_run()) return run;
                    pass_over(passed.bytes, passed.records);
                    *row_limit -= passed.records;
                    at += passed.bytes;
                    run = at;
                }
                if (passed.found && run == at && gather(found, passed.found)) {
                    --*row_limit;
                    run += passed.found;
                }
                at += passed.found;
            }
        }
        index_run();
        return run;
    }

    // Whether that is done: not where it would not fit the batch.
    bool gather(const uint8_t* record, size_t size) {
        if (size > GatheredRecords::record_most) return false;
        if (!gathered_.has_room(size)) {
            index_gathered();
            this->materialize();
        }
        if (this->block_.empty() && indexed_ == gathered_.size()) {  // nothing refers to the copy any more
            gathered_.clear();
            indexed_ = 0;
        }
        if (!this->fits(gathered_.size() - indexed_ + size)) return false;
        gathered_.add(record, size, this->here());
        this->offset_ += size;
        this->records_++;
        return true;
    }

    void index_gathered() {
        if (indexed_ == gathered_.size()) return;
        const BlockDecoder::Gathering gathering(this, gathered_, indexed_);
        Decoder::index(gathered_.data() + indexed_, gathered_.size() - indexed_, ~uint64_t(0));
        indexed_ = gathered_.size();
    }

    void pass_over(size_t bytes, uint64_t records) {
        this->offset_ += bytes;
        this->records_ += records;
        this->counters.records += records;
        this->counters.filtered += records;
    }

    NeedleSearch search_;
    const Kernel* kernel_;
    GatheredRecords gathered_;
    size_t indexed_ = 0;  // of their bytes
    bool full_ = false;  // the batch takes no more
};

}  // namespace formatter
