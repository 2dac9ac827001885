"""Inputs that stress one kind of value each, and seeded mixes of kinds: what files hold besides the three workloads.

In: a size in bytes and a seed. Out: header-less CSV bytes of about that size and their schema, as bench.workloads.csv_tables
makes them. Refuses to know: who reads them.

* one kind: eight columns of it and a small integer in front.
* taxi-like: the kinds of the taxi workload with other widths, signs, nulls, fractions of seconds.
* quoted: every field in quotes, short ones, long ones, many doubled quotes, CRLF.
* wide: two hundred numeric columns of other kinds.
* mix: columns drawn by the seed from all kinds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.workload import Workload
from bench.workloads.csv_tables import WORDS, made_of

Texts = Callable[[np.random.Generator, int], list[str]]


@dataclass(frozen=True)
class Kind:
    type: pa.DataType
    texts: Texts
    nulls: float = 0.0
    newlines: bool = False

    def column(self, random: np.random.Generator, rows: int) -> pa.Array:
        texts = pa.array(self.texts(random, rows), pa.string())
        if self.nulls == 0:
            return texts
        return pc.if_else(pa.array(random.random(rows) < self.nulls), pa.scalar(None, pa.string()), texts)


# ---------------------------------------------------------------------------------------------------------- numbers


def ints(low: int, high: int) -> Texts:
    return lambda random, rows: [str(v) for v in random.integers(low, high, rows, endpoint=True).tolist()]


def ids(digits: int) -> Texts:
    return ints(10 ** (digits - 1), min(10**digits - 1, 2**63 - 1))


def fixed(places: int, limit: float, negative: bool = False) -> Texts:
    def texts(random: np.random.Generator, rows: int) -> list[str]:
        values = random.random(rows) * limit - (limit / 2 if negative else 0)
        return [f"{v:.{places}f}" for v in values.tolist()]

    return texts


def reprs(random: np.random.Generator, rows: int) -> list[str]:
    return [repr(v) for v in random.random(rows).tolist()]


def significant(digits: int) -> Texts:
    return lambda random, rows: [f"{v:.{digits}g}" for v in random.normal(0, 1000, rows).tolist()]


def exponents(form: str, span: float) -> Texts:
    def texts(random: np.random.Generator, rows: int) -> list[str]:
        values = random.normal(0, 1, rows) * 10 ** random.uniform(-span, span, rows)
        return [format(v, form) for v in values.tolist()]

    return texts


def any_reprs(random: np.random.Generator, rows: int) -> list[str]:
    return [repr(v) for v in (random.normal(0, 1, rows) * 10 ** random.uniform(-300, 300, rows)).tolist()]


def decimals(precision: int, scale: int) -> Texts:
    def texts(random: np.random.Generator, rows: int) -> list[str]:
        made = []
        for head, tail in random.integers(0, 10**18, (rows, 2)).tolist():
            value = (head * 10**20 + tail) % 10 ** (precision - head % min(precision, 6))
            made.append(f"{'-' if head & 4 else ''}{value // 10**scale}.{value % 10**scale:0{scale}d}")
        return made

    return texts


# ------------------------------------------------------------------------------------------------------------ times


def times(fraction: int = 0, separator: str = " ", zone: str = "") -> Texts:
    """`zone`: a fixed suffix, or "mixed" for several offsets."""
    offsets = ["+00:00", "+02:00", "-05:00", "+05:30", "-08:00"] if zone == "mixed" else [zone]

    def texts(random: np.random.Generator, rows: int) -> list[str]:
        seconds = random.integers(0, 2_000_000_000, rows).astype("datetime64[s]")
        base = np.datetime_as_string(seconds)
        parts = random.integers(0, 10**fraction, rows).tolist() if fraction else []
        picks = random.integers(0, len(offsets), rows).tolist()
        tails = [f".{part:0{fraction}d}" for part in parts] if fraction else [""] * rows
        return [
            f"{text[:10]}{separator}{text[11:]}{tail}{offsets[pick]}"
            for text, tail, pick in zip(base.tolist(), tails, picks, strict=True)
        ]

    return texts


def dates(random: np.random.Generator, rows: int) -> list[str]:
    days: list[str] = np.datetime_as_string(random.integers(-10_000, 25_000, rows).astype("datetime64[D]")).tolist()
    return days


# ------------------------------------------------------------------------------------------------------------- text


def strings(low: int, high: int, quoted: bool = False, doubled: float = 0.0, beyond_ascii: bool = False) -> Texts:
    """Letters of between `low` and `high` bytes; in quotes, with a share of doubled quotes, on demand."""
    letters = "abcdefghijklmnopqrstuvwxyz éü" if beyond_ascii else "abcdefghijklmnopqrstuvwxyz    "

    def texts(random: np.random.Generator, rows: int) -> list[str]:
        pool = "".join(random.choice(list(letters), 1 << 16))
        starts = random.integers(0, len(pool) - high, rows).tolist()
        sizes = random.integers(low, high, rows, endpoint=True).tolist()
        made = [pool[start : start + size] for start, size in zip(starts, sizes, strict=True)]
        if not quoted:
            return [text.strip() or "x" for text in made]
        marks = random.random(rows) < doubled
        return [
            '"' + (text[: len(text) // 2] + '""' + text[len(text) // 2 :] if mark else text) + '"'
            for text, mark in zip(made, marks.tolist(), strict=True)
        ]

    return texts


def prose(low: int, high: int, doubled: int = 2) -> Texts:
    """Quoted words with commas, line feeds and doubled quotes; `doubled` of 32 joints are quotes."""
    glue = [" "] * (26 - doubled) + [", "] * 4 + [".\n"] * 2 + ['""'] * doubled

    def texts(random: np.random.Generator, rows: int) -> list[str]:
        made = []
        for _ in range(300):
            length = int(random.integers(low, high, endpoint=True))
            words = random.choice(WORDS, length).tolist()
            joints = random.choice(glue, length).tolist()
            made.append('"' + "".join(w + j for w, j in zip(words, joints, strict=True)) + '"')
        return [made[pick] for pick in random.integers(0, len(made), rows).tolist()]

    return texts


def in_quotes(texts: Texts) -> Texts:
    return lambda random, rows: [f'"{text}"' for text in texts(random, rows)]


US, UTC = pa.timestamp("us"), pa.timestamp("us", "UTC")
NUMBERS = {
    "int 1-3": Kind(pa.int64(), ints(0, 500)),
    "int 9 signed": Kind(pa.int64(), ints(-(10**9), 10**9)),
    "int32": Kind(pa.int32(), ints(-(2**31), 2**31 - 1)),
    "int 12": Kind(pa.int64(), ids(12)),
    "id 16": Kind(pa.int64(), ids(16)),
    "id 17": Kind(pa.int64(), ids(17)),
    "id 18": Kind(pa.int64(), ids(18)),
    "id 19": Kind(pa.int64(), ids(19)),
    "float .2": Kind(pa.float64(), fixed(2, 500, True)),
    "float .6": Kind(pa.float64(), fixed(6, 180, True)),
    "float 15": Kind(pa.float64(), significant(15)),
    "float 17": Kind(pa.float64(), significant(17)),
    "float repr": Kind(pa.float64(), reprs),
    "float .3e": Kind(pa.float64(), exponents(".3e", 30)),
    "float .16e": Kind(pa.float64(), exponents(".16e", 100)),
    "float any repr": Kind(pa.float64(), any_reprs),
    "float32 repr": Kind(pa.float32(), reprs),
    "decimal 9,2": Kind(pa.decimal128(9, 2), decimals(9, 2)),
    "decimal 18,4": Kind(pa.decimal128(18, 4), decimals(18, 4)),
    "decimal 38,10": Kind(pa.decimal128(38, 10), decimals(38, 10)),
}
TIMES = {
    "date": Kind(pa.date32(), dates),
    "time": Kind(US, times()),
    "time T": Kind(US, times(separator="T")),
    "time .3": Kind(US, times(3)),
    "time .6": Kind(US, times(6)),
    "time Z": Kind(UTC, times(separator="T", zone="Z")),
    "time .6 Z": Kind(UTC, times(6, "T", "Z")),
    "time +02:00": Kind(UTC, times(separator="T", zone="+02:00")),
    "time +0200": Kind(UTC, times(separator="T", zone="+0200")),
    "time +02": Kind(UTC, times(zone="+02")),
    "time .6 zones": Kind(UTC, times(6, "T", "mixed")),
}
TEXTS = {
    "text 1-3": Kind(pa.string(), strings(1, 3)),
    "text 8": Kind(pa.string(), strings(8, 8)),
    "text 5-20": Kind(pa.string(), strings(5, 20)),
    "text 60": Kind(pa.string(), strings(40, 60)),
    "text utf8": Kind(pa.string(), strings(5, 30, beyond_ascii=True)),
    "bool": Kind(pa.bool_(), lambda random, rows: random.choice(["true", "false"], rows).tolist()),
}
QUOTES = {
    "quoted 1-3": Kind(pa.string(), strings(1, 3, True)),
    "quoted 8": Kind(pa.string(), strings(8, 8, True)),
    "quoted 5-20": Kind(pa.string(), strings(5, 20, True)),
    "quoted 60": Kind(pa.string(), strings(40, 60, True)),
    "quoted 5-20 doubled": Kind(pa.string(), strings(5, 20, True, 0.3)),
    "quoted utf8": Kind(pa.string(), strings(5, 30, True, 0.05, True)),
    "prose 3-12": Kind(pa.string(), prose(3, 12), newlines=True),
    "prose 30-90": Kind(pa.string(), prose(30, 90), newlines=True),
    "prose many quotes": Kind(pa.string(), prose(5, 30, 12), newlines=True),
    "prose 2000": Kind(pa.string(), prose(1500, 3000), newlines=True),
    "quoted 50k": Kind(pa.string(), strings(30_000, 60_000, True)),
    "text 50k": Kind(pa.string(), strings(30_000, 60_000)),
}


def workload(name: str, kinds: list[Kind], few: list[int], line_end: str = "\n") -> Workload:
    schema = pa.schema([(f"c{i:03d}", kind.type) for i, kind in enumerate(kinds)])

    def block(random: np.random.Generator, rows: int) -> list[pa.Array]:
        columns = [kind.column(random, rows) for kind in kinds]
        if line_end == "\r\n":
            columns[-1] = pc.binary_join_element_wise(pc.fill_null(columns[-1], ""), "\r", "")
        return columns

    names = tuple(schema.names[i] for i in few)
    newlines = any(kind.newlines for kind in kinds)
    return Workload(name, name, schema, names, made_of(block, len(name)), newlines_in_values=newlines)


def single(name: str, kind: Kind) -> Workload:
    return workload(name, [Kind(pa.int64(), ints(0, 100)), *[kind] * 8], [1, 4, 8])


def taxi_like(name: str, number: Kind, time: Kind, text: Kind, integer: Kind, nulls: float) -> Workload:
    def some(kind: Kind) -> Kind:
        return replace(kind, nulls=nulls)

    kinds = [integer, time, time, some(integer), number, some(integer), some(text), integer, integer, integer]
    kinds += [number] * 7 + [some(number)] * 2
    return workload(name, kinds, [1, 4, 16])


def mixed(seed: int) -> Workload:
    random = np.random.default_rng([seed, 4])
    kinds = list((NUMBERS | TIMES | TEXTS).values())
    for long in ("decimal 38,10",):
        kinds.remove(NUMBERS[long])
    columns = int(random.integers(6, 30))
    chosen = [
        replace(kinds[int(pick)], nulls=float(random.choice([0, 0, 0.05, 0.5])))
        for pick in random.integers(0, len(kinds), columns)
    ]
    return workload(f"mix {seed}", chosen, sorted(random.choice(columns, 3, replace=False).tolist()))


def taxi_variants() -> list[Workload]:
    n, t, s = NUMBERS, TIMES, TEXTS
    return [
        taxi_like("taxi-like .2 ", n["float .2"], t["time"], s["text 1-3"], n["int 1-3"], 0.05),
        taxi_like("taxi-like .6 nulls 50%", n["float .6"], t["time .3"], s["text 8"], n["int 9 signed"], 0.5),
        taxi_like("taxi-like 15 digits", n["float 15"], t["time T"], s["text 5-20"], n["int 12"], 0.0),
        taxi_like("taxi-like 17 digits", n["float 17"], t["time .6"], s["text 60"], n["id 18"], 0.05),
        taxi_like("taxi-like repr", n["float repr"], t["time"], s["text 1-3"], n["int 1-3"], 0.05),
        taxi_like("taxi-like wide ids", n["float .2"], t["time"], s["text 60"], n["id 19"], 0.0),
    ]


def quoted_variants() -> list[Workload]:
    q, n, t = QUOTES, NUMBERS, TIMES
    number = Kind(pa.int64(), in_quotes(n["int 9 signed"].texts))
    price = Kind(pa.float64(), in_quotes(n["float .2"].texts))
    time = Kind(pa.timestamp("us"), in_quotes(t["time"].texts))
    short = [number, *[q["quoted 5-20"]] * 5, price, time]
    texts = [q["quoted 5-20"], q["prose 3-12"], q["prose 30-90"], q["quoted 8"], q["prose 3-12"], q["quoted 60"]]
    return [
        workload("all quoted short", short, [0, 2, 6]),
        workload("all quoted short crlf", short, [0, 2, 6], "\r\n"),
        workload("all quoted text", [number, *texts, price], [0, 2, 7]),
        workload("quoted text crlf", [n["int 9 signed"], *texts, n["float .2"]], [0, 2, 7], "\r\n"),
        workload("many doubled", [n["int 1-3"], *[q["prose many quotes"]] * 6, n["float .2"]], [0, 2, 7]),
        workload("half quoted", [n["int 1-3"], *[q["quoted 5-20"], TEXTS["text 5-20"]] * 3, n["float .2"]], [0, 2, 7]),
        workload("long quoted", [n["int 1-3"], *[q["prose 2000"]] * 6, n["float .2"]], [0, 2, 7]),
    ]


def wide_variants() -> list[Workload]:
    n = NUMBERS

    def of(name: str, *kinds: Kind) -> Workload:
        return workload(name, [kinds[i % len(kinds)] for i in range(200)], [10, 87, 151])

    return [
        of("wide ints", n["int 9 signed"]),
        of("wide small ints", n["int 1-3"]),
        of("wide floats 17", n["float 17"]),
        of("wide mixed", n["int 1-3"], n["float 17"], n["float .6"], n["id 18"], n["float .3e"]),
    ]


def all_workloads(mixes: int) -> dict[str, list[Workload]]:
    return {
        "numbers": [single(name, kind) for name, kind in NUMBERS.items()],
        "times": [single(name, kind) for name, kind in TIMES.items()],
        "texts": [single(name, kind) for name, kind in TEXTS.items()],
        "quotes": [single(name, kind) for name, kind in QUOTES.items()],
        "taxi": taxi_variants(),
        "quoted": quoted_variants(),
        "wide": wide_variants(),
        "mixes": [mixed(seed) for seed in range(1, mixes + 1)],
    }
