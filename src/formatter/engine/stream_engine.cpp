// The unlocked part of a push (parsing) and the second locked part (settling counts, positions and builders).
#include "engine/stream_engine.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "engine/stream_call.hpp"

namespace formatter {
namespace {

constexpr size_t open_builders_most = 64;   // a batch under construction costs its columns: many origins take turns
constexpr size_t spare_builders_most = 8;
constexpr size_t group_bytes = 256 << 10;   // of many buffers at once: looked at for quotes, then parsed while still cached
constexpr uint64_t text_limit = uint64_t(1) << 30;  // 32-bit offsets end at twice this

int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void add_counters(DecodeCounters& sum, const DecodeCounters& more) {
    sum.records += more.records;
    sum.rows += more.rows;
    sum.filtered += more.filtered;
    sum.rejected += more.rejected;
    sum.nulled += more.nulled;
}

}  // namespace

StreamEngine::StreamEngine(StreamOptions options) : options_(std::move(options)) {}

StreamEngine::~StreamEngine() {
    for (Builder* builder : idle_builders_) delete builder;
    for (Builder* builder : spare_builders_) delete builder;
}

PushResult StreamEngine::push(const PushedBuffer* buffers, size_t count) {
    std::vector<uint32_t> order(count);
    for (size_t i = 0; i < count; i++) order[i] = uint32_t(i);
    const auto before = [buffers](uint32_t a, uint32_t b) {
        return buffers[a].origin != buffers[b].origin ? buffers[a].origin < buffers[b].origin
                                                      : buffers[a].sequence < buffers[b].sequence;
    };
    if (!std::is_sorted(order.begin(), order.end(), before)) std::stable_sort(order.begin(), order.end(), before);
    PushResult result;
    for (size_t begin = 0, end = 0; begin < count && result.status == PushStatus::ok; begin = end) {
        for (size_t bytes = 0; end < count && (end == begin || bytes < group_bytes); end++) bytes += buffers[order[end]].size;
        push_group(buffers, order.data() + begin, end - begin, &result);
    }
    return result;
}

void StreamEngine::push_group(const PushedBuffer* buffers, const uint32_t* order, size_t count, PushResult* result) {
    const Framing& framing = options_.format.framing;
    std::vector<QuoteSummary> summaries(count);
    std::vector<FrameEnds> ends(count);
    for (size_t i = 0; i < count; i++) {
        const PushedBuffer& b = buffers[order[i]];
        if (gated()) summaries[i] = framing.summarize(b.data, b.size);
        else ends[i] = framing.ends_anywhere(b.data, b.size);
    }
    Call call;
    std::unique_lock<std::mutex> guard(lock_);
    quiet_.wait(guard, [this] { return !closed_gate_; });
    for (size_t i = 0; i < count; i++) {
        const PushStatus status = admit(buffers[order[i]], summaries[i], ends[i], false, call);
        if (status == PushStatus::duplicate && options_.ignore_duplicates) {
            counts_.duplicates++;
        } else if (status != PushStatus::ok) {
            result->status = status;
            result->refused = order[i];
            break;
        }
        result->taken++;
    }
    run(call, guard, result);
}

PushResult StreamEngine::lost(uint64_t origin, uint64_t sequence) {
    PushResult result;
    Call call;
    std::unique_lock<std::mutex> guard(lock_);
    quiet_.wait(guard, [this] { return !closed_gate_; });
    result.status = admit(PushedBuffer{origin, sequence, nullptr, 0}, QuoteSummary{}, FrameEnds{}, true, call);
    run(call, guard, &result);
    return result;
}

void StreamEngine::run(Call& call, std::unique_lock<std::mutex>& guard, PushResult* result) {
    if (gated())
        for (size_t i = 0; i < call.origins.size(); i++) {
            release_held(*call.origins[i], call);
            own_held(*call.origins[i]);
        }
    while (!call.jobs.empty()) {
        for (const Job& job : call.jobs) {
            job.origin->in_flight++;
            builder_for(*job.origin, call);
        }
        in_flight_++;
        guard.unlock();
        parse(call);
        guard.lock();
        for (const Job& job : call.jobs) job.origin->in_flight--;
        in_flight_--;
        settle(call, result);
        quiet_.notify_all();
        call.jobs.clear();
        call.owners.clear();
        if (!options_.ordered) break;
        // What other threads brought meanwhile for an origin that this one was decoding.
        for (size_t i = 0; i < call.origins.size(); i++) {
            call.origins[i]->busy = false;
            release_held(*call.origins[i], call);
        }
    }
    flush_idle(false, result);
}

void StreamEngine::parse(Call& call) {
    for (Job& job : call.jobs) job.spanning ? parse_spanning(job, call) : parse_own(job, call);
    for (auto& entry : call.builders) entry.second->decoder->materialize();
}

void StreamEngine::parse_own(Job& job, Call& call) {
    Builder& builder = *builder_for(*job.origin, call);
    RecordDecoder& decoder = *builder.decoder;
    const uint64_t ordinal = job.position == 1 ? 0 : after_spanning;
    decoder.place(Place{job.position, int64_t(job.offset), ordinal, job.stream_start});
    size_t done = 0;
    while (done < job.size) {
        const uint64_t room = options_.max_rows > decoder.rows() ? options_.max_rows - decoder.rows() : 0;
        const size_t used = room ? decoder.index(job.data + done, job.size - done, room) : 0;
        done += used;
        if (is_full(builder)) {
            decoder.materialize();
            if (is_full(builder)) export_builder(builder, &call.batches);
        } else if (used == 0) {
            break;  // the rest is no complete record: a header cut short
        }
    }
    job.records = decoder.records_placed();
    if (job.completes_buffer) builder.positions.push_back(job.position);
}

void StreamEngine::parse_spanning(Job& job, Call& call) {
    size_t size = 0;
    for (const auto& piece : job.pieces) size += piece.second;
    if (size == 0) return;
    OwnedBytes stitched;
    const uint8_t* bytes = job.pieces[0].first;
    if (job.pieces.size() > 1) {
        stitched.data.reset(new uint8_t[size]);
        stitched.size = size;
        size_t at = 0;
        for (const auto& piece : job.pieces) {
            std::memcpy(stitched.data.get() + at, piece.first, piece.second);
            at += piece.second;
        }
        bytes = stitched.data.get();
    }
    const int64_t begin = -int64_t(job.bytes_in_earlier);
    const bool too_long = size + job.let_go > options_.max_record_bytes;
    Builder& builder = *builder_for(*job.origin, call);
    if (job.lost || too_long) {
        RowError error;
        error.code = job.lost ? ErrorCode::lost : ErrorCode::record_too_long;
        error.sequence = job.position;
        error.byte_offset = begin;
        error.raw.assign(reinterpret_cast<const char*>(bytes), std::min<size_t>(size, 4096));
        error.found = error.raw.substr(0, 200);
        builder.decoder->counters.rejected++;
        call.add_error(job.origin, std::move(error));
        job.records = 1;
        return;
    }
    RecordDecoder& decoder = *builder.decoder;
    if (is_full(builder)) {
        decoder.materialize();
        export_builder(builder, &call.batches);
    }
    decoder.place(Place{job.position, begin, 0, job.stream_start});
    if (job.unterminated) decoder.index_unterminated(bytes, size);
    else decoder.index(bytes, size, options_.max_rows - decoder.rows());
    job.records = decoder.records_placed();
    if (stitched.data) call.owners.push_back(std::move(stitched));  // until the builder has materialized
}

void StreamEngine::settle(Call& call, PushResult* result) {
    for (const Job& job : call.jobs)
        if (!job.unterminated) tally(*job.origin, job);
    for (size_t i = 0; i < call.errors.size(); i++)
        call.error_origins[i]->work().errors.push_back(std::move(call.errors[i]));
    call.errors.clear();
    call.error_origins.clear();
    for (auto& entry : call.builders) {
        RecordDecoder& decoder = *entry.second->decoder;
        add_counters(counts_.decode, decoder.counters);
        decoder.counters = DecodeCounters{};
        counts_.values_decoded.resize(decoder.values_decoded.size());
        for (size_t i = 0; i < decoder.values_decoded.size(); i++) {
            counts_.values_decoded[i] += decoder.values_decoded[i];
            decoder.values_decoded[i] = 0;
        }
        for (RowError& error : decoder.errors) entry.first->work().errors.push_back(std::move(error));
        decoder.errors.clear();
    }
    for (FinishedBatch& batch : call.batches) result->batches.push_back(std::move(batch));
    call.batches.clear();
    for (auto& entry : call.builders) return_builder(*entry.first, entry.second, result);
    call.builders.clear();
    for (Origin* origin : call.origins) place_errors(*origin, result);
}

void StreamEngine::tally(Origin& origin, const Job& job) {
    Tally& t = origin.outstanding->tallies[job.position];
    t.records += job.records;
    if (job.spanning) t.span_records += job.records;
    if (t.waits) t.waits--;
}

// Positions become absolute, and errors certain, in stream order: everything before them has been counted.
void StreamEngine::place_errors(Origin& origin, PushResult* result) {
    if (!origin.outstanding) return;
    auto& tallies = origin.outstanding->tallies;
    std::vector<RowError>& errors = origin.outstanding->errors;
    while (!tallies.empty() && tallies.begin()->first == origin.tallied + 1 && tallies.begin()->second.waits == 0) {
        const uint64_t position = tallies.begin()->first;
        const Tally& t = tallies.begin()->second;
        const size_t placed_before = result->errors.size();
        for (size_t i = 0; i < errors.size();) {
            RowError& error = errors[i];
            if (error.sequence != position) {
                i++;
                continue;
            }
            error.byte_offset += int64_t(origin.bytes_before);
            const bool own = error.record & after_spanning;
            error.record = origin.records_before + (error.record & ~after_spanning) + (own ? t.span_records : 0);
            error.sequence = sequence_of(position);
            result->errors.push_back({origin.id, std::move(error)});
            std::swap(errors[i], errors.back());
            errors.pop_back();
        }
        std::sort(result->errors.begin() + long(placed_before), result->errors.end(),
                  [](const PlacedError& a, const PlacedError& b) { return a.error.record < b.error.record; });
        origin.bytes_before += t.bytes;
        origin.records_before += t.records;
        origin.tallied = position;
        tallies.erase(tallies.begin());
    }
    if (origin.outstanding->empty()) origin.outstanding.reset();
}

Builder* StreamEngine::builder_for(Origin& origin, Call& call) {
    for (auto& entry : call.builders)
        if (entry.first == &origin) return entry.second;
    // Only reached under the lock: run() asks for every origin of the call before it unlocks.
    Builder* builder = origin.builder;
    if (builder) {
        origin.builder = builder->next;
        idle_builders_.remove(builder);
    } else if (!spare_builders_.empty() && !origin.format) {
        builder = spare_builders_.back();
        spare_builders_.pop_back();
    } else {
        builder = new Builder;
        builder->format = origin.format;
        builder->decoder = (origin.format ? *origin.format : options_.format).make_decoder();
    }
    builder->next = nullptr;
    builder->origin = origin.id;
    if (builder->positions.empty()) builder->opened_ns = now_ns();
    call.builders.emplace_back(&origin, builder);
    return builder;
}

bool StreamEngine::is_full(const Builder& builder) const {
    return builder.decoder->rows() >= options_.max_rows || builder.decoder->byte_count() >= options_.max_batch_bytes ||
           builder.decoder->byte_count() >= text_limit;
}

void StreamEngine::return_builder(Origin& origin, Builder* builder, PushResult* result) {
    if (is_full(*builder)) export_builder(*builder, &result->batches);
    if (builder->decoder->rows() == 0 && builder->positions.empty()) return retire_builder(builder);
    builder->next = origin.builder;
    origin.builder = builder;
    idle_builders_.push_back(builder);
}

void StreamEngine::retire_builder(Builder* builder) {
    if (spare_builders_.size() < spare_builders_most && !builder->format) spare_builders_.push_back(builder);
    else delete builder;
}

void StreamEngine::export_builder(Builder& builder, std::vector<FinishedBatch>* out) const {
    FinishedBatch batch;
    batch.origin = builder.origin;
    std::sort(builder.positions.begin(), builder.positions.end());
    uint64_t previous = 0;
    for (uint64_t position : builder.positions) {
        const uint64_t sequence = sequence_of(position);
        if (!batch.spans.empty() && position == previous + 1 && sequence != 1) batch.spans.back().last = sequence;
        else batch.spans.push_back({sequence, sequence});
        previous = position;
    }
    builder.positions.clear();
    builder.opened_ns = now_ns();
    builder.decoder->export_batch(&batch.array);
    out->push_back(std::move(batch));
}

void StreamEngine::flush_idle(bool all, PushResult* result) {
    const int64_t now = options_.max_latency_ns >= 0 || all ? now_ns() : 0;
    for (auto it = idle_builders_.begin(); it != idle_builders_.end();) {
        Builder* builder = *it;
        const bool late = options_.max_latency_ns >= 0 && now - builder->opened_ns >= options_.max_latency_ns;
        if (!all && !late && idle_builders_.size() <= open_builders_most) {
            ++it;
            continue;
        }
        Origin& origin = origins_.at(builder->origin);
        for (Builder** link = &origin.builder; *link; link = &(*link)->next)
            if (*link == builder) {
                *link = builder->next;
                break;
            }
        it = idle_builders_.erase(it);
        export_builder(*builder, &result->batches);
        retire_builder(builder);
    }
}

PushResult StreamEngine::flush(bool all) {
    PushResult result;
    std::unique_lock<std::mutex> guard(lock_);
    flush_idle(all, &result);
    return result;
}

PushResult StreamEngine::finish(uint64_t id, bool use_last, uint64_t last_sequence) {
    PushResult result;
    Call call;
    std::unique_lock<std::mutex> guard(lock_);
    Origin& origin = origin_of(id);
    quiet_.wait(guard, [&] { return origin.in_flight == 0 && !closed_gate_; });
    if (origin.outstanding && !origin.outstanding->held.empty() && origin.outstanding->held.begin()->first == 1 &&
        !origin.finished && options_.format.has_header && !origin.header_read) {
        header_known(origin, true, call);  // a header that the end of the stream terminates
        run(call, guard, &result);
        quiet_.wait(guard, [&] { return origin.in_flight == 0; });
    }
    if (origin.finished) {
        result.status = PushStatus::finished;
        return result;
    }
    uint64_t highest = origin.ring.highest();
    if (origin.outstanding && !origin.outstanding->held.empty())
        highest = std::max(highest, origin.outstanding->held.rbegin()->first);
    const uint64_t last = use_last ? (last_sequence ? position_of(origin, last_sequence) : 0) : highest;
    if (last < highest) {
        result.status = PushStatus::beyond;
        result.holes.push_back({sequence_of(last + 1), sequence_of(highest)});
        return result;
    }
    result.holes = missing(origin, last);
    if (!result.holes.empty()) {
        result.status = PushStatus::hole;
        return result;
    }
    Claims claims{};
    origin.ring.finish(last, claims);
    for (uint32_t i = 0; i < claims.count; i++)
        claim(origin, claims.spans[i], 0, Held{}, FrameEnds{}, true, call);
    for (Job& job : call.jobs) {
        counts_.spanning--;  // an unterminated last record is not one more that spans
        job.bytes_in_earlier = job.let_go;
        for (const auto& piece : job.pieces) job.bytes_in_earlier += piece.second;
    }
    call.touch(origin);
    origin.finished = true;
    run(call, guard, &result);
    // Every buffer has been tallied: what the last record reported is relative to the stream's end.
    if (origin.outstanding) {
        for (RowError& error : origin.outstanding->errors) {
            error.byte_offset += int64_t(origin.bytes_before);
            error.record = origin.records_before + (error.record & ~after_spanning);
            error.sequence = sequence_of(last);
            result.errors.push_back({origin.id, std::move(error)});
        }
        origin.outstanding.reset();
    }
    for (Builder* builder = origin.builder; builder;) {
        Builder* next = builder->next;
        idle_builders_.remove(builder);
        export_builder(*builder, &result.batches);
        retire_builder(builder);
        builder = next;
    }
    origin.builder = nullptr;
    return result;
}

StreamCounts StreamEngine::counts() {
    std::lock_guard<std::mutex> guard(lock_);
    StreamCounts counts = counts_;
    counts.origins = origins_.size();
    counts.open_batches = idle_builders_.size();
    for (const auto& entry : origins_)
        if (entry.second.outstanding)
            counts.pending_buffers += entry.second.outstanding->held.size() + entry.second.outstanding->fragments.size();
    return counts;
}

std::vector<uint64_t> StreamEngine::open_origins() {
    std::lock_guard<std::mutex> guard(lock_);
    std::vector<uint64_t> open;
    for (const auto& entry : origins_)
        if (!entry.second.finished) open.push_back(entry.first);
    std::sort(open.begin(), open.end());
    return open;
}

}  // namespace formatter
