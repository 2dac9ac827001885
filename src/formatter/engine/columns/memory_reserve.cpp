#include "engine/columns/memory_reserve.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <new>

#include "engine/columns/buffer_pool.hpp"

namespace formatter {
namespace {

constexpr size_t mebibyte = size_t(1) << 20;
constexpr size_t mebibytes_least = 2;  // where its heap cannot grow the C library asks for one at a time
constexpr size_t bytes_an_array = 4096;  // Arrow's C++ takes up to 800, and Python's objects for it come behind

// Anyone may give it up while another takes it anew, and a fork may come between: so one word says all of it.
class Reserve {
  public:
    bool take(size_t mebibytes) {
        uintptr_t held = held_.load();
        if ((held & size_bits) >= mebibytes) return true;
        if (mebibytes > size_bits) return false;
        void* block = mmap(nullptr, mebibytes * mebibyte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED) return false;
        const uintptr_t taken = reinterpret_cast<uintptr_t>(block) | mebibytes;
        while ((held & size_bits) < mebibytes) {
            if (!held_.compare_exchange_weak(held, taken)) continue;
            release(held);
            return true;
        }
        release(taken);
        return true;
    }
    bool give_up() {
        const uintptr_t held = held_.exchange(0);
        release(held);
        return held != 0;
    }

  private:
    static constexpr uintptr_t size_bits = 4095;  // where a page's address has zeros

    static void release(uintptr_t held) {
        if (held) munmap(reinterpret_cast<void*>(held & ~size_bits), (held & size_bits) * mebibyte);
    }

    std::atomic<uintptr_t> held_{0};
};

Reserve for_reserved_calls, for_anyone;
thread_local int reserved_calls = 0;
bool kept = false;
std::new_handler handler_before = nullptr;

void give_reserve_up() {
    if (reserved_calls && for_reserved_calls.give_up()) return;
    if (for_anyone.give_up()) return;
    if (!handler_before) out_of_memory();
    handler_before();
}

}  // namespace

void keep_memory_reserves(bool wanted) {
    if (wanted == kept) return;
    kept = wanted;
    if (wanted) {
        handler_before = std::set_new_handler(give_reserve_up);
        memory_is_reserved(0);
    } else {
        std::set_new_handler(handler_before);
        for_reserved_calls.give_up();
        for_anyone.give_up();
    }
}

bool memory_is_reserved(size_t array_count) {
    if (!kept) return true;
    return for_reserved_calls.take(mebibytes_least + array_count * bytes_an_array / mebibyte) &&
           for_anyone.take(mebibytes_least);
}

void begin_reserved_call() { reserved_calls++; }
void end_reserved_call() { reserved_calls--; }

}  // namespace formatter
