// Allocations that fail when told to, and what is left of them. In: LD_PRELOAD, and calls by ctypes. Out: null from the n-th
// allocation that one module makes by itself or through the standard library of C++. Knows no formats. glibc only.
//
// Who allocates is the first caller that is neither this file nor that library: so what Python or pyarrow allocate for
// themselves never fails, though our module may have called them.
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);
extern void __libc_free(void*);

typedef struct {
    const char* name;
    uintptr_t begin, end;
} Module;

static Module self = {"failing_malloc", 0, 0}, library = {"libstdc++", 0, 0}, watched = {"", 0, 0};
static atomic_bool watching, forever;
static atomic_long seen, fail_at;
static __thread int busy;

enum { slots = 1 << 20, deepest = 16 };
static _Atomic(void*) live[slots];  // what the module has not given back, by address
static atomic_long live_count;

static int find(struct dl_phdr_info* info, size_t size, void* wanted) {
    Module* module = wanted;
    (void)size;
    if (!strstr(info->dlpi_name, module->name)) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr)* part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        module->begin = info->dlpi_addr + part->p_vaddr;
        module->end = module->begin + part->p_memsz;
    }
    return 1;
}

static int in(const Module* module, void* code) {
    return (uintptr_t)code >= module->begin && (uintptr_t)code < module->end;
}

// Watches the module whose file has this name. The n-th allocation from here on fails, or all from there on; 0: none does.
void watch_allocations(const char* name, long n, int all) {
    void* frames[deepest];
    backtrace(frames, deepest);  // loads what it needs, once
    watched.name = name;
    dl_iterate_phdr(find, &self);
    dl_iterate_phdr(find, &library);
    dl_iterate_phdr(find, &watched);
    seen = 0;
    fail_at = n;
    forever = all;
    watching = watched.end != 0;
}

// Returns how many allocations there were.
long stop_watching(void) {
    fail_at = 0;
    return seen;
}

long live_allocations(void) { return live_count; }

static int is_watched(void) {
    if (!watching || busy) return 0;
    void* frames[deepest];
    busy = 1;
    const int depth = backtrace(frames, deepest);
    busy = 0;
    for (int i = 0; i < depth; i++)
        if (!in(&self, frames[i]) && !in(&library, frames[i])) return in(&watched, frames[i]);
    return 0;
}

static int fails(void) {
    const long number = ++seen, wanted = fail_at;
    const int hit = wanted && (forever ? number >= wanted : number == wanted);
    if (hit) errno = ENOMEM;
    return hit;
}

static size_t slot_of(void* block) { return ((uintptr_t)block >> 4) * 0x9E3779B97F4A7C15u >> 44; }

static void* note(void* block) {
    for (size_t i = slot_of(block); block; i = (i + 1) % slots) {
        void* none = NULL;
        if (!atomic_compare_exchange_strong(&live[i], &none, block)) {
            if (none != (void*)1) continue;
            if (!atomic_compare_exchange_strong(&live[i], &none, block)) continue;
        }
        live_count++;
        break;
    }
    return block;
}

static void forget(void* block) {
    if (!block || !live_count) return;
    for (size_t i = slot_of(block); live[i]; i = (i + 1) % slots) {
        if (live[i] != block) continue;
        live[i] = (void*)1;  // what stands behind can still be found
        live_count--;
        return;
    }
}

void* malloc(size_t size) {
    if (!is_watched()) return __libc_malloc(size);
    return fails() ? NULL : note(__libc_malloc(size));
}

void* calloc(size_t count, size_t size) {
    if (!is_watched()) return __libc_calloc(count, size);
    return fails() ? NULL : note(__libc_calloc(count, size));
}

void* realloc(void* block, size_t size) {
    if (!is_watched()) return __libc_realloc(block, size);
    if (fails()) return NULL;
    forget(block);
    return note(__libc_realloc(block, size));
}

void* aligned_alloc(size_t alignment, size_t size) {
    if (!is_watched()) return __libc_memalign(alignment, size);
    return fails() ? NULL : note(__libc_memalign(alignment, size));
}

void* memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }

int posix_memalign(void** block, size_t alignment, size_t size) {
    *block = aligned_alloc(alignment, size);
    return *block ? 0 : ENOMEM;
}

void free(void* block) {
    if (watching) forget(block);
    __libc_free(block);
}
