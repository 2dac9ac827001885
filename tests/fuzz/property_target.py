"""The properties that Hypothesis tests at random, chosen by a fuzzer: it sees which ways the engine takes.

In: bytes; the first chooses a property. Out: nothing, or what the property raises. Refuses to know: what the properties are. Those
with parameters and fixtures of pytest are left out.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]


@cache
def found_properties() -> list[Callable[..., Any]]:
    found = []
    for path in sorted(TESTS.glob("*/test_*.py")):
        if path.parent.name == "spark" or "\n@given(" not in path.read_text():
            continue
        if str(path.parent) not in sys.path:
            sys.path.append(str(path.parent))
        module = importlib.import_module(path.stem)
        tests = (value for name, value in sorted(vars(module).items()) if name.startswith("test_"))
        found += [
            test
            for test in tests
            if getattr(test, "is_hypothesis_test", False) and not inspect.signature(test).parameters
        ]
    return found


def properties(data: bytes) -> None:
    known = found_properties()
    known[data[0] % len(known) if data else 0].hypothesis.fuzz_one_input(data[1:])
