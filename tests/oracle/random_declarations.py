"""Declarations that nobody would write, of few bytes that mean much. In: a source of chance. Out: an fm.Delimited, or its refusal.
Refuses to know: what is read by them."""

from __future__ import annotations

import random

import pyarrow as pa

import formatter as fm
from formatter import Level

BYTES = ",;=|&"
KEYS = ["k", "n", "longer than 8 bytes", "longer than 8 letters"]


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
