// The kernels of this build. In: this CPU. Out: those it runs, best first. Refuses to know which to use: that is
// policy, and lives in Python.
#include <cstring>

#include "kernels/kernel.hpp"

namespace formatter {

#if defined(__x86_64__)
extern const Kernel kernel_avx512, kernel_avx2, kernel_sse42;
#elif defined(__aarch64__)
extern const Kernel kernel_neon;
#endif
extern const Kernel kernel_scalar;

static const Kernel* const compiled[] = {
#if defined(__x86_64__)
    &kernel_avx512,
    &kernel_avx2,
    &kernel_sse42,
#elif defined(__aarch64__)
    &kernel_neon,
#endif
    &kernel_scalar,
};
static constexpr size_t compiled_count = sizeof(compiled) / sizeof(compiled[0]);

struct Available {
    const Kernel* list[compiled_count];
    size_t count = 0;
    Available() {
        for (const Kernel* kernel : compiled)
            if (kernel->supported()) list[count++] = kernel;
    }
};

static const Available& available() {
    static const Available instance;
    return instance;
}

const Kernel* const* available_kernels(size_t* count) {
    *count = available().count;
    return available().list;
}

const Kernel* find_kernel(const char* name) {
    for (size_t i = 0; i < available().count; i++)
        if (std::strcmp(available().list[i]->name, name) == 0) return available().list[i];
    return nullptr;
}

}  // namespace formatter
