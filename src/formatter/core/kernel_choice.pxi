# In: a kernel name or nothing. Out: the kernel every decoder of this process uses. Knows no format.
from libc.stddef cimport size_t

cdef extern from "kernels/kernel.hpp" namespace "formatter" nogil:
    cdef cppclass Kernel:
        const char* name
    const Kernel* const* available_kernels(size_t* count)
    const Kernel* find_kernel(const char* name)

cdef const Kernel* active = NULL


def kernels():
    """Names of the kernels this build has and this CPU runs, best first."""
    cdef size_t count = 0
    cdef const Kernel* const* found = available_kernels(&count)
    return tuple(found[i].name.decode() for i in range(count))


def use_kernel(str name):
    """Choose by name; the caller has checked it against kernels()."""
    global active
    active = find_kernel(name.encode())


def active_kernel():
    return active.name.decode()
