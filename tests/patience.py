"""How long tests wait for what must come. Only a hang takes longer, so how busy a machine is decides nothing.

In: a condition. Out: whether it came true. Refuses to know: what is waited for.
"""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 1_800.0


def comes_true(condition: Callable[[], object]) -> bool:
    end = time.monotonic() + PATIENCE_S
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return bool(condition())
