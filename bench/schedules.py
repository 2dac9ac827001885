"""Buffers in an order that is not theirs: for streams, chunk by chunk, and for the shredder, flag by flag.

In: bytes or a number of buffers, a seed. Out: what to push, in which order. Refuses to know: who takes it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Pushes:
    """Calls of push_many: buffers with their sequences, from 1."""

    calls: list[tuple[list[bytes], list[int]]]
    buffers: int

    def one_by_one(self) -> list[tuple[bytes, int]]:
        return [pair for buffers, sequences in self.calls for pair in zip(buffers, sequences, strict=True)]


def shuffled_pushes(data: bytes, size: int, per_call: int, seed: int = 1, window: int | None = 64) -> Pushes:
    """Buffers leave their places by less than `window`: 1 keeps them in order, None shuffles them all."""
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    order = list(range(len(pieces)))
    chance = random.Random(seed)
    for begin in range(0, len(order), window or max(1, len(order))):
        part = order[begin : begin + (window or len(order))]
        chance.shuffle(part)
        order[begin : begin + len(part)] = part
    parts = [order[i : i + per_call] for i in range(0, len(order), per_call)]
    return Pushes([([pieces[i] for i in part], [i + 1 for i in part]) for part in parts], len(pieces))


class Flags:
    """Buffers 1..n, shuffled in windows, with a delimiter at random, or in every so manieth."""

    def __init__(self, buffers: int, window: int, probability: float = 0.0, every: int = 0) -> None:
        random = np.random.default_rng(buffers + window)
        order = np.arange(1, buffers + 1, dtype=np.uint64)
        whole = buffers - buffers % window
        order[:whole] = random.permuted(order[:whole].reshape(-1, window), axis=1).ravel()
        order[whole:] = random.permutation(order[whole:])
        flags = random.random(buffers) < probability
        if every:
            flags[every - 1 :: every] = True
        self.sequences: Any = order
        self.flags: Any = flags[order - np.uint64(1)]
        self.delimited: Any = flags
