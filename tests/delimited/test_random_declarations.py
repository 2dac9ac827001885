"""Declarations that nobody would write, of few bytes that mean much, against a slow oracle: levels that share bytes, keys that
end as parts do, record ends that begin as separators.

In: random declarations, and bytes made of what matters to them. Out: verdicts.
"""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from oracle import delimited_oracle
from oracle.stream_runs import row_tuples

import formatter as fm
from formatter import Level

BYTES = ",;=|&"
KEYS = ["k", "n", "longer than 8 bytes", "longer than 8 letters"]
WORDS = [*KEYS, *BYTES, *BYTES, "longer than 8 bytes!", "x", " ", "%2", "%%", "+", "%", *"\n" * 4]
DECLARATIONS = 400


def step(rng: random.Random, level: Level, is_last: bool) -> object:
    if level.key:
        key = rng.choice(KEYS)
        return key if rng.random() < 0.7 else (key, rng.randint(0, 2))
    number = rng.randint(0, 3)
    return f"{number}+" if is_last and rng.random() < 0.25 else number


def path(rng: random.Random, levels: list[Level]) -> tuple[object, ...]:
    depth = rng.randint(1, len(levels))
    steps = [step(rng, level, number == depth) for number, level in enumerate(levels[:depth], 1)]
    return (*steps, slice(rng.randint(0, 2), rng.choice([None, 3]))) if rng.random() < 0.15 else tuple(steps)


def declaration(rng: random.Random) -> fm.Delimited:
    levels = [
        Level(rng.choice(BYTES), key=rng.choice(BYTES) if rng.random() < 0.4 else None)
        for _ in range(rng.randint(1, 4))
    ]
    names = [f"c{i}" for i in range(rng.randint(1, 4))]
    return fm.Delimited(
        pa.schema([(name, pa.string()) for name in names]),
        levels=levels,
        paths={name: path(rng, levels) for name in names},
        escapes={"%2": "x", "%%": "%", "+": " "} if rng.random() < 0.5 else (),
        bare_escapes=rng.random() < 0.8,
        marks=['""'] if rng.random() < 0.1 else (),
        record_end=rng.choice(["\n", "\n", "\n", ";;", ";\n", "|=", ","]),
        record_start=rng.choice(["", "", "", "k", ";"]),
        trim=rng.random() < 0.3,
    )


@pytest.mark.parametrize("seed", range(5))
def test_any_declaration_reads_any_bytes_as_the_oracle_says(seed):
    rng = random.Random(seed)
    read = 0
    for _ in range(DECLARATIONS):
        try:
            format = declaration(rng)
        except (fm.OptionError, fm.SchemaError):  # a path that leads behind a step to the rest
            continue
        data = "".join(rng.choices(WORDS, k=rng.randint(0, 120))).encode()
        wanted, _ = delimited_oracle.read(data, format, "skip")
        rejects: list[pa.Table] = []
        assert row_tuples([fm.read(data, format, on_error="collect", rejects=rejects)]) == wanted, (format, data)
        read += len(wanted)
    assert read > DECLARATIONS


def test_keys_may_end_as_parts_do():
    schema = pa.schema([("k", pa.int64()), ("n", pa.string())])
    format = fm.Delimited(schema, levels=[Level(";", key=";")])
    assert row_tuples([fm.read(b"k;1;n;x\nn;;k;2\n1;k;n;n;k\n", format, on_error="null")]) == [
        (1, "x"), (2, None), (None, "n"),
    ]  # fmt: skip
