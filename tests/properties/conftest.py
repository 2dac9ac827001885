"""Puts the oracle in reach and sets how long Hypothesis searches: HYPOTHESIS_PROFILE=ci (default) or deep.

In: pytest. Out: profiles. Refuses to know: the properties.
"""

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "csv")]

from kernel_fixture import kernel  # noqa: E402  (the path above is needed first)

__all__ = ["kernel"]

COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]}
settings.register_profile("ci", max_examples=150, derandomize=True, **COMMON)
settings.register_profile("deep", max_examples=20_000, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
