"""What a Python worker of Spark does once, before its first task of ours: it stops paying for what it will not need again.

In: nothing. Out: nothing but cheaper tasks; results do not depend on it. Two costs are a process's own, not a task's:

* Spark's daemon collects garbage after every task. That walks all objects the imports made (pyarrow, pandas, numpy): 20 ms
  a task, as much as parsing 100 MB. Frozen, they are not walked; what tasks make is collected as before. A task imports
  what it needs, so the next one freezes again if there are more modules than before.
* glibc gives memory at the top of its heap back as soon as there is some, and gets it again, page by page, with the next
  batch. Batches are megabytes, so a worker keeps up to KEPT_BYTES instead.
"""

from __future__ import annotations

import ctypes
import gc
import sys

KEPT_BYTES = 128 << 20
LARGEST_KEPT_BYTES = 32 << 20  # one allocation; the most that glibc allows here
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3

_settled = False
_modules = 0  # that were there when objects were frozen


def prepare_worker() -> None:
    """Idempotent; for tasks to call before they begin."""
    global _settled, _modules
    if len(sys.modules) > _modules:
        _modules = len(sys.modules)
        if _settled:
            gc.collect()  # nothing that a task has left behind is kept
        gc.freeze()
    if _settled:
        return
    _settled = True
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none, and other habits
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, LARGEST_KEPT_BYTES)
        mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)
