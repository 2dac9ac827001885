"""How far a run is, kept on disk so that it goes on after an interruption; and how long it still takes.

In: races with their planned seconds, results as they come. Out: a line on the screen a race; the results of races done before.
Refuses to know: what is asked.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.record import Result, from_line, to_line


class Progress:
    """A file of lines: what was asked for, then a line a race that is done. A file that was asked for other things begins anew."""

    def __init__(self, path: Path, asked: Mapping[str, Any]) -> None:
        self.path = path
        self.done: dict[str, list[Result]] = {}
        head = json.dumps(dict(asked), sort_keys=True)
        lines = path.read_text().splitlines() if path.exists() else []
        if lines and lines[0] == head:
            for line in lines[1:]:
                if line.endswith("]}"):  # the last one may be cut off
                    race = json.loads(line)
                    self.done[race["race"]] = [from_line(json.dumps(result)) for result in race["results"]]
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(head + "\n")

    def keep(self, race: str, results: Sequence[Result]) -> None:
        self.done[race] = list(results)
        with self.path.open("a") as file:
            lines = ", ".join(to_line(result) for result in results)
            file.write(f'{{"race": {json.dumps(race)}, "results": [{lines}]}}\n')

    def finished(self) -> None:
        self.path.unlink(missing_ok=True)


class TimeLeft:
    """Planned seconds against those it took so far."""

    def __init__(self, planned_s: float) -> None:
        self.planned_s = planned_s
        self.done_s = 0.0
        self.began = time.perf_counter()

    def after(self, planned_s: float) -> None:
        self.done_s += planned_s

    def skip(self, planned_s: float) -> None:
        """Done in an earlier run, at no cost to this one."""
        self.planned_s -= planned_s

    @property
    def left_s(self) -> float:
        taken = time.perf_counter() - self.began
        pace = taken / self.done_s if self.done_s > 0 else 1.0
        return max(0.0, (self.planned_s - self.done_s) * pace)

    def __str__(self) -> str:
        left = self.left_s
        return f"{left / 60:.0f} min left" if left >= 90 else f"{left:.0f} s left"
