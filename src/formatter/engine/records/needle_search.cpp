#include "engine/records/needle_search.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace formatter {
namespace {

constexpr size_t sample_bytes = 16 << 10;
constexpr uint64_t learned_for_bytes = 16 << 20;
constexpr uint64_t doubtful_from_bytes = 256 << 10;  // what was learned is given so long
constexpr uint64_t bytes_a_false_hit = 2048;  // with more of them other probes may do better
constexpr size_t probes_within = 64;
constexpr size_t bytes_a_third_probe = 4096;  // with more positions that two probes leave, a third one pays
constexpr size_t many_needles = 3;  // that one look for what they begin with may take the place of
constexpr size_t bytes_a_prefix = 512;  // it has to be so rare

// The byte of the needle that is met least often, then the one that is where that was met, and so on: bytes that are rare by
// themselves may come together. Returns at how many places of the sample the third one is needed.
size_t choose_probes(const uint8_t* data, size_t size, const uint32_t* often, NeedleBytes* needle) {
    const uint32_t places = uint32_t(std::min<size_t>(needle->size, probes_within));
    uint32_t* const probes = needle->probes;
    for (uint32_t i = 1; i < places; i++)
        if (often[needle->bytes[i]] < often[needle->bytes[probes[0]]]) probes[0] = i;
    std::vector<size_t> met;  // where the needle would begin
    size_t left_to_third = 0;
    for (size_t i = 0; i + needle->size <= size; i++)
        if (data[i + probes[0]] == needle->bytes[probes[0]]) met.push_back(i);
    for (uint32_t p = 1; p < NeedleBytes::probe_count; p++) {
        const auto differs = [=](uint32_t place) {
            return [=](size_t at) { return data[at + place] != needle->bytes[place]; };
        };
        ptrdiff_t most = -1;
        for (uint32_t i = 0; i < places; i++) {
            const ptrdiff_t passed = std::count_if(met.begin(), met.end(), differs(i));
            const bool new_place = std::find(probes, probes + p, i) == probes + p;
            if (new_place && passed > most) most = passed, probes[p] = i;
        }
        if (most < 0)
            probes[p] = probes[0];
        else
            met.erase(std::remove_if(met.begin(), met.end(), differs(probes[p])), met.end());
        if (p == 1) left_to_third = met.size();
    }
    return left_to_third - met.size();
}

// How many bytes all of them begin with.
size_t common_prefix(const std::vector<Needle>& needles) {
    size_t common = needles[0].bytes.size();
    for (const Needle& needle : needles) {
        const size_t most = std::min(common, needle.bytes.size());
        common =
            size_t(std::mismatch(needle.bytes.begin(), needle.bytes.begin() + ptrdiff_t(most), needles[0].bytes.begin())
                       .first -
                   needle.bytes.begin());
    }
    return common;
}

size_t times_in(const uint8_t* data, size_t size, const uint8_t* bytes, size_t count) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::string_view wanted(reinterpret_cast<const char*>(bytes), count);
    size_t times = 0;
    for (size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1)) times++;
    return times;
}

}  // namespace

NeedleSearch::NeedleSearch(std::shared_ptr<const RecordNeedles> needles, const Kernel* kernel)
    : needles_(std::move(needles)), kernel_(kernel) {}

NeedleSearch::Entries NeedleSearch::pass(const uint8_t* data, size_t size) {
    const bool misled = bytes_seen_ > doubtful_from_bytes && false_hits_ > bytes_seen_ / bytes_a_false_hit;
    if (bytes_left_ == 0 || misled) learn(data, size);
    const Entries entries{passed_, pass_wanted(data, size)};
    uint64_t seen = 0;
    for (const PassedRecords& passed : entries) seen += passed.bytes + passed.found;
    bytes_left_ -= std::min(bytes_left_, seen);
    bytes_seen_ += seen;
    return entries;
}

size_t NeedleSearch::pass_wanted(const uint8_t* data, size_t size) {
    const NeedleSet set{wanted_.data(), uint32_t(wanted_.size()), escapes_, exponents_, all_probes_, needles_->blank()};
    uint64_t false_hits;
    const size_t count =
        kernel_->pass_records(data, size, set, needles_->bytes(), passed_, std::size(passed_), &false_hits);
    false_hits_ += false_hits;
    return count;
}

// Of each alternative the clause whose needles stand in the fewest records of a sample.
void NeedleSearch::learn(const uint8_t* data, size_t size) {
    Sample sample{data, std::min(size, sample_bytes), {}};
    for (size_t i = 0; i < sample.size; i++) sample.often[data[i]]++;
    std::vector<const ClauseNeedles*> chosen;
    for (const std::vector<ClauseNeedles>& clauses : needles_->any_of()) {
        const ClauseNeedles* best = &clauses[0];
        uint64_t fewest = clauses.size() > 1 ? hits_of(*best, sample) : 0;
        for (size_t i = 1; i < clauses.size(); i++) {
            const uint64_t hits = hits_of(clauses[i], sample);
            if (hits < fewest) fewest = hits, best = &clauses[i];
        }
        chosen.push_back(best);
    }
    look_for(chosen, sample);
    bytes_left_ = learned_for_bytes;
    bytes_seen_ = false_hits_ = 0;
}

void NeedleSearch::look_for(const std::vector<const ClauseNeedles*>& clauses, const Sample& sample) {
    wanted_.clear();
    escapes_ = exponents_ = by_prefix_ = false;
    size_t left_to_third = 0;
    const auto add = [&](NeedleBytes needle) {
        left_to_third += choose_probes(sample.data, sample.size, sample.often, &needle);
        wanted_.push_back(needle);
    };
    for (const ClauseNeedles* clause : clauses) {
        escapes_ |= clause->escapes;
        exponents_ |= clause->exponents;
        if (clause->any_of.size() >= many_needles) {
            const size_t common = common_prefix(clause->any_of);
            const auto* bytes = reinterpret_cast<const uint8_t*>(clause->any_of[0].bytes.data());
            if (common && times_in(sample.data, sample.size, bytes, common) * bytes_a_prefix <= sample.size) {
                by_prefix_ = true;
                add({bytes, uint32_t(common), {}, false});
                continue;
            }
        }
        for (const Needle& needle : clause->any_of) {
            const auto* bytes = reinterpret_cast<const uint8_t*>(needle.bytes.data());
            add({bytes, uint32_t(needle.bytes.size()), {}, needle.number});
        }
    }
    all_probes_ = left_to_third * bytes_a_third_probe > sample.size;
}

uint64_t NeedleSearch::hits_of(const ClauseNeedles& clause, const Sample& sample) {
    look_for({&clause}, sample);
    uint64_t hits = 0;
    for (size_t at = 0;;) {
        const size_t count = pass_wanted(sample.data + at, sample.size - at);
        for (size_t i = 0; i < count; i++) at += passed_[i].bytes + passed_[i].found;
        hits += count;
        if (passed_[count - 1].found == 0) return hits - 1;
    }
}

}  // namespace formatter
