#include "engine/buffer_pool.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
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

void pool_release(uint8_t* block, size_t capacity) {
    Pool& p = pool();
    {
        std::lock_guard<std::mutex> guard(p.lock);
        p.stats.live_bytes -= capacity;
        p.stats.live_blocks--;
        if (p.stats.idle_bytes + capacity <= idle_limit) {
            p.stats.idle_bytes += capacity;
            p.idle[class_of(capacity)].push_back(block);
            return;
        }
    }
    deallocate(block, capacity);
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
