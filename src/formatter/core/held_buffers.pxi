# In: a list of bytes-like objects, None for missing. Out: where their bytes lie, and what keeps them. One C call a
# value: at 4 KiB a buffer, anything slower costs as much as parsing it.
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libcpp.vector cimport vector


cdef class HeldBuffers:
    """The buffers stay exported, hence in place, while this lives."""
    cdef vector[Py_buffer] views

    def __dealloc__(self):
        for i in range(self.views.size()):
            PyBuffer_Release(&self.views[i])


def hold_buffers(list values, uint64_t[::1] addresses, uint64_t[::1] sizes, uint8_t[::1] valid):
    """Fills one entry a value; the arrays are as long as the list."""
    cdef HeldBuffers held = HeldBuffers.__new__(HeldBuffers)
    cdef Py_buffer view
    cdef Py_ssize_t i
    held.views.reserve(len(values))
    for i in range(len(values)):
        value = values[i]
        valid[i] = value is not None
        addresses[i] = sizes[i] = 0
        if value is None:
            continue
        PyObject_GetBuffer(value, &view, PyBUF_SIMPLE)
        held.views.push_back(view)
        addresses[i] = <uint64_t><size_t>view.buf
        sizes[i] = view.len
    return held
