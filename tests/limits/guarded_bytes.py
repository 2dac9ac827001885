"""Bytes with no memory on either side: whoever reads one byte in front of them, or behind, is killed.

In: bytes, which end lies at the edge. Out: a view of a copy. Refuses to know: who reads it.
"""

from __future__ import annotations

import ctypes
import mmap
import os

GUARD_BYTES = 1 << 20  # a read that misses by the length of a key is caught, too

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def guarded(data: bytes, *, at_front: bool) -> memoryview:
    """The first byte lies behind the guard in front, or the last one before the guard behind."""
    room = -(-max(len(data), 1) // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, room + 2 * GUARD_BYTES)
    view = memoryview(memory)
    address = ctypes.addressof(ctypes.c_char.from_buffer(view))
    begin = GUARD_BYTES if at_front else GUARD_BYTES + room - len(data)
    view[begin : begin + len(data)] = data
    for guard in (address, address + GUARD_BYTES + room):
        if _libc.mprotect(guard, GUARD_BYTES, 0) != 0:  # PROT_NONE
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return view[begin : begin + len(data)]
