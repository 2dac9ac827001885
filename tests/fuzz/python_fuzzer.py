"""Lets atheris look for bytes that make a target of python_targets.py fail. In: libFuzzer's arguments; FUZZ_TARGET names the
target. Out: as libFuzzer has it. Refuses to know: what a target compares.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
with atheris.instrument_imports(include=["formatter", "python_targets"], enable_loader_override=False):
    import python_targets

if __name__ == "__main__":
    target = os.environ["FUZZ_TARGET"]
    atheris.Setup(sys.argv, lambda data: python_targets.run(target, data))
    atheris.Fuzz()
