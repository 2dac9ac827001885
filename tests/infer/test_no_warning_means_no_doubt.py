"""Inputs written from a truth that is drawn by chance, as often from one reading as from the other: what fm.infer reads without a
warning must be that truth. Where the bytes of two truths are the same, only a warning passes.
"""

from __future__ import annotations

import datetime
import random
import warnings

import pytest

import formatter as fm

TABLES = 400
WORDS = [
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "knoll", "larch", "maple", "north",
    "ochre", "pearl", "quill", "raven", "slate",
]  # fmt: skip


def read_without_doubt(data):
    """The table, or None if there was a warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        format = fm.infer(data)
    assert all(issubclass(w.category, fm.InferenceWarning) for w in caught)
    return None if caught else fm.read(data, format)


def lines(rows, delimiter=";", end="\n"):
    return "".join(delimiter.join(row) + end for row in rows)


def held(draw, least_silent, least_told):
    """Draws tables; those read in silence are right. Both happen, so that neither a warning for all nor for none would pass."""
    silent = told = 0
    for seed in range(TABLES):
        data, truth = draw(random.Random(seed))
        table = read_without_doubt(data)
        if table is None:
            told += 1
            continue
        silent += 1
        found = (table.schema.names, [list(row.values()) for row in table.to_pylist()])
        assert found == truth, (seed, data)
    assert (silent >= least_silent, told >= least_told) == (True, True), (silent, told)


def test_dates_with_the_month_or_the_day_first():
    def draw(chance):
        order = chance.choice(["%m{0}%d{0}%Y", "%d{0}%m{0}%Y", "%m{0}%d{0}%y", "%d{0}%m{0}%y", "%Y{0}%m{0}%d"])
        pattern = order.format(chance.choice("/.-"))
        most = chance.choice([12, 28])
        days = [
            datetime.date(2024, chance.randint(1, 12), chance.randint(1, most)) for _ in range(chance.randint(2, 8))
        ]
        rows = [["n", "day"], *([str(i), day.strftime(pattern)] for i, day in enumerate(days))]
        return lines(rows).encode(), (["n", "day"], [[i, day] for i, day in enumerate(days)])

    held(draw, TABLES // 4, TABLES // 8)


def test_commas_before_decimals_or_between_thousands():
    def draw(chance):
        decimal = chance.random() < 0.5
        digits = chance.choice([1, 2, 3])
        count = chance.randint(2, 8)
        if decimal:
            values = [chance.randint(1, 999) + chance.randrange(10**digits) / 10**digits for _ in range(count)]
            texts = [f"{value:.{digits}f}".replace(".", ",") for value in values]
        else:
            values = [chance.randint(1, 10 ** (3 + digits)) for _ in range(count)]
            texts = [f"{value:,}" for value in values]
        rows = [["n", "v"], *([str(i), text] for i, text in enumerate(texts))]
        return lines(rows).encode(), (["n", "v"], [[i, value] for i, value in enumerate(values)])

    held(draw, TABLES // 8, TABLES // 8)


def test_a_first_record_of_words_above_words():
    def draw(chance):
        pool = chance.sample(WORDS, len(WORDS))
        width = chance.randint(2, 4)
        names = chance.choice([pool[:width], chance.sample(["name", "city", "colour", "kind", "street"], width), None])
        values = pool[width:]
        if chance.random() < 0.5:
            values = [f"{word}@x.org" for word in values]
        rows = [[chance.choice(values) for _ in range(width)] for _ in range(chance.randint(2, 20))]
        table = lines([names, *rows] if names else rows).encode()
        return table, (names or [f"f{i}" for i in range(width)], rows)

    held(draw, TABLES // 20, TABLES // 4)


def test_a_first_record_above_columns_of_numbers():
    def draw(chance):
        width = chance.randint(2, 4)
        rows = [[chance.randint(0, 3000) for _ in range(width)] for _ in range(chance.randint(2, 9))]
        names = chance.choice([chance.sample(WORDS, width), [str(2000 + i) for i in range(width)], None])
        table = lines(
            [names, *([str(v) for v in row] for row in rows)] if names else [[str(v) for v in row] for row in rows]
        )
        return table.encode(), (names or [f"f{i}" for i in range(width)], rows)

    held(draw, TABLES // 4, 0)


def test_two_delimiters_that_cut_as_well():
    def draw(chance):
        one, other = chance.sample(",;|\t", 2)
        inner = chance.random() < 0.7
        rows = []
        for _ in range(chance.randint(4, 12)):
            row = chance.sample(WORDS, 3)
            if inner:
                row[chance.randrange(3)] += other + chance.choice(WORDS) + other + chance.choice(WORDS)
            rows.append(row)
        names = ["first name", "city", "street"]
        data = lines([names, *rows], one).encode()
        return data, (names, rows)

    held(draw, TABLES // 8, 0)


@pytest.mark.parametrize("both", [",;", "\t|", ";|"])
def test_two_delimiters_that_give_the_same_number_of_fields(both):
    def draw(chance):
        one, other = chance.sample(both, 2)
        rows = [[chance.choice(WORDS), chance.choice(WORDS) + other + chance.choice(WORDS)] for _ in range(9)]
        return lines(rows, one).encode(), (["f0", "f1"], rows)

    held(draw, 0, TABLES)


def test_bytes_of_one_encoding_or_another():
    def draw(chance):
        encoding = chance.choice(["utf-8", "cp1252", "latin-1", "utf-16-le", "iso8859-2", "cp437"])
        letters = {"cp1252": "\u20ac\u201c\xe9", "iso8859-2": "\u0141\u017c", "cp437": "\xe9\xfc"}.get(
            encoding, "\xe9\xfc"
        )
        rows = [[chance.choice(WORDS) + chance.choice(letters), str(i)] for i in range(chance.randint(3, 9))]
        names = ["name", "n"]
        data = lines([names, *rows]).encode(encoding)
        return data, (names, [[word, int(n)] for word, n in rows])

    held(draw, TABLES // 20, TABLES // 4)
