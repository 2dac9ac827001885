"""JSON lines whose fields and types drift, each told again from the seed and its number alone.

In: a seed; how many records, fields that appear, types that turn out too narrow. Out: any block of the lines, and the sums of
the values in them (value_sums.py). A field that appears is there in the record that begins it, and from then on in one of some
hundred; a conflict, too, has its first record, from which on old and new kinds of values take turns. Some values are null.
Refuses to know: how lines are cut into buffers, who reads them.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from oracle.value_sums import FALSE, PLACES, TRUE, ValueSums, code_of_text, codes_of_lists, codes_of_numbers, mixed

SLOTS = 6  # fields of a record beside those that it always has; the n-th is drawn from every sixth column
MEMBERS = 10  # of an object that appears
GAP = 50  # the share of the records between what a field is first and what it is then
WORDS = [f"w{number}x" for number in range(499)]
CODES_OF_WORDS = np.array([code_of_text(word) for word in WORDS], np.uint64)
DAYS = [f"2024-01-{day:02}" for day in range(1, 29)]
CODES_OF_DAYS = np.array([code_of_text(day) for day in DAYS], np.uint64)
UNIT = np.uint64(10**PLACES)
HUGE = 10**24  # and what is drawn: 25 digits
WHOLE = {  # kinds of whole numbers: the first, and how many
    "tiny": (0, 100),
    "int": (-100_000, 200_001),
    "long": (1 << 33, 1 << 52),  # a double holds it
    "wide": (1 << 60, 1 << 60),  # a double does not
}

# What columns of the schema become. The last is an object whose place a scalar takes.
KNOWN: list[tuple[pa.DataType, str, str]] = [
    (pa.int32(), "int", "long"),
    (pa.int32(), "int", "double"),
    (pa.int64(), "long", "double"),
    (pa.float64(), "double", "text"),
    (pa.int64(), "wide", "huge"),
    (pa.struct([("k", pa.int64())]), "object", "int"),
    (pa.int8(), "tiny", "int"),
    (pa.bool_(), "bool", "int"),
    (pa.date32(), "day", "text"),
    (pa.string(), "text", "int"),
    (pa.list_(pa.int32()), "list", "long list"),
    (pa.list_(pa.int64()), "list", "int"),
    (pa.int32(), "int", "object"),
    (pa.decimal128(10, 3), "double", "huge"),
    (pa.float64(), "double", "object"),
    (pa.int32(), "int", "text"),
]
# What fields are that appear, and what some of them become.
NEW: list[tuple[str, str]] = [
    ("int", "double"),
    ("text", "int"),
    ("double", "text"),
    ("wide", "huge"),
    ("text", "object"),
    ("list", "double list"),
    ("bool", "text"),
    ("int", "text"),
    ("double", "object"),
    ("list", "text"),
    ("int", "list"),
]


@dataclass
class Leaf:
    """Values of one path: what they are, from which record on, and what takes turns with them."""

    path: tuple[str, ...]
    kind: str
    born: int = -1
    other: Leaf | None = None


@dataclass
class Column:
    name: str
    leaves: list[Leaf] = field(default_factory=list)
    other: Leaf | None = None  # a scalar in place of the object


Part = tuple[Leaf, np.ndarray, np.ndarray]  # what it is of, rows of the block, what was drawn for them


class DriftingRecords:
    """`given` makes the same again."""

    def __init__(
        self, seed: int, records: int, fields: int = 1000, conflicts: int = 100, block_records: int = 8192
    ) -> None:
        self.given = (seed, records, fields, conflicts, block_records)
        self.seed, self.records, self.fields, self.conflicts, self.block_records = self.given
        self._chance = random.Random(seed)
        self._taken: dict[int, Column] = {}  # records that begin something
        known = self._known(conflicts // 2)
        self.schema = pa.schema(
            [("id", pa.int64()), ("name", pa.string()), *((c.name, kind) for c, (kind, _, _) in known)]
        )
        made = [column for column, _ in known] + self._new(fields, conflicts - conflicts // 2)
        self._chance.shuffle(made)
        self._strata = [made[slot::SLOTS] for slot in range(SLOTS)]
        self._slot_of = {column.name: slot for slot, stratum in enumerate(self._strata) for column in stratum}
        self._place_of = {column.name: place for stratum in self._strata for place, column in enumerate(stratum)}
        self._salt = self._chance.getrandbits(64)

    @property
    def blocks(self) -> int:
        return -(-self.records // self.block_records)

    @property
    def drifting(self) -> set[str]:
        """Columns that the schema lacks, or whose type turns out too narrow."""
        return {column.name for column in self._taken.values()}

    def block(self, number: int) -> bytes:
        numbers = self._numbers(number)
        lines = [f'{{"id":{n},"name":"{WORDS[n % len(WORDS)]}"' for n in numbers.tolist()]
        for column, parts, nulls in self._drawn(numbers):
            key = f',"{column.name}":'
            for row in nulls.tolist():
                lines[row] += key + "null"
            objects: dict[int, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
            for leaf, rows, draws in parts:
                texts = _written(leaf.kind, draws)
                if len(leaf.path) == 1:
                    for row, text in zip(rows.tolist(), texts, strict=True):
                        lines[row] += key + text
                    continue
                deep = len(leaf.path) - 2
                for row, text in zip(rows.tolist(), texts, strict=True):
                    objects[row][deep].append(f'"{leaf.path[-1]}":{text}')
            for row, (members, deep_members) in objects.items():
                if deep_members:
                    members.append(f'"deep":{{{",".join(deep_members)}}}')
                lines[row] += f"{key}{{{','.join(members)}}}"
        return "}\n".join([*lines, ""]).encode()

    def expect(self, number: int, sums: ValueSums) -> None:
        """Adds the values of a block."""
        numbers = self._numbers(number)
        sums.add("id", numbers, codes_of_numbers(numbers * UNIT))
        sums.add("name", numbers, CODES_OF_WORDS[(numbers % np.uint64(len(WORDS))).astype(np.intp)])
        for _, parts, _ in self._drawn(numbers):
            for leaf, rows, draws in parts:
                path = ".".join((*leaf.path, "k") if leaf.kind == "object" else leaf.path)
                sums.add(path, numbers[rows], _codes(leaf.kind, draws))

    # ----------------------------------------------------------------------------------------------------- internals

    def _known(self, count: int) -> list[tuple[Column, tuple[pa.DataType, str, str]]]:
        columns = []
        for number in range(count):
            rule = KNOWN[number % len(KNOWN)]
            column = Column(f"known{number}")
            leaf = Leaf((column.name,), rule[1])
            column.leaves.append(leaf)
            leaf.other = self._conflict(column, leaf.path, rule[2], 0)
            columns.append((column, rule))
        return columns

    def _new(self, fields: int, conflicts: int) -> list[Column]:
        """Two fifths of the fields are members of objects, and a fifth of the conflicts is there."""
        objects = [Column(f"object{number}") for number in range(fields * 2 // 5 // MEMBERS)]
        plain = [Column(f"new{number}") for number in range(fields - len(objects) * MEMBERS)]
        for number, column in enumerate(plain):
            column.leaves.append(Leaf((column.name,), NEW[number % len(NEW)][0], self._begin(column)))
        for number, column in enumerate(objects):
            for member in range(MEMBERS):
                within = ("deep",) if number % 2 and member >= MEMBERS // 2 else ()
                kind = NEW[(number + member) % len(NEW)][0]
                column.leaves.append(Leaf((column.name, *within, f"m{member}"), kind, self._begin(column)))
        in_objects = min(len(objects), conflicts // 5)
        for number, column in enumerate(objects[:in_objects]):
            if number % 2:
                last = max(leaf.born for leaf in column.leaves)
                column.other = self._conflict(column, (column.name,), "int", last)
            else:
                member = number % MEMBERS
                leaf, kind = column.leaves[member], NEW[(number + member) % len(NEW)][1]
                leaf.other = self._conflict(column, leaf.path, kind, leaf.born)
        for number, column in enumerate(plain[: conflicts - in_objects]):
            (leaf,) = column.leaves
            leaf.other = self._conflict(column, leaf.path, NEW[number % len(NEW)][1], leaf.born)
        return [*plain, *objects]

    def _begin(self, column: Column) -> int:
        return self._place(column, self.records // GAP, self.records - self.records // 10)

    def _conflict(self, column: Column, path: tuple[str, ...], kind: str, born: int) -> Leaf:
        turn = self._place(column, born + 1 + self.records // GAP, self.records)
        return Leaf(path, kind, turn)

    def _place(self, column: Column, first: int, end: int) -> int:
        """A record that begins nothing else."""
        while (record := self._chance.randrange(first, end)) in self._taken:
            continue
        self._taken[record] = column
        return record

    def _numbers(self, block: int) -> np.ndarray:
        first = block * self.block_records
        return np.arange(first, min(first + self.block_records, self.records), dtype=np.uint64)

    def _drawn(self, numbers: np.ndarray) -> Iterator[tuple[Column, list[Part], np.ndarray]]:
        """Columns, the rows where each has values, and those where it is null."""
        first = int(numbers[0])
        begun = [n for n in range(first, first + len(numbers)) if n in self._taken]
        for slot, stratum in enumerate(self._strata):
            draws = mixed(numbers * np.uint64(SLOTS) + np.uint64(slot) ^ np.uint64(self._salt))
            chosen = (draws % np.uint64(len(stratum))).astype(np.intp)
            for record in begun:
                name = self._taken[record].name
                if self._slot_of[name] == slot:
                    chosen[record - first] = self._place_of[name]
            order = np.argsort(chosen, kind="stable")
            ends = np.cumsum(np.bincount(chosen, minlength=len(stratum)))
            for column, begin, end in zip(stratum, [0, *ends], ends, strict=False):
                rows = order[begin:end]
                yield column, *_parts(column, rows, numbers[rows], draws[rows])


def _parts(column: Column, rows: np.ndarray, numbers: np.ndarray, draws: np.ndarray) -> tuple[list[Part], np.ndarray]:
    """What each row has: members of objects by two draws, of values that take turns by one."""
    here = numbers.astype(np.int64)
    turns = (draws >> np.uint64(40)) & np.uint64(1) == 1
    both = [(draws >> np.uint64(shift)) % np.uint64(MEMBERS) for shift in (8, 20)]
    parts: list[Part] = []

    def take(leaf: Leaf, where: np.ndarray) -> None:
        if where.any():
            parts.append((leaf, rows[where], mixed(draws[where] ^ np.uint64(code_of_text(leaf.kind)))))

    def turned(where: np.ndarray, other: Leaf | None) -> np.ndarray:
        """Those of the rows that are left."""
        if other is None:
            return where
        here_other = where & (here >= other.born) & (turns | (here == other.born))
        take(other, here_other)
        return where & ~here_other

    begins = [
        [one.born for one in (leaf, leaf.other) if one is not None] for leaf in [*column.leaves, column.other] if leaf
    ]
    null = (draws >> np.uint64(50)) & np.uint64(15) == 0
    null &= ~np.isin(here, np.concatenate(begins)) & (here >= min(leaf.born for leaf in column.leaves))
    left = turned(~null, column.other)
    for place, (leaf, records) in enumerate(zip(column.leaves, begins, strict=False)):
        where = left & (here >= leaf.born)
        if len(column.leaves) > 1:
            where &= (both[0] == place) | (both[1] == place) | np.isin(here, records)
        take(leaf, turned(where, leaf.other))
    return parts, rows[null]


def _written(kind: str, draws: np.ndarray) -> list[str]:
    if kind in WHOLE:
        return [str(number) for number in _whole(kind, draws).tolist()]
    if kind == "huge":
        return [str(HUGE + draw) for draw in draws.tolist()]
    if kind == "double":
        return [f"{number // 1000}.{number % 1000:03}" for number in _thousandths(draws).tolist()]
    if kind == "bool":
        return ["true" if draw else "false" for draw in (draws & np.uint64(1)).tolist()]
    if kind in ("text", "day"):
        words = WORDS if kind == "text" else DAYS
        return [f'"{words[place]}"' for place in (draws % np.uint64(len(words))).tolist()]
    if kind == "object":
        return [f'{{"k":{text}}}' for text in _written("int", draws)]
    item = kind.removesuffix("list").strip() or "int"
    return [f"[{one},{two}]" for one, two in zip(_written("int", draws), _written(item, mixed(draws)), strict=True)]


def _codes(kind: str, draws: np.ndarray) -> np.ndarray:
    if kind in WHOLE:
        return codes_of_numbers(_whole(kind, draws).astype(np.uint64) * UNIT)
    if kind == "huge":
        return codes_of_numbers((np.uint64(HUGE & (1 << 64) - 1) + draws) * UNIT)
    if kind == "double":
        return codes_of_numbers(_thousandths(draws))
    if kind == "bool":
        return np.where(draws & np.uint64(1), np.uint64(TRUE), np.uint64(FALSE))
    if kind in ("text", "day"):
        codes = CODES_OF_WORDS if kind == "text" else CODES_OF_DAYS
        return codes[(draws % np.uint64(len(codes))).astype(np.intp)]
    if kind == "object":
        return _codes("int", draws)
    item = kind.removesuffix("list").strip() or "int"
    items = np.stack([_codes("int", draws), _codes(item, mixed(draws))], axis=1)
    return codes_of_lists(np.full(len(draws), 2), items.ravel())


def _whole(kind: str, draws: np.ndarray) -> np.ndarray:
    first, count = WHOLE[kind]
    return (draws % np.uint64(count)).astype(np.int64) + first


def _thousandths(draws: np.ndarray) -> np.ndarray:
    """The last digit is none that could be left out."""
    return draws % np.uint64(1_000_000) * np.uint64(10) + draws % np.uint64(9) + np.uint64(1)
