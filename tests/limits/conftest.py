"""Puts the fixture that runs a test under every kernel in reach.

In: pytest. Out: fixtures. Refuses to know: formats.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "csv"))

from kernel_fixture import kernel

__all__ = ["kernel"]
