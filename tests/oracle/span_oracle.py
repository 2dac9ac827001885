"""The rule of spanning records, written down slowly. Shares no code and no idea with the ring.

In: which buffers have a delimiter, and which were seen. Out: the exact claims. Knows no order of arrival, no threads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

Span = tuple[int, int]


def complete_spans(delimited: dict[int, bool]) -> list[Span]:
    """All claims that can be made once exactly the keys of `delimited` were seen, in stream order."""
    spans = []
    start: int | None = 1  # the stream's start counts as a delimiter before buffer 1
    for sequence in range(1, max(delimited, default=0) + 1):
        if sequence not in delimited:
            start = None
        elif delimited[sequence]:
            if start is not None and start < sequence:
                spans.append((start, sequence))
            start = sequence
    return spans


def all_claims(delimited: Sequence[bool]) -> list[Span]:
    """Of a whole stream, buffer 1 first, the claim of finish() last."""
    by_sequence = {i: bool(flag) for i, flag in enumerate(delimited, 1)}
    last_delimiter = max((i for i, flag in by_sequence.items() if flag), default=1)
    return [*complete_spans(by_sequence), (last_delimiter, len(delimited))]


def difference(found: Iterable[Sequence[int]], expected: Iterable[Span]) -> str:
    """Empty if both are the same, each span as often; otherwise the missed, the repeated and the invented ones."""
    found_counts = Counter((int(first), int(last)) for first, last in found)
    expected_counts = Counter(expected)
    missed = sorted((expected_counts - found_counts).elements())
    surplus = sorted((found_counts - expected_counts).elements())
    if not missed and not surplus:
        return ""
    return f"{len(missed)} missed {missed[:5]}, {len(surplus)} repeated or invented {surplus[:5]}"


class SlowShredder:
    """What each single call must return: the claims possible now that were not possible before it."""

    def __init__(self) -> None:
        self.delimited: dict[int, bool] = {}

    def process(self, sequence: int, has_delimiter: bool) -> tuple[Span, ...]:
        before = set(complete_spans(self.delimited))
        self.delimited[sequence] = has_delimiter
        return tuple(span for span in complete_spans(self.delimited) if span not in before)

    @property
    def tail(self) -> int:
        tail = 0
        while tail + 1 in self.delimited:
            tail += 1
        return tail

    def holes(self) -> tuple[Span, ...]:
        holes: list[Span] = []
        for sequence in range(1, max(self.delimited, default=0) + 1):
            if sequence in self.delimited:
                continue
            if holes and holes[-1][1] == sequence - 1:
                holes[-1] = (holes[-1][0], sequence)
            else:
                holes.append((sequence, sequence))
        return tuple(holes)
