// Lines of numbers, each maybe in quotes: all that streams and readers need of a format. In: bytes. Out: numbers, with the plan
// they were decoded by. Refuses to know where buffers end. It reads bytes as late as it may.
#pragma once

#include <functional>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "engine/records/record_decoder.hpp"

namespace scheduled_tests {

struct Rows {  // of a batch, in an array's private data
    uint64_t plan;
    std::vector<uint64_t> values;
};

class LineDecoder final : public formatter::RecordDecoder {
  public:
    // `header`: the stream's first line is no record. `may_fail`: whether there is no memory this time.
    LineDecoder(uint64_t plan, bool quotes, bool header, std::function<bool()> may_fail = nullptr)
        : plan_(plan), quotes_(quotes), header_(header), may_fail_(std::move(may_fail)) {}

    void place(const formatter::Place& at) override {
        records_ = 0;
        at_header_ = header_ && at.stream_start;
    }
    size_t index(const uint8_t* data, size_t size, uint64_t row_limit) override {
        if (may_fail_ && may_fail_()) throw std::bad_alloc();
        size_t begin = 0;
        bool inside = false;
        for (size_t at = 0; at < size && row_limit; at++) {
            inside ^= quotes_ && data[at] == '"';
            if (data[at] != '\n' || inside) continue;
            add(data + begin, at - begin);
            begin = at + 1;
            row_limit -= !std::exchange(at_header_, false);
        }
        return begin;
    }
    size_t index_unterminated(const uint8_t* data, size_t size) override {
        add(data, size);
        at_header_ = false;
        return size;
    }
    bool fits(uint64_t) const override { return true; }
    void materialize() override {
        for (const Line& line : waiting_) {
            uint64_t value = 0;
            for (size_t i = 0; i < line.size; i++)
                if (uint8_t(line.data[i] - '0') <= 9) value = value * 10 + (line.data[i] - '0');
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
        out->release = [](ArrowArray* array) {
            delete static_cast<Rows*>(array->private_data);
            array->release = nullptr;
        };
        values_.clear();
    }

  private:
    struct Line {
        const uint8_t* data;
        size_t size;
    };
    void add(const uint8_t* data, size_t size) {
        if (at_header_) return;
        waiting_.push_back({data, size});
        records_++;
    }

    const uint64_t plan_;
    const bool quotes_, header_;
    const std::function<bool()> may_fail_;
    uint64_t records_ = 0;
    bool at_header_ = false;
    std::vector<Line> waiting_;
    std::vector<uint64_t> values_;
};

}  // namespace scheduled_tests
