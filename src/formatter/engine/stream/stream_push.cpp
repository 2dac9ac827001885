// A call from its begin to its end. In: buffers, or word that one is lost or that an origin ends. Out: what became of them.
// Takes the other parts of a push in turn, and the lock for those that need it. Refuses to know what each does.
#include <algorithm>

#include "engine/stream/stream_change.hpp"

namespace formatter {
namespace {

constexpr uint64_t bulk_bytes = 1 << 20;  // a call that brings so much will soon fill a batch
// A round is admitted, then parsed: long enough to share the work between, short enough for the others at the lock.
constexpr size_t round_buffers = sized<size_t>(4096, 2);
constexpr size_t round_bytes =
    sized<size_t>(256 << 10, 8);  // what was taken in is still in the cache when it is parsed
constexpr size_t round_origins = sized<size_t>(32, 2);

struct Presence {  // of a call that brings buffers
    Atomic<uint32_t>& calls;
    explicit Presence(Atomic<uint32_t>& calls) : calls(calls) { calls.fetch_add(1); }
    ~Presence() { calls.fetch_sub(1); }
};

// Indices by origin and sequence; of the same sequence twice, in the order given.
std::vector<uint32_t> in_stream_order(const PushedBuffer* buffers, size_t count) {
    std::vector<uint32_t> order(count);
    uint64_t low = ~uint64_t(0), high = 0;
    bool sorted = true, one_origin = true;
    for (size_t i = 0; i < count; i++) {
        order[i] = uint32_t(i);
        low = std::min(low, buffers[i].sequence);
        high = std::max(high, buffers[i].sequence);
        one_origin &= buffers[i].origin == buffers[0].origin;
        if (i) sorted &= buffers[i - 1].origin == buffers[i].origin && buffers[i - 1].sequence <= buffers[i].sequence;
    }
    if (sorted) return order;
    if (one_origin && high - low < 2 * count) {  // nearly without holes: each to its place
        constexpr uint32_t none = ~uint32_t(0);
        std::vector<uint32_t> places(high - low + 1, none);
        bool twice = false;
        for (size_t i = 0; i < count; i++) {
            uint32_t& place = places[buffers[i].sequence - low];
            twice |= place != none;
            place = uint32_t(i);
        }
        if (!twice) {
            order.clear();
            for (uint32_t index : places)
                if (index != none) order.push_back(index);
            return order;
        }
    }
    std::stable_sort(order.begin(), order.end(), [buffers](uint32_t a, uint32_t b) {
        return buffers[a].origin != buffers[b].origin ? buffers[a].origin < buffers[b].origin
                                                      : buffers[a].sequence < buffers[b].sequence;
    });
    return order;
}

}  // namespace

StreamEngine::StreamEngine(StreamOptions options) : options_(std::move(options)) {
    auto plan = std::make_shared<StreamPlan>();
    plan->format = options_.format;
    plan_ = std::move(plan);
    begin_watch();
}

StreamEngine::~StreamEngine() { end_watch(); }

void StreamEngine::close(StreamClosed why) {
    const Guard guard(lock_);
    closed_ = why;
    quiet_.notify_all();
}

// What other threads had in their hands the child will never see.
void StreamEngine::after_fork(bool in_child) {
    if (in_child && (in_flight_ || pushing_ || closed_gate_)) closed_ = StreamClosed::forked;
    lock_.unlock();
}

PushResult StreamEngine::push(const PushedBuffer* buffers, size_t count, bool append) {
    const std::vector<uint32_t> order = in_stream_order(buffers, count);
    PushResult result;
    StreamCall call;
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) total += buffers[i].size;
    if (total >= bulk_bytes) call.expected_bytes = total;
    const Presence presence(pushing_);
    Guard guard(lock_, std::defer_lock);
    Change change(*this, guard);
    for (size_t begin = 0; begin < count && result.status == PushStatus::ok;) {
        const uint32_t* const next = order.data() + begin;
        const size_t leading = append ? 0 : leading_buffers(buffers, next, count - begin);
        if (leading) change.begin();
        if (leading && push_leading(buffers, next, leading, call, guard, &result)) {
            begin += leading;
        } else {
            size_t size = 0, bytes = 0;
            while (begin + size < count && size < round_buffers && bytes < round_bytes)
                bytes += buffers[next[size++]].size;
            take_in(buffers, next, size, call);
            change.begin();
            lock_open(guard);
            wait_until(guard, [this] { return !closed_gate_; });
            begin += admit_round(append, call, guard, &result);
            run(call, guard, &result);
        }
        if (result.status != PushStatus::ok) result.not_taken.assign(order.begin() + ptrdiff_t(begin), order.end());
        // Not between rounds: rows leave when the call returns in any case, and a batch that this call goes on filling
        // would be cut short.
        if (begin == count || result.status != PushStatus::ok) leave(&result);
        guard.unlock();
    }
    return result;
}

// How many of the round's buffers are taken: those before one that is refused.
size_t StreamEngine::admit_round(bool append, StreamCall& call, Guard& guard, PushResult* result) {
    for (size_t i = 0; i < call.round.size(); i++) {
        const ArrivedBuffer& arrived = call.round[i];
        const PushedBuffer& b = arrived.buffer;
        if (call.origins.size() >= round_origins && call.origins.back()->id != b.origin) run(call, guard, result);
        uint64_t position = 0;
        PushStatus status = PushStatus::ok;
        if (append)
            result->appended = options_.sequence_of(position = next_position(origin_of(b.origin)));
        else
            status = locate(b.origin, b.sequence, &position);
        if (status == PushStatus::ok) status = admit(arrived, position, false, call);
        if (status == PushStatus::pending_limit && call.run.origin) {  // what waits may be ready by now
            run(call, guard, result);
            status = admit(arrived, position, false, call);
        }
        if (status == PushStatus::duplicate && options_.ignore_duplicates) {
            counts_.duplicates++;
        } else if (status != PushStatus::ok) {
            result->status = status;
            return i;
        }
    }
    return call.round.size();
}

PushResult StreamEngine::lost(uint64_t id, uint64_t sequence) {
    PushResult result;
    StreamCall call;
    Guard guard(lock_);
    Change change(*this, guard);
    change.begin();
    wait_until(guard, [this] { return !closed_gate_; });
    uint64_t position = 0;
    result.status = locate(id, sequence, &position);
    if (result.status == PushStatus::ok)
        result.status = admit(ArrivedBuffer{{id, sequence, nullptr, 0}, {}, {}}, position, true, call);
    if (result.status == PushStatus::duplicate && options_.ignore_duplicates) {  // it came, or was given up before
        result.status = PushStatus::ok;
        counts_.duplicates++;
    }
    run(call, guard, &result);
    leave(&result);
    return result;
}

// Parses what the call has gathered, without the lock. On return the call is empty again.
void StreamEngine::run(StreamCall& call, Guard& guard, PushResult* result) {
    close_run(call);
    if (call.jobs.empty()) {  // nothing but waiting buffers: help with what others have made ready
        for (size_t i = 0; i < call.origins.size(); i++) release_held(*call.origins[i], call);
        close_run(call);
    }
    while (!call.jobs.empty()) {
        parse_unlocked(call, guard);
        settle(call, result);
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

void StreamEngine::parse_unlocked(StreamCall& call, Guard& guard) {
    for (const auto& job : call.jobs) {
        job->builder = builder_for(*job->origin, call);
        job->origin->in_flight++;
    }
    in_flight_++;
    guard.unlock();
    parse(call);
    lock_open(guard);
    for (const auto& job : call.jobs) job->origin->in_flight--;
    in_flight_--;
}

void StreamEngine::leave(PushResult* result) {
    flush_idle(Flush::late, result);
    number_batches(result);
}

PushResult StreamEngine::flush(bool all) {
    PushResult result;
    Guard guard(lock_);
    Change change(*this, guard);
    change.begin();
    check_open();
    flush_idle(all ? Flush::all : Flush::late, &result);
    number_batches(&result);
    return result;
}

PushResult StreamEngine::finish(uint64_t id, bool use_last, uint64_t last_sequence) {
    PushResult result;
    StreamCall call;
    Guard guard(lock_);
    Change change(*this, guard);
    change.begin();
    check_open();
    Origin& origin = origin_of(id);
    const RecordEnding& ending = options_.format.ending;
    // A call that decodes it may be parsing another one's buffers just now: those of this one wait for it.
    const auto at_rest = [&] { return origin.in_flight == 0 && !origin.busy; };
    wait_until(guard, [&] { return at_rest() && !closed_gate_; });
    if (origin.finished) {
        result.status = PushStatus::finished;
        return result;
    }
    const uint64_t highest = next_position(origin) - 1;
    const uint64_t last = use_last ? (last_sequence ? position_of(origin, last_sequence) : 0) : highest;
    if (last < highest) {
        result.status = PushStatus::beyond;
        result.holes.push_back({options_.sequence_of(last + 1), options_.sequence_of(highest)});
        return result;
    }
    result.holes = missing(origin, last);
    if (!result.holes.empty()) {
        result.status = PushStatus::hole;
        return result;
    }
    origin.finished = true;
    counts_.finished++;
    if (ending.looks_ahead()) settle_rest(origin, call, guard, &result);
    origin.work();  // unfolded before the ring moves on
    if (origin.preamble_open) end_preamble(origin);
    Claims claims{};
    origin.ring.finish(last, claims);
    const bool end_matters = ending.checks_end() && ending.scanner->has_begun(origin.state);
    for (uint32_t i = 0; i < claims.count; i++) {
        auto job = claim_unterminated(origin, claims.spans[i], call);
        if (job->bytes || end_matters) call.jobs.push_back(std::move(job));
    }
    call.touch(origin);
    run(call, guard, &result);
    if (origin.outstanding) {  // every buffer has been tallied: the end of all, which this is counted from, is certain
        place_findings(origin, Tally{}, &origin.outstanding->last_findings, &result);
        origin.outstanding.reset();
    }
    finish_builders(origin, &result);
    leave(&result);
    return result;
}

StreamCounts StreamEngine::counts() {
    const Guard guard(lock_);
    StreamCounts counts = counts_;
    counts.origins = origins_.size();
    counts.open_batches = idle_builders_.size();
    return counts;
}

StreamProgress StreamEngine::progress() {
    const Guard guard(lock_);
    return {counts_.batches, origins_.size() - counts_.finished};
}

std::vector<uint64_t> StreamEngine::open_origins() {
    const Guard guard(lock_);
    std::vector<uint64_t> open;
    for (const auto& entry : origins_)
        if (!entry.second.finished) open.push_back(entry.first);
    std::sort(open.begin(), open.end());
    return open;
}

}  // namespace formatter
