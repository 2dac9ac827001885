"""Puts the oracle in reach, and runs a test under every kernel of this machine.

In: pytest. Out: the fixture `kernel`. Refuses to know: CSV.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import formatter as fm
from formatter import _core


@pytest.fixture(params=fm.kernels())
def kernel(request: pytest.FixtureRequest) -> Iterator[str]:
    """Formats made while this fixture lives decode with the named kernel."""
    before = fm.active_kernel()
    _core.use_kernel(request.param)
    yield request.param
    _core.use_kernel(before)
