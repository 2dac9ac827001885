"""A seeded input by name: who made it up, what it stands for, how to make any size of it.

In: a size and a seed. Out: bytes of whole records, or a file of them. Refuses to know: who reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench.inputs import Input

MADE_ANEW = 32 << 20  # a larger file repeats its first bytes, which no reader can tell


@dataclass(frozen=True)
class Workload:
    name: str
    about: str
    schema: pa.Schema
    few: tuple[str, ...]
    make: Callable[[int, int], bytes]
    kind: str = "csv"
    newlines_in_values: bool = False
    told: dict[str, Any] = field(default_factory=dict)  # what else an Input says: delimiter, nulls

    def write(self, folder: Path, size: int, seed: int) -> Input:
        """The file of about `size` bytes, made if it is not there already."""
        path = folder / f"{self.name.replace(' ', '_')}-{size}-{seed}.{self.kind}"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            block = self.make(min(size, MADE_ANEW), seed)
            unfinished = path.with_suffix(".part")
            with unfinished.open("wb") as file:
                for _ in range(max(1, round(size / len(block)))):
                    file.write(block)
            unfinished.rename(path)
        return Input(self.name, self.kind, str(path), self.schema, self.few, self.newlines_in_values, **self.told)
