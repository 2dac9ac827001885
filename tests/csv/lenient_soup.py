"""Random bytes read by the lenient rule and by Python's csv module, which is its oracle: `python tests/csv/lenient_soup.py CASES`.

In: a number of cases and a seed. Out: the first case that differs, if any does, as what each of the two read. Refuses to know
values: all fields are text.

Half of them let spaces pass in front of a field, as `trim="left"` and csv's `skipinitialspace` do.

Three differences are argued, and kept out of the cases: csv takes a lone "\\r" for a record end; it ends a quoted field that is
open at the end of the input there, where here it costs its line; and here a blank line is no record and a record of
another width than the table's is padded or cut.
"""

from __future__ import annotations

import csv
import io
import random
import sys

import pyarrow as pa

import formatter as fm

ALPHABETS = ('""",,\n\nab ', '"",\nx', '"""""",\n', 'abc,\n"', '",\n')
SPACED = ('""  ,,\n\nab', '"  ,\nx', '"" " ,\n', ', "\n')  # where spaces in front of fields are none of theirs
WIDTH = 4
SCHEMA = pa.schema([(f"f{i}", pa.string()) for i in range(WIDTH)])


def case_of(chance: random.Random, spaced: bool = False) -> str:
    """Letters in any order, all quotes closed at the end."""
    letters = chance.choice(SPACED if spaced else ALPHABETS)
    text = "".join(chance.choices(letters, k=chance.randrange(1, chance.choice((8, 20, 150)))))
    for ending in ("\n", '"\n'):
        if closes(text + ending, spaced):
            return text + ending
    return text.replace('"', "") + "\n"


def closes(text: str, spaced: bool) -> bool:
    return list(csv.reader(io.StringIO(text + "probe\n", newline=""), skipinitialspace=spaced))[-1] == ["probe"]


def by_python(text: str, escape: str | None = None, spaced: bool = False) -> list[tuple[str, ...]]:
    file = io.StringIO(text, newline="")
    rows = csv.reader(file, escapechar=escape, doublequote=escape is None, skipinitialspace=spaced)
    return [tuple((row + [""] * WIDTH)[:WIDTH]) for row in rows if row]


def by_us(text: str, escape: str | None = None, spaced: bool = False, **options: object) -> list[tuple[str, ...]]:
    format = fm.Csv(SCHEMA, quotes="lenient", ragged="fit", nulls=(), escape=escape, trim="left" if spaced else False)
    table = fm.read(text.encode(), format, **options)
    columns = [[value or "" for value in column.to_pylist()] for column in table.columns]
    return list(zip(*columns, strict=True))


def compare(cases: int, seed: int, *, spaced: bool = False, **options: object) -> str | None:
    """Many cases at a time behind each other: each closes its quotes and ends its line."""
    chance = random.Random(seed)
    done = 0
    while done < cases:
        texts = [case_of(chance, spaced) for _ in range(min(500, cases - done))]
        if by_python("".join(texts), spaced=spaced) != by_us("".join(texts), spaced=spaced, **options):
            return next(
                (
                    f"{text!r}: {by_python(text, spaced=spaced)} by csv, {by_us(text, spaced=spaced)} here"
                    for text in texts
                    if by_python(text, spaced=spaced) != by_us(text, spaced=spaced)
                ),
                "only many together differ: " + repr("".join(texts))[:2000],
            )
        done += len(texts)
    return None


if __name__ == "__main__":
    cases, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    found = compare(cases - cases // 2, seed) or compare(cases // 2, seed, spaced=True)
    print(found or f"{sys.argv[1]} cases: the same rows")
    sys.exit(found is not None)
