// Memory for results. In: sizes. Out: 64-byte aligned blocks that come back warm. Knows nothing of Arrow or columns.
//
// Why a pool: a fresh 4 KiB page costs more than parsing into it. Blocks return here when the Arrow consumer releases a
// batch, and the next batch finds them mapped and often still cached. Large blocks ask for huge pages.
#pragma once

#include <cstddef>
#include <cstdint>

namespace formatter {

struct PoolStats {
    uint64_t live_bytes;  // handed out and not yet returned
    uint64_t live_blocks;
    uint64_t idle_bytes;  // kept warm for reuse
    uint64_t fresh_blocks;  // allocated since the start: stays flat when reuse works
};

// Sizes are rounded up to the block's class; `capacity` receives the usable size. Never null: aborts when out of memory.
uint8_t* pool_acquire(size_t size, size_t* capacity);
void pool_release(uint8_t* block, size_t capacity);
PoolStats pool_stats();
// Gives idle blocks back to the system.
void pool_trim();

// A growing byte buffer on pooled blocks. Moves, never copies.
class PoolBuffer {
  public:
    PoolBuffer() = default;
    PoolBuffer(const PoolBuffer&) = delete;
    PoolBuffer& operator=(const PoolBuffer&) = delete;
    PoolBuffer(PoolBuffer&& other) noexcept { swap(other); }
    PoolBuffer& operator=(PoolBuffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~PoolBuffer() { reset(); }

    uint8_t* data() const { return data_; }
    size_t capacity() const { return capacity_; }
    // Makes room for `wanted` bytes in all, keeping the first `used`.
    void reserve(size_t wanted, size_t used) {
        if (wanted > capacity_) grow(wanted, used);
    }
    void reset() {
        if (data_) pool_release(data_, capacity_);
        data_ = nullptr;
        capacity_ = 0;
    }
    template <typename T>
    T* as() const {
        return reinterpret_cast<T*>(data_);
    }

  private:
    void grow(size_t wanted, size_t used);
    void swap(PoolBuffer& other) {
        uint8_t* data = data_;
        size_t capacity = capacity_;
        data_ = other.data_;
        capacity_ = other.capacity_;
        other.data_ = data;
        other.capacity_ = capacity;
    }

    uint8_t* data_ = nullptr;
    size_t capacity_ = 0;
};

}  // namespace formatter
