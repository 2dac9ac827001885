// Where the next record is that may pass a filter. In: bytes that begin at a record. Out: how many records hold no needle,
// and the one that does. What is learned of the bytes decides what is looked for first, and never what is found. Refuses to
// know what becomes of a record.
#pragma once

#include <memory>
#include <vector>

#include "engine/records/needles.hpp"

namespace formatter {

class NeedleSearch {
  public:
    NeedleSearch(std::shared_ptr<const RecordNeedles>, const Kernel*);

    // As Kernel::pass_records has it, but records that are found are only such that may hold what the filter asks for. The entries
    // stay until the next call.
    struct Entries {
        const PassedRecords* begin_;
        size_t count;
        const PassedRecords* begin() const { return begin_; }
        const PassedRecords* end() const { return begin_ + count; }
    };
    Entries pass(const uint8_t* data, size_t size);
    // Whether that record does.
    bool found_holds(const uint8_t* data, size_t size) const {
        return (needles_->one_is_enough() && !by_prefix_) || needles_->are_in(data, size);
    }
    const RecordNeedles& needles() const { return *needles_; }

  private:
    struct Sample {
        const uint8_t* data;
        size_t size;
        uint32_t often[256];  // how often each byte stands in it
    };
    void learn(const uint8_t* data, size_t size);
    void look_for(const std::vector<const ClauseNeedles*>&, const Sample&);
    uint64_t hits_of(const ClauseNeedles&, const Sample&);
    size_t pass_wanted(const uint8_t* data, size_t size);

    std::shared_ptr<const RecordNeedles> needles_;
    const Kernel* kernel_;
    std::vector<NeedleBytes> wanted_;
    bool escapes_ = false, exponents_ = false;
    bool all_probes_ = false;
    bool by_prefix_ = false;  // what several needles have in common is looked for, in place of some of them
    uint64_t bytes_left_ = 0;  // until it is time to learn anew
    uint64_t bytes_seen_ = 0, false_hits_ = 0;  // since it was learned
    PassedRecords passed_[64];
};

}  // namespace formatter
