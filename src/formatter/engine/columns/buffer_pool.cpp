#include "engine/columns/buffer_pool.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

namespace formatter {
namespace {

constexpr size_t smallest_class = 1024;
constexpr int class_count = 40;                       // smallest_class << 39 is more than any machine has
constexpr size_t idle_limit = size_t(512) << 20;      // beyond this, returned blocks go back to the system
constexpr size_t huge_page = size_t(2) << 20;
constexpr size_t colour_step = 4096 + 64;  // another page and another line
constexpr unsigned colours = 32;

struct Pool {
    std::mutex lock;
    std::vector<uint8_t*> idle[class_count];
    uint64_t last_use[class_count] = {};  // the number of the request that last asked for the class
    uint64_t requests = 0;
    PoolStats stats{};
};

Pool& pool() {
    // Never destroyed: Arrow consumers may release batches while the process exits.
    static Pool* instance = new Pool;
    return *instance;
}

int class_of(size_t size) {
    if (size <= smallest_class) return 0;
    return 64 - __builtin_clzll((size - 1) / smallest_class);
}

// Huge blocks would all begin at the same place of a cache's sets, and the columns of a batch, written at about the same
// distance from their begins, would push each other out. They begin a few lines apart instead.
size_t next_colour() {
    static std::atomic<unsigned> colour{0};
    return colour.fetch_add(1, std::memory_order_relaxed) % colours * colour_step;
}

uint8_t* allocate(size_t size) {
    const bool huge = size >= huge_page;
    const size_t room = huge ? size + colours * colour_step : size;
    void* block =
        std::aligned_alloc(huge ? huge_page : 64, huge ? (room + huge_page - 1) / huge_page * huge_page : room);
    if (!block) {
        std::fputs("formatter: out of memory while growing a result buffer\n", stderr);
        std::abort();
    }
    if (!huge) return static_cast<uint8_t*>(block);
    madvise(block, size, MADV_HUGEPAGE);
    return static_cast<uint8_t*>(block) + next_colour();
}

void deallocate(uint8_t* block, size_t size) {
    std::free(size >= huge_page ? reinterpret_cast<uint8_t*>(uintptr_t(block) / huge_page * huge_page) : block);
}

}  // namespace

uint8_t* pool_acquire(size_t size, size_t* capacity) {
    const int klass = class_of(size);
    *capacity = smallest_class << klass;
    Pool& p = pool();
    {
        std::lock_guard<std::mutex> guard(p.lock);
        p.stats.live_bytes += *capacity;
        p.stats.live_blocks++;
        p.last_use[klass] = ++p.requests;
        if (!p.idle[klass].empty()) {
            uint8_t* block = p.idle[klass].back();
            p.idle[klass].pop_back();
            p.stats.idle_bytes -= *capacity;
            return block;
        }
        p.stats.fresh_blocks++;
    }
    return allocate(*capacity);
}

namespace {

// Which idle blocks make room: those of the size that was not asked for longest. -1 if none was idle for longer than the
// one that comes back.
int stalest_class(const Pool& p, int comes_back) {
    int stalest = -1;
    uint64_t oldest = p.last_use[comes_back];
    for (int klass = 0; klass < class_count; klass++) {
        if (p.idle[klass].empty() || p.last_use[klass] >= oldest) continue;
        oldest = p.last_use[klass];
        stalest = klass;
    }
    return stalest;
}

}  // namespace

// A pool full of sizes that nobody asks for any more would keep out those that somebody does: these take their place.
void pool_release(uint8_t* block, size_t capacity) {
    Pool& p = pool();
    const int klass = class_of(capacity);
    std::vector<std::pair<uint8_t*, size_t>> leaving;
    {
        std::lock_guard<std::mutex> guard(p.lock);
        p.stats.live_bytes -= capacity;
        p.stats.live_blocks--;
        while (p.stats.idle_bytes + capacity > idle_limit) {
            const int stalest = capacity > idle_limit ? -1 : stalest_class(p, klass);
            if (stalest < 0) break;
            leaving.emplace_back(p.idle[stalest].back(), smallest_class << stalest);
            p.idle[stalest].pop_back();
            p.stats.idle_bytes -= leaving.back().second;
        }
        if (p.stats.idle_bytes + capacity <= idle_limit) {
            p.stats.idle_bytes += capacity;
            p.idle[klass].push_back(block);
        } else {
            leaving.emplace_back(block, capacity);
        }
    }
    for (const auto& [gone, size] : leaving) deallocate(gone, size);
}

PoolStats pool_stats() {
    Pool& p = pool();
    std::lock_guard<std::mutex> guard(p.lock);
    return p.stats;
}

void pool_trim() {
    Pool& p = pool();
    std::lock_guard<std::mutex> guard(p.lock);
    for (int klass = 0; klass < class_count; klass++) {
        for (uint8_t* block : p.idle[klass]) deallocate(block, smallest_class << klass);
        p.idle[klass].clear();
    }
    p.stats.idle_bytes = 0;
}

void PoolBuffer::grow(size_t wanted, size_t used) {
    size_t capacity;
    // Doubling: a column that grows row by row is copied at most once per byte, amortised.
    uint8_t* block = pool_acquire(wanted > 2 * capacity_ ? wanted : 2 * capacity_, &capacity);
    if (used) std::memcpy(block, data_, used);
    if (data_) pool_release(data_, capacity_);
    data_ = block;
    capacity_ = capacity;
}

}  // namespace formatter
