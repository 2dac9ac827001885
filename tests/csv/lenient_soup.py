"""Random bytes read by the lenient rule and by Python's csv module, which is its oracle: `python tests/csv/lenient_soup.py CASES`.

In: a number of cases and a seed. Out: the first case that differs, if any does, as what each of the two read. Refuses to know
values: all fields are text.

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
WIDTH = 4
SCHEMA = pa.schema([(f"f{i}", pa.string()) for i in range(WIDTH)])


def case_of(chance: random.Random) -> str:
    """Letters in any order, all quotes closed at the end."""
    letters = chance.choice(ALPHABETS)
    text = "".join(chance.choices(letters, k=chance.randrange(1, chance.choice((8, 20, 150)))))
    return (
        text + "\n" if closes(text + "\n") else text + '"\n' if closes(text + '"\n') else text.replace('"', "") + "\n"
    )


def closes(text: str) -> bool:
    return list(csv.reader(io.StringIO(text + "probe\n", newline="")))[-1] == ["probe"]


def by_python(text: str, escape: str | None = None) -> list[tuple[str, ...]]:
    rows = csv.reader(io.StringIO(text, newline=""), escapechar=escape, doublequote=escape is None)
    return [tuple((row + [""] * WIDTH)[:WIDTH]) for row in rows if row]


def by_us(text: str, escape: str | None = None, **options: object) -> list[tuple[str, ...]]:
    format = fm.Csv(SCHEMA, quotes="lenient", ragged="fit", nulls=(), escape=escape)
    table = fm.read(text.encode(), format, **options)
    columns = [[value or "" for value in column.to_pylist()] for column in table.columns]
    return list(zip(*columns, strict=True))


def compare(cases: int, seed: int, **options: object) -> str | None:
    """Many cases at a time behind each other: each closes its quotes and ends its line."""
    chance = random.Random(seed)
    done = 0
    while done < cases:
        texts = [case_of(chance) for _ in range(min(500, cases - done))]
        if by_python("".join(texts)) != by_us("".join(texts), **options):
            return next(
                (
                    f"{text!r}: {by_python(text)} by csv, {by_us(text)} here"
                    for text in texts
                    if by_python(text) != by_us(text)
                ),
                "only many together differ: " + repr("".join(texts))[:2000],
            )
        done += len(texts)
    return None


if __name__ == "__main__":
    found = compare(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    print(found or f"{sys.argv[1]} cases: the same rows")
    sys.exit(found is not None)
