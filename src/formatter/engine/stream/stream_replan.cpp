// A stream's projection changes while data flows. In: another format, alike but for its columns and filter. Out: a plan
// version, and the batches of rows decoded before. Refuses to know who wanted the change.
//
// The answer is the decoder's own word: builders are handed out under the lock, and from here on only with the new plan.
// Builders that calls hold right now stay as they are; what they hold leaves when they come back, under the plan it was
// decoded with. So a batch never mixes two plans, and nobody waits for a parse.
#include <chrono>

#include "engine/stream/stream_engine.hpp"

namespace formatter {

PlanChange StreamEngine::replan(RecordFormat format, std::vector<uint32_t> columns, bool force, PushResult* result) {
    std::lock_guard<std::mutex> guard(lock_);
    PlanChange change;
    change.version = plan_->version;
    change.buffers = counts_.buffers;
    change.bytes = counts_.bytes;
    // Origins read their columns where their own headers say.
    std::map<const std::string*, std::shared_ptr<const RecordFormat>> formats;
    for (const auto& entry : origins_) {
        const std::string* header = entry.second.header;
        if (!header || entry.second.finished || formats.count(header)) continue;
        Preamble preamble =
            format.header->read(reinterpret_cast<const uint8_t*>(header->data()), header->size(), Extent::header);
        change.missing.insert(change.missing.end(), preamble.missing.begin(), preamble.missing.end());
        formats[header] = std::move(preamble.format);
    }
    if (!change.missing.empty() && !force) return change;
    flush_idle(Flush::all, result);
    number_batches(result);
    change.batches = counts_.batches;
    change.parsing = in_flight_ != 0;
    for (Builder* builder : spare_builders_) delete builder;
    spare_builders_.clear();
    for (auto& entry : origins_) {
        Origin& origin = entry.second;
        const auto read = formats.find(origin.header);
        origin.format = read == formats.end() ? nullptr : read->second.get();
    }
    for (auto& entry : formats_) {
        const auto read = formats.find(&entry.first);
        entry.second = read == formats.end() ? nullptr : std::move(read->second);
    }
    auto plan = std::make_shared<StreamPlan>();
    plan->version = ++change.version;
    plan->format = std::move(format);
    plan->columns = std::move(columns);
    older_plans_.emplace_back(plan_->version, plan_);
    plan_ = std::move(plan);
    while (!older_plans_.empty() && older_plans_.front().second.expired()) older_plans_.pop_front();
    change.oldest = older_plans_.empty() ? change.version : older_plans_.front().first;
    change.applied = true;
    return change;
}

uint64_t StreamEngine::await_older(uint64_t version, int64_t timeout_ns) {
    Guard guard(lock_);
    quiet_.wait_for(guard, std::chrono::nanoseconds(timeout_ns), [&] {
        for (const auto& older : older_plans_) {
            const auto plan = older.second.lock();
            if (plan && plan->version < version && plan->held) return false;
        }
        return true;
    });
    return counts_.batches;
}

}  // namespace formatter
