"""Runs a piece of a test under a kernel of this machine. In: its name. Out: formats that decode with it."""

from collections.abc import Iterator
from contextlib import contextmanager

import formatter as fm
from formatter import _core


@contextmanager
def under_kernel(name: str) -> Iterator[None]:
    """Formats made inside decode with the named kernel."""
    before = fm.active_kernel()
    _core.use_kernel(name)
    try:
        yield
    finally:
        _core.use_kernel(before)
