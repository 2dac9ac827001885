// What can be done for a buffer before the lock is taken: copied to memory of ours, its quotes counted, its record ends
// found. In: the buffers of a round. Out: where their bytes lie and what is known of them. Knows no origins' state.
#include <algorithm>

#include "engine/stream/stream_engine.hpp"

namespace formatter {
namespace {

constexpr size_t in_place_bytes =
    sized<size_t>(1 << 20, 8);  // larger buffers stay where they are: a copy of them would leave the cache
constexpr size_t stateless_in_place =
    sized<size_t>(16 << 10, 4);  // nothing is to be counted: copying pays for small ones only
constexpr size_t headroom = 4 << 10;  // for the record that began before: it is parsed in one go with the buffer
constexpr size_t ahead_bytes = 4 << 10;
constexpr size_t headroom_from = sized<size_t>(16 << 10, 4);

}  // namespace

// A round's buffers come to lie one behind the other, so that parsing finds one stretch of bytes; those that have to
// wait need no copy under the lock; and the pass over memory that counting takes anyway copies at no cost.
void StreamEngine::take_in(const PushedBuffer* buffers, const uint32_t* order, size_t count, StreamCall& call) const {
    const RecordEnding& ending = options_.format.ending;
    const size_t most = options_.in_order() ? in_place_bytes : count > 1 ? stateless_in_place : 0;
    size_t total = 0;
    for (size_t i = 0; i < count; i++) total += buffers[order[i]].size < most ? buffers[order[i]].size : 0;
    const size_t before = total >= headroom_from ? headroom : 0;
    if (total) call.block.reserve(before + total, 0);
    call.alone = count == 1 && total;
    call.round.resize(count);
    size_t filled = before;
    for (size_t i = 0; i < count; i++) {
        ArrivedBuffer& arrived = call.round[i];
        arrived.buffer = buffers[order[i]];
        PushedBuffer& b = arrived.buffer;
        if (b.size && b.size < most) {
            const bool more = i + 1 < count && buffers[order[i + 1]].size < most;
            const PushedBuffer& next = buffers[order[more ? i + 1 : i]];
            const bool far = !more && b.size > ahead_bytes;  // the last one is asked for a little ahead of itself
            uint8_t* copy = call.block.data() + filled;
            const uint8_t* ahead = more ? next.data : b.data + (far ? ahead_bytes : 0);
            const size_t ahead_size = more ? next.size : far ? b.size - ahead_bytes : 0;
            ending.copy_noting(copy, b.data, b.size, ahead, ahead_size, &arrived.notes);
            b.data = copy;
            b.before = filled == before ? before : 0;
            filled += b.size;
        } else if (options_.in_order()) {
            ending.note(b.data, b.size, &arrived.notes);
        }
        if (!options_.in_order()) arrived.ends = ending.ends_anywhere(b.data, b.size);
    }
    call.block.size = total ? filled : 0;
}

}  // namespace formatter
