"""Two records of the same questions, cell by cell: a cell is how many times as fast as the fastest peer ours is in one race.

In: two records. Out: the cells both have, which of them lie within a tenth, which are marked as noise, whether that holds together.
Refuses to know: why.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from bench.record import Ratio, Record, best_of_ours, best_peer, ratio

WITHIN = 0.10
WANTED = 0.90  # of all cells lie within that, and those that do not are marked


@dataclass(frozen=True)
class Cell:
    question: str
    point: str
    one: Ratio
    other: Ratio

    @property
    def apart(self) -> float:
        return self.other.value / self.one.value - 1

    @property
    def same(self) -> bool:
        return abs(self.apart) <= WITHIN

    @property
    def noise(self) -> bool:
        """Marked in one of them, which is enough for who reads that one."""
        return self.one.is_noise or self.other.is_noise

    def line(self) -> str:
        said = "same" if self.same else "NOISE" if self.noise else "APART"
        place = ", ".join(f"{axis} {value}" for axis, value in json.loads(self.point).items())
        values = " and ".join(
            f"{r.value:.2f} ±{r.doubt:.0%}{' ~' if r.is_noise else ''}" for r in (self.one, self.other)
        )
        return f"{said:5} {self.apart:+7.1%}  {values:34} {self.question}: {place}"


def cells_of(one: Record, other: Record) -> list[Cell]:
    first, second = (_ratios(record) for record in (one, other))
    return [Cell(*race, first[race], second[race]) for race in first if race in second]


def _ratios(record: Record) -> dict[tuple[str, str], Ratio]:
    found = {}
    for race in record.races():
        mine, theirs = best_of_ours(race), best_peer(race)
        if mine and theirs:
            found[race[0].race] = ratio(mine, theirs)
    return found


def holds(cells: Sequence[Cell]) -> bool:
    same = sum(cell.same for cell in cells)
    return same >= WANTED * len(cells) and all(cell.same or cell.noise for cell in cells)


def verdict(cells: Sequence[Cell]) -> str:
    if not cells:
        return "the two have no cell in common"
    same = sum(cell.same for cell in cells)
    apart = [cell for cell in cells if not cell.same]
    marked = sum(cell.noise for cell in apart)
    return (
        f"{same} of {len(cells)} cells ({same / len(cells):.0%}) differ by a tenth at most; of the others {marked} are "
        f"marked as noise and {len(apart) - marked} are not. {sum(cell.noise for cell in cells)} cells are marked in all."
    )
