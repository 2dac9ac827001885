"""How far a run is, kept on disk so that it goes on after an interruption; and how its time is shared out.

In: questions with their planned seconds, results as they come. Out: the results of races done before; seconds for the next one.
Refuses to know: what is asked.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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


class Budget:
    """The seconds of a run, shared among the questions that are left as they planned them, and in a question among its races: what
    one leaves, or takes too much, is the others'."""

    def __init__(self, planned: Mapping[str, float]) -> None:
        self.planned = dict(planned)
        self.ends = time.perf_counter() + sum(planned.values())
        self.races_left = 1
        self._question_ends = self.ends

    @contextmanager
    def question(self, name: str) -> Iterator[None]:
        share = self.planned[name] / sum(self.planned.values())
        self._question_ends = time.perf_counter() + self.left_s * share
        yield
        del self.planned[name]

    @property
    def left_s(self) -> float:
        return max(0.0, self.ends - time.perf_counter())

    @property
    def race_s(self) -> float:
        """What a race may take that begins now."""
        return max(0.0, self._question_ends - time.perf_counter()) / max(1, self.races_left)

    def __str__(self) -> str:
        left = self.left_s
        return f"{left / 60:.0f} min left" if left >= 90 else f"{left:.0f} s left"
