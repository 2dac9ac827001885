// The last part of a push, under the lock again. In: jobs that were parsed. Out: counts, and findings with positions of
// their origins as soon as everything before them has been counted. Refuses to know bytes.
#include <algorithm>

#include "engine/stream/stream_engine.hpp"

namespace formatter {

void StreamEngine::settle(StreamCall& call, PushResult* result) {
    for (const auto& job : call.jobs) {
        if (job->parts == 0) continue;
        Tally& t = job->origin->outstanding->tallies[job->run_first];
        t.records += job->records;
        t.span_records += job->span_records();
        t.waits -= job->parts;
    }
    for (StreamCall::JobFinding& found : call.findings) {
        Outstanding& work = *found.job->origin->outstanding;
        (found.job->parts ? work.tallies[found.job->run_first].findings : work.last_findings)
            .push_back(std::move(found.what));
    }
    call.findings.clear();
    for (const auto& job : call.jobs) join_tallies(*job->origin, job->run_first);
    for (FinishedBatch& batch : call.batches) result->batches.push_back(std::move(batch));
    call.batches.clear();
    for (auto& entry : call.builders) {
        settle_builder(*entry.second);
        return_builder(*entry.first, entry.second, result);
    }
    call.builders.clear();
    call.jobs.clear();
    call.owners.clear();
    number_batches(result);
    for (Origin* origin : call.origins) place_findings(*origin, result);
}

void StreamEngine::settle_builder(Builder& builder) {
    RecordDecoder& decoder = *builder.decoder;
    counts_.decode.take(&decoder.counters);
    for (size_t i = 0; i < decoder.values_decoded.size(); i++) {
        const size_t column = builder.plan->column(i);
        if (counts_.values_decoded.size() <= column) counts_.values_decoded.resize(column + 1);
        counts_.values_decoded[column] += decoder.values_decoded[i];
        decoder.values_decoded[i] = 0;
    }
}

// What is known of neighbouring runs is kept as one: it waits for what came before them, which may be long.
void StreamEngine::join_tallies(Origin& origin, uint64_t run_first) {
    auto& tallies = origin.outstanding->tallies;
    const auto done = [](const Tally& t) { return t.waits == 0 && t.findings.empty(); };
    auto at = tallies.find(run_first);
    if (at == tallies.end() || !done(at->second)) return;
    if (at != tallies.begin() && done(std::prev(at)->second)) --at;
    for (auto next = std::next(at);
         next != tallies.end() && next->first == at->second.last + 1 && done(next->second);) {
        at->second.last = next->second.last;
        at->second.bytes += next->second.bytes;
        at->second.records += next->second.records;
        next = tallies.erase(next);
        tally_count_--;
    }
}

// Positions become those of the origin, and findings certain, in stream order: everything before them has been counted.
void StreamEngine::place_findings(Origin& origin, PushResult* result) {
    if (!origin.outstanding) return;
    auto& tallies = origin.outstanding->tallies;
    uint64_t& tallied = origin.outstanding->tallied;
    while (!tallies.empty() && tallies.begin()->first == tallied + 1 && tallies.begin()->second.waits == 0) {
        Tally& t = tallies.begin()->second;
        place_findings(origin, t, &t.findings, result);
        origin.bytes_before += t.bytes;
        origin.records_before += t.records;
        tallied = t.last;
        tallies.erase(tallies.begin());
        tally_count_--;
    }
}

// Those of one run, the next to be counted.
void StreamEngine::place_findings(const Origin& origin, const Tally& run, std::vector<RunFinding>* findings,
                                  PushResult* result) const {
    const size_t before = result->findings.size();
    for (RunFinding& found : *findings) {
        OriginPosition at{options_.sequence_of(found.at.buffer), found.at.bytes + int64_t(origin.bytes_before),
                          found.at.records + origin.records_before};
        if (found.at.from == RunPosition::From::behind_spanning) at.records += run.span_records;
        if (found.at.from == RunPosition::From::end) {
            at.bytes += int64_t(run.bytes);
            at.records += run.records;
        }
        result->findings.push_back({origin.id, {std::move(found), at}});
    }
    // Decoders find what is wrong with a record's end before what is wrong with the values of those in front.
    std::stable_sort(
        result->findings.begin() + ptrdiff_t(before), result->findings.end(),
        [](const OriginFinding& a, const OriginFinding& b) { return a.what.at.records < b.what.at.records; });
}

}  // namespace formatter
