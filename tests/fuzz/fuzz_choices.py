"""Bytes as decisions. In: what a fuzzer made. Out: one of so many, some of these, the bytes that are left. Refuses to know: what is
decided."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from oracle.stream_runs import pieces_at


class Choices:
    """Bytes from their begin decide; when they are used up the first of what there is is chosen."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def below(self, count: int) -> int:
        taken = self._data[self._at : self._at + 1]
        self._at += 1
        return taken[0] % count if taken else 0

    def one_of(self, values: Sequence[Any]) -> Any:
        return values[self.below(len(values))]

    def some_of(self, values: Sequence[Any], most: int) -> list[Any]:
        return [self.one_of(values) for _ in range(self.below(most + 1))]

    def bytes(self, count: int) -> bytes:
        self._at += count
        return self._data[self._at - count : self._at]

    def rest(self) -> bytes:
        return self._data[self._at :]


class ChosenRandom(Random):
    """For code that asks a Random: each answer takes bytes of the choices."""

    def __init__(self, choices: Choices) -> None:
        super().__init__(0)
        self._choices = choices

    def random(self) -> float:
        return self._choices.below(256) / 256

    def getrandbits(self, bits: int) -> int:
        return int.from_bytes(self._choices.bytes(-(-bits // 8)), "little") & ((1 << bits) - 1)


def pieces_of(choices: Choices, data: bytes) -> tuple[list[bytes], list[int]]:
    """Cut anywhere, and an order of arrival."""
    cuts = sorted({choices.below(256) * len(data) // 256 for _ in range(choices.below(6))} - {0, len(data)})
    pieces = pieces_at(data, cuts)
    order = sorted(range(len(pieces)), key=lambda i: (choices.below(8), i))
    return pieces, order
