// Batches under construction, handed out and taken back under the lock. In: an origin that wants to be decoded, a builder
// that comes back. Out: a builder; batches by policy. Refuses to know what decoders do.
#include <algorithm>

#include "engine/stream/stream_engine.hpp"

namespace formatter {
namespace {

constexpr size_t open_builders_most =
    sized<size_t>(64, 1);  // a batch under construction costs its columns: many origins take turns
constexpr size_t large_builders_most = 4;
constexpr size_t spare_builders_most = sized<size_t>(8, 1);
constexpr uint64_t telling_bytes = 256 << 10;  // of a batch: enough to guess the rest by
constexpr uint64_t telling_bytes_most = 64 << 20;  // but not to ask for any amount of memory

}  // namespace

// Only reached under the lock: run() asks for every origin of the call before it unlocks.
Builder* StreamEngine::builder_for(Origin& origin, StreamCall& call) {
    for (auto& entry : call.builders)
        if (entry.first == &origin) return entry.second.get();
    OwnedBuilder builder = take_builder(origin);
    if (builder->format != origin.format) {  // opened before the header had come: it has no rows yet
        builder->format = origin.format;
        builder->decoder = origin.format->make_decoder();
    }
    builder->next = nullptr;
    builder->origin = origin.id;
    if (builder->covered.empty() && options_.max_latency_ns >= 0) builder->opened_ns = steady_now_ns();
    // Few batches are open: room for a full one is made at once. With many it would be too much memory.
    builder->large = idle_builders_.size() < large_builders_most;
    if (builder->is_empty()) {
        builder->bytes = 0;
        builder->expected = false;
        if (builder->large) builder->decoder->expect(expected_bytes(call));
    }
    if (builder->large && !typical_bytes_ && builder->bytes >= telling_bytes && !builder->expected)
        expect_rest(*builder);
    builder->plan->held++;
    call.builders.emplace_back(&origin, std::move(builder));
    return call.builders.back().second.get();
}

// An idle one of the origin, a spare one, or a new one.
OwnedBuilder StreamEngine::take_builder(Origin& origin) {
    OwnedBuilder builder;
    if (origin.builder) {
        builder = take_idle(origin.builder);
        origin.builder = builder->next;
    } else if (!spare_builders_.empty() && !origin.format) {
        builder = std::move(spare_builders_.back());
        spare_builders_.pop_back();
    } else {
        builder.reset(new Builder);
        builder->plan = plan_;
        builder->format = origin.format;
        builder->decoder = (origin.format ? *origin.format : plan_->format).make_decoder();
    }
    return builder;
}

OwnedBuilder StreamEngine::take_idle(Builder* builder) {
    const auto at = std::find_if(idle_builders_.begin(), idle_builders_.end(),
                                 [builder](const OwnedBuilder& idle) { return idle.get() == builder; });
    OwnedBuilder taken = std::move(*at);
    idle_builders_.erase(at);
    return taken;
}

// Nothing is known of the first batch when it is opened, but what it has grown to by now says how large it will be.
void StreamEngine::expect_rest(Builder& builder) const {
    const uint64_t rows = std::max<uint64_t>(builder.decoder->rows(), 1);
    const uint64_t bytes = std::max<uint64_t>(builder.decoder->byte_count(), 1);
    const double share =
        std::min(double(options_.max_rows) / double(rows), double(options_.max_batch_bytes) / double(bytes));
    const double whole = std::min(share * double(builder.bytes), double(telling_bytes_most));
    if (whole > double(builder.bytes)) builder.decoder->expect(uint64_t(whole) - builder.bytes);
    builder.expected = true;
}

// Bytes of input that a batch which is opened now will probably hold: as many as the last one, or as this call brings. For
// the first batch all that is known is the size of the call: one that brings much is likely to be followed by others.
uint64_t StreamEngine::expected_bytes(const StreamCall& call) const {
    if (typical_bytes_) return std::max(typical_bytes_, std::min(call.expected_bytes, options_.max_batch_bytes));
    return std::min(4 * call.expected_bytes, options_.max_batch_bytes);
}

void StreamEngine::return_builder(Origin& origin, OwnedBuilder builder, PushResult* result) {
    builder->plan->held--;
    if (builder->full_bytes) typical_bytes_ = builder->full_bytes;
    if (builder->is_full(options_)) {
        typical_bytes_ = builder->bytes;
        builder->export_to(&result->batches, options_);
    }
    const bool outdated = builder->plan != plan_;
    if (outdated && !builder->is_empty()) builder->export_to(&result->batches, options_);
    if (builder->is_empty()) return retire_builder(std::move(builder));
    builder->next = origin.builder;
    origin.builder = builder.get();
    idle_builders_.push_back(std::move(builder));
}

void StreamEngine::retire_builder(OwnedBuilder builder) {
    if (spare_builders_.size() < spare_builders_most && !builder->format && builder->plan == plan_)
        spare_builders_.push_back(std::move(builder));
}

// Of an origin that has ended.
void StreamEngine::finish_builders(Origin& origin, PushResult* result) {
    while (origin.builder) {
        OwnedBuilder builder = take_idle(origin.builder);
        origin.builder = builder->next;
        builder->export_to(&result->batches, options_);
        retire_builder(std::move(builder));
    }
}

void StreamEngine::flush_idle(Flush which, PushResult* result) {
    const bool timed = options_.max_latency_ns >= 0 && which != Flush::surplus;
    const int64_t now = timed ? steady_now_ns() : 0;
    for (auto it = idle_builders_.begin(); it != idle_builders_.end();) {
        Builder* builder = it->get();
        const bool late = timed && now - builder->opened_ns >= options_.max_latency_ns;
        if (which != Flush::all && !late && idle_builders_.size() <= open_builders_most) {
            ++it;
            continue;
        }
        Builder** link = &origins_.at(builder->origin).builder;
        while (*link != builder) link = &(*link)->next;
        *link = builder->next;
        OwnedBuilder leaving = std::move(*it);
        it = idle_builders_.erase(it);
        if (builder->large) typical_bytes_ = builder->bytes;
        builder->export_to(&result->batches, options_);
        retire_builder(std::move(leaving));
    }
}

void StreamEngine::number_batches(PushResult* result) {
    for (; result->numbered < result->batches.size(); result->numbered++)
        result->batches[result->numbered].number = counts_.batches++;
}

}  // namespace formatter
