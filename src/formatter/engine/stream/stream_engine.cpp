// The unlocked part of a push (parsing) and the second locked part (settling counts, positions and builders).
#include "engine/stream/stream_engine.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "engine/threads/patient_lock.hpp"
#include "engine/stream/stream_call.hpp"

namespace formatter {
namespace {

constexpr size_t open_builders_most = 64;   // a batch under construction costs its columns: many origins take turns
constexpr size_t large_builders_most = 4;
constexpr uint64_t bulk_bytes = 1 << 20;  // who brings that much at once will soon fill a batch
constexpr uint64_t telling_bytes = 256 << 10;  // of a batch: enough to guess the rest by
constexpr uint64_t telling_bytes_most = 64 << 20;  // but not to ask for any amount of memory
constexpr size_t spare_builders_most = 8;
// A round is admitted, then parsed: long enough to share the work between, short enough for the others at the lock.
constexpr size_t round_buffers = 4096;
constexpr size_t round_bytes = 256 << 10;  // what was taken in is still in the cache when it is parsed
constexpr size_t round_origins = 32;
constexpr uint64_t text_limit = uint64_t(1) << 30;  // 32-bit offsets end at twice this

int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

void add_counters(DecodeCounters& sum, const DecodeCounters& more) {
    sum.records += more.records;
    sum.rows += more.rows;
    sum.filtered += more.filtered;
    sum.rejected += more.rejected;
    sum.nulled += more.nulled;
}

}  // namespace

StreamEngine::StreamEngine(StreamOptions options) : options_(std::move(options)) {
    auto plan = std::make_shared<StreamPlan>();
    plan->format = options_.format;
    plan_ = std::move(plan);
}

StreamEngine::~StreamEngine() {
    for (Builder* builder : idle_builders_) delete builder;
    for (Builder* builder : spare_builders_) delete builder;
}

PushResult StreamEngine::push(const PushedBuffer* buffers, size_t count, bool append) {
    const std::vector<uint32_t> order = in_stream_order(buffers, count);
    PushResult result;
    Call call;
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) total += buffers[i].size;
    if (total >= bulk_bytes) call.expected_bytes = total;
    std::unique_lock<std::mutex> guard(lock_, std::defer_lock);
    struct Presence {
        std::atomic<uint32_t>& calls;
        explicit Presence(std::atomic<uint32_t>& calls) : calls(calls) { calls.fetch_add(1); }
        ~Presence() { calls.fetch_sub(1); }
    } presence(pushing_);
    for (size_t begin = 0; begin < count && result.status == PushStatus::ok;) {
        const size_t leading = append ? 0 : leading_buffers(buffers, order.data() + begin, count - begin);
        if (leading && push_leading(buffers, order.data() + begin, leading, call, &result)) {
            begin += leading;
            if (begin < count) continue;
            guard.lock();
            flush_idle(Flush::late, &result);
            number_batches(&result);
            return result;
        }
        size_t end = begin, bytes = 0;
        while (end < count && end - begin < round_buffers && bytes < round_bytes) bytes += buffers[order[end++]].size;
        take_in(buffers, order.data() + begin, end - begin, call);
        take_soon(guard);
        quiet_.wait(guard, [this] { return !closed_gate_; });
        size_t i = begin;
        for (; i < end; i++) {
            const Arrived& arrived = call.round[i - begin];
            const PushedBuffer& b = arrived.buffer;
            if (call.origins.size() >= round_origins && call.origins.back()->id != b.origin) run(call, guard, &result);
            PushStatus status = PushStatus::ok;
            uint64_t position = 0;
            if (append) {
                position = next_position(origin_of(b.origin));
                result.appended = sequence_of(position);
            } else if (b.sequence == 0) {
                status = PushStatus::zero;
            } else if (options_.max_sequence && b.sequence > options_.max_sequence) {
                status = PushStatus::out_of_range;
            } else {
                position = position_of(origin_of(b.origin), b.sequence);
            }
            if (status == PushStatus::ok) status = admit(arrived, position, false, call);
            if (status == PushStatus::pending_limit && call.run.origin) {  // what waits may be ready by now
                run(call, guard, &result);
                status = admit(arrived, position, false, call);
            }
            if (status == PushStatus::duplicate && options_.ignore_duplicates) {
                counts_.duplicates++;
            } else if (status != PushStatus::ok) {
                result.status = status;
                result.not_taken.assign(order.begin() + long(i), order.end());
                break;
            }
        }
        run(call, guard, &result);
        // Not between rounds: rows leave when the call returns in any case, and a batch that this call goes on filling
        // would be cut short.
        if (end == count || result.status != PushStatus::ok) {
            flush_idle(Flush::late, &result);
            number_batches(&result);
        }
        guard.unlock();
        begin = end;
    }
    return result;
}

PushResult StreamEngine::lost(uint64_t id, uint64_t sequence) {
    PushResult result;
    Call call;
    std::unique_lock<std::mutex> guard(lock_);
    quiet_.wait(guard, [this] { return !closed_gate_; });
    if (sequence == 0)
        result.status = PushStatus::zero;
    else if (options_.max_sequence && sequence > options_.max_sequence)
        result.status = PushStatus::out_of_range;
    else
        result.status =
            admit(Arrived{{id, sequence, nullptr, 0}, 0, {}}, position_of(origin_of(id), sequence), true, call);
    run(call, guard, &result);
    flush_idle(Flush::late, &result);
    number_batches(&result);
    return result;
}

uint64_t StreamEngine::next_position(const Origin& origin) const {
    uint64_t highest = origin.ring.highest();
    if (origin.outstanding && !origin.outstanding->held.empty())
        highest = std::max(highest, origin.outstanding->held.rbegin()->first);
    if (origin.outstanding) highest = std::max(highest, origin.outstanding->led_to);
    return highest + 1;
}

// Parses what the call has gathered, without the lock. On return the call is empty again.
void StreamEngine::run(Call& call, std::unique_lock<std::mutex>& guard, PushResult* result) {
    close_run(call);
    if (call.jobs.empty()) {  // nothing but waiting buffers: help with what others have made ready
        for (size_t i = 0; i < call.origins.size(); i++) release_held(*call.origins[i], call);
        close_run(call);
    }
    while (!call.jobs.empty()) {
        for (Job& job : call.jobs) {
            job.builder = builder_for(*job.origin, call);
            job.origin->in_flight++;
        }
        in_flight_++;
        guard.unlock();
        parse(call);
        take_soon(guard);
        for (const Job& job : call.jobs) job.origin->in_flight--;
        in_flight_--;
        settle(call, result);
        call.jobs.clear();
        call.owners.clear();
        // What other calls brought meanwhile for an origin that this one was decoding.
        for (size_t i = 0; i < call.origins.size(); i++) release_held(*call.origins[i], call);
        close_run(call);
    }
    for (Origin* origin : call.decoding) origin->busy = false;
    call.decoding.clear();
    for (Origin* origin : call.origins) counts_.pending_buffers -= origin->fold();
    call.origins.clear();
    flush_idle(Flush::surplus, result);
    number_batches(result);
    quiet_.notify_all();
}

void StreamEngine::settle(Call& call, PushResult* result) {
    for (const Job& job : call.jobs) {
        if (job.parts == 0) continue;
        Tally& t = job.origin->outstanding->tallies[job.run_first];
        t.records += job.records;
        if (job.spanning) t.span_records += job.records;
        t.waits -= job.parts;
    }
    for (auto& entry : call.builders) {
        RecordDecoder& decoder = *entry.second->decoder;
        add_counters(counts_.decode, decoder.counters);
        decoder.counters = DecodeCounters{};
        const StreamPlan& plan = *entry.second->plan;
        for (size_t i = 0; i < decoder.values_decoded.size(); i++) {
            const size_t column = plan.column(i);
            if (counts_.values_decoded.size() <= column) counts_.values_decoded.resize(column + 1);
            counts_.values_decoded[column] += decoder.values_decoded[i];
            decoder.values_decoded[i] = 0;
        }
        for (RowError& error : decoder.errors) {
            if (error.column >= 0) error.column = int32_t(plan.column(size_t(error.column)));
            Outstanding& work = entry.first->work();
            auto run = work.tallies.upper_bound(error.sequence);
            if (run == work.tallies.begin())
                work.last_errors.push_back(std::move(error));
            else
                (--run)->second.errors.push_back(std::move(error));
        }
        decoder.errors.clear();
    }
    for (const Job& job : call.jobs) join_tallies(*job.origin, job.run_first);
    for (FinishedBatch& batch : call.batches) result->batches.push_back(std::move(batch));
    call.batches.clear();
    for (auto& entry : call.builders) return_builder(*entry.first, entry.second, result);
    call.builders.clear();
    number_batches(result);
    for (Origin* origin : call.origins) place_errors(*origin, result);
}

// What is known of neighbouring runs is kept as one: it waits for what came before them, which may be long.
void StreamEngine::join_tallies(Origin& origin, uint64_t run_first) {
    auto& tallies = origin.outstanding->tallies;
    const auto done = [](const Tally& t) { return t.waits == 0 && t.errors.empty(); };
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

// Positions become absolute, and errors certain, in stream order: everything before them has been counted.
void StreamEngine::place_errors(Origin& origin, PushResult* result) {
    if (!origin.outstanding) return;
    auto& tallies = origin.outstanding->tallies;
    uint64_t& tallied = origin.outstanding->tallied;
    while (!tallies.empty() && tallies.begin()->first == tallied + 1 && tallies.begin()->second.waits == 0) {
        Tally& t = tallies.begin()->second;
        for (RowError& error : t.errors) {
            const bool own = error.record & after_spanning, open = error.record & at_run_end;
            error.byte_offset += int64_t(origin.bytes_before + (open ? t.bytes : 0));
            error.record = origin.records_before + (error.record & ~(after_spanning | at_run_end)) +
                           (own ? t.span_records : 0) + (open ? t.records : 0);
            error.sequence = sequence_of(error.sequence);
        }
        std::stable_sort(t.errors.begin(), t.errors.end(),
                         [](const RowError& a, const RowError& b) { return a.record < b.record; });
        for (RowError& error : t.errors) result->errors.push_back({origin.id, std::move(error)});
        origin.bytes_before += t.bytes;
        origin.records_before += t.records;
        tallied = t.last;
        tallies.erase(tallies.begin());
        tally_count_--;
    }
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
        builder->plan = plan_;
        builder->format = origin.format;
        builder->decoder = (origin.format ? *origin.format : plan_->format).make_decoder();
    }
    if (builder->format != origin.format) {  // opened before the header had come: it has no rows yet
        builder->format = origin.format;
        builder->decoder = origin.format->make_decoder();
    }
    builder->next = nullptr;
    builder->origin = origin.id;
    if (builder->covered.empty() && options_.max_latency_ns >= 0) builder->opened_ns = now_ns();
    // Few batches are open: room for a full one is made at once. With many it would be too much memory.
    builder->large = idle_builders_.size() < large_builders_most;
    if (builder->covered.empty() && builder->decoder->rows() == 0) {
        builder->bytes = 0;
        builder->expected = false;
        if (builder->large) builder->decoder->expect(expected_bytes(call));
    }
    // Of the first batch nothing is known when it is opened, but by now what it has grown to says how large it will be.
    if (builder->large && !typical_bytes_ && builder->bytes >= telling_bytes && !builder->expected) {
        const uint64_t rows = std::max<uint64_t>(builder->decoder->rows(), 1);
        const uint64_t bytes = std::max<uint64_t>(builder->decoder->byte_count(), 1);
        const double share =
            std::min(double(options_.max_rows) / double(rows), double(options_.max_batch_bytes) / double(bytes));
        const double whole = std::min(share * double(builder->bytes), double(telling_bytes_most));
        if (whole > double(builder->bytes)) builder->decoder->expect(uint64_t(whole) - builder->bytes);
        builder->expected = true;
    }
    builder->plan->held++;
    call.builders.emplace_back(&origin, builder);
    return builder;
}

// What a batch that is opened now will probably hold: as much as the last one, and what this call brings. Of the first
// one nothing is known but that who brings so much at once will bring more.
uint64_t StreamEngine::expected_bytes(const Call& call) const {
    if (typical_bytes_) return std::max(typical_bytes_, std::min(call.expected_bytes, options_.max_batch_bytes));
    return std::min(4 * call.expected_bytes, options_.max_batch_bytes);
}

bool StreamEngine::is_full(const Builder& builder) const {
    return builder.decoder->rows() >= options_.max_rows || builder.decoder->byte_count() >= options_.max_batch_bytes ||
           builder.decoder->byte_count() >= text_limit;
}

void StreamEngine::return_builder(Origin& origin, Builder* builder, PushResult* result) {
    builder->plan->held--;
    if (builder->full_bytes) typical_bytes_ = builder->full_bytes;
    if (is_full(*builder)) {
        typical_bytes_ = builder->bytes;
        export_builder(*builder, &result->batches);
    }
    const bool outdated = builder->plan != plan_;
    if (outdated && (builder->decoder->rows() || !builder->covered.empty())) export_builder(*builder, &result->batches);
    if (builder->decoder->rows() == 0 && builder->covered.empty()) return retire_builder(builder);
    builder->next = origin.builder;
    origin.builder = builder;
    idle_builders_.push_back(builder);
}

void StreamEngine::retire_builder(Builder* builder) {
    if (spare_builders_.size() < spare_builders_most && !builder->format && builder->plan == plan_)
        spare_builders_.push_back(builder);
    else
        delete builder;
}

void StreamEngine::export_builder(Builder& builder, std::vector<FinishedBatch>* out) const {
    FinishedBatch batch;
    batch.origin = builder.origin;
    batch.plan = builder.plan;
    std::sort(builder.covered.begin(), builder.covered.end(),
              [](const SequenceSpan& a, const SequenceSpan& b) { return a.first < b.first; });
    uint64_t previous = 0;
    for (SequenceSpan span : builder.covered) {
        for (uint64_t first = span.first; first <= span.last;) {
            // A span ends where sequences wrap.
            uint64_t last = span.last;
            if (options_.max_sequence) last = std::min(last, first + (options_.max_sequence - sequence_of(first)));
            const bool joins = !batch.spans.empty() && first == previous + 1 && sequence_of(first) != 1;
            if (joins)
                batch.spans.back().last = sequence_of(last);
            else
                batch.spans.push_back({sequence_of(first), sequence_of(last)});
            previous = last;
            first = last + 1;
        }
    }
    builder.covered.clear();
    if (options_.max_latency_ns >= 0) builder.opened_ns = now_ns();
    builder.decoder->export_batch(&batch.array);
    out->push_back(std::move(batch));
}

void StreamEngine::flush_idle(Flush which, PushResult* result) {
    const bool timed = options_.max_latency_ns >= 0 && which != Flush::surplus;
    const int64_t now = timed ? now_ns() : 0;
    for (auto it = idle_builders_.begin(); it != idle_builders_.end();) {
        Builder* builder = *it;
        const bool late = timed && now - builder->opened_ns >= options_.max_latency_ns;
        if (which != Flush::all && !late && idle_builders_.size() <= open_builders_most) {
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
        if (builder->large) typical_bytes_ = builder->bytes;
        export_builder(*builder, &result->batches);
        retire_builder(builder);
    }
}

void StreamEngine::number_batches(PushResult* result) {
    for (; result->numbered < result->batches.size(); result->numbered++)
        result->batches[result->numbered].number = counts_.batches++;
}

PushResult StreamEngine::flush(bool all) {
    PushResult result;
    std::unique_lock<std::mutex> guard(lock_);
    flush_idle(all ? Flush::all : Flush::late, &result);
    number_batches(&result);
    return result;
}

PushResult StreamEngine::finish(uint64_t id, bool use_last, uint64_t last_sequence) {
    PushResult result;
    Call call;
    std::unique_lock<std::mutex> guard(lock_);
    Origin& origin = origin_of(id);
    quiet_.wait(guard, [&] { return origin.in_flight == 0 && !closed_gate_; });
    if (origin.finished) {
        result.status = PushStatus::finished;
        return result;
    }
    const uint64_t highest = next_position(origin) - 1;
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
    origin.work();  // unfolded before the ring moves on
    Claims claims{};
    origin.ring.finish(last, claims);
    for (uint32_t i = 0; i < claims.count; i++) {
        Job job;
        claim(origin, claims.spans[i], nullptr, true, call, &job);
        job.offset = -int64_t(job.bytes + job.let_go);
        const Framing& framing = options_.format.framing;
        const bool end_matters = framing.checks_end() && framing.scanner->has_begun(origin.state);
        if (job.bytes || end_matters) call.jobs.push_back(std::move(job));
    }
    call.touch(origin);
    origin.finished = true;
    counts_.finished++;
    origin.preamble_open = false;
    run(call, guard, &result);
    // Every buffer has been tallied: what the last record reported is relative to the stream's end.
    if (origin.outstanding) {
        for (RowError& error : origin.outstanding->last_errors) {
            error.byte_offset += int64_t(origin.bytes_before);
            error.record += origin.records_before;
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
    flush_idle(Flush::late, &result);
    number_batches(&result);
    return result;
}

StreamCounts StreamEngine::counts() {
    std::lock_guard<std::mutex> guard(lock_);
    StreamCounts counts = counts_;
    counts.origins = origins_.size();
    counts.open_batches = idle_builders_.size();
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
