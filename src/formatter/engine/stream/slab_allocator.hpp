// Memory for the nodes of a map that only grows. In: requests for one node. Out: neighbours in large slabs.
// Knows nothing of what a node holds.
//
// From the general allocator, small things that stay (a million idle origins) and things that come and go between them
// would share pages, and leave a quarter of those unused for good.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace formatter {

class Slabs {
  public:
    void* take(size_t size, size_t alignment) {
        size = (size + alignment - 1) / alignment * alignment;
        if (left_ < size) {
            next_size_ = std::max(size, std::min(2 * next_size_, largest));
            slabs_.emplace_back(new char[next_size_]);  // aligned for everything that has no special wish
            at_ = slabs_.back().get();
            left_ = next_size_;
        }
        char* taken = at_;
        at_ += size;
        left_ -= size;
        return taken;
    }

  private:
    static constexpr size_t largest = size_t(256) << 10;
    std::vector<std::unique_ptr<char[]>> slabs_;
    char* at_ = nullptr;
    size_t left_ = 0, next_size_ = 1024;
};

// One at a time from slabs, which live as long as the last copy of the allocator; arrays from elsewhere.
template <typename T>
class SlabAllocator {
  public:
    using value_type = T;

    SlabAllocator() : slabs_(std::make_shared<Slabs>()) {}
    template <typename U>
    SlabAllocator(const SlabAllocator<U>& other) : slabs_(other.slabs()) {}

    T* allocate(size_t count) {
        if (count == 1) return static_cast<T*>(slabs_->take(sizeof(T), alignof(T)));
        return static_cast<T*>(::operator new(count * sizeof(T)));
    }
    void deallocate(T* memory, size_t count) {
        if (count != 1) ::operator delete(memory);
    }
    const std::shared_ptr<Slabs>& slabs() const { return slabs_; }

  private:
    std::shared_ptr<Slabs> slabs_;
};

template <typename T, typename U>
bool operator==(const SlabAllocator<T>& a, const SlabAllocator<U>& b) {
    return a.slabs() == b.slabs();
}
template <typename T, typename U>
bool operator!=(const SlabAllocator<T>& a, const SlabAllocator<U>& b) {
    return !(a == b);
}

}  // namespace formatter
