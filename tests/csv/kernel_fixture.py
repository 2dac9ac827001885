"""Runs a test under every kernel of this machine.

In: pytest. Out: the fixture `kernel`. Refuses to know: CSV.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

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


@pytest.fixture(params=fm.kernels())
def kernel(request: pytest.FixtureRequest) -> Iterator[str]:
    with under_kernel(request.param):
        yield request.param
