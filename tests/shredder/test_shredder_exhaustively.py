"""The claim rule for every small stream: each choice of delimiters, each order of arrival, each call's answer.

In: all streams of up to six buffers. Out: what each call claims, one by one and in two blocks, against the slow rule.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations, product

import numpy as np
import pytest
from oracle.span_oracle import Span, complete_spans

from formatter._core import SequenceShredder


@cache
def possible(seen: frozenset[int], flags: tuple[bool, ...]) -> frozenset[Span]:
    return frozenset(complete_spans({sequence: flags[sequence - 1] for sequence in seen}))


def expected(before: frozenset[int], now: frozenset[int], flags: tuple[bool, ...]) -> list[Span]:
    return sorted(possible(before | now, flags) - possible(before, flags))


@pytest.mark.parametrize("buffers", [1, 2, 3, 4, 5, 6])
def test_every_order_of_every_small_stream_is_claimed_as_the_rule_says(buffers):
    for flags in product((False, True), repeat=buffers):
        for order in permutations(range(1, buffers + 1)):
            shredder, seen = SequenceShredder(capacity=64), frozenset[int]()
            for sequence in order:
                claims = shredder.process(sequence, flags[sequence - 1])
                assert list(claims) == expected(seen, frozenset({sequence}), flags), (flags, order, sequence)
                seen |= {sequence}


@pytest.mark.parametrize("buffers", [2, 3, 4, 5])
def test_every_small_stream_in_two_blocks_is_claimed_as_the_rule_says(buffers):
    for flags in product((False, True), repeat=buffers):
        for order in permutations(range(1, buffers + 1)):
            for split in range(1, buffers):
                shredder, seen = SequenceShredder(capacity=64), frozenset[int]()
                for block in (order[:split], order[split:]):
                    claims = shredder.process_many(
                        np.array(block, np.uint64), np.array([flags[sequence - 1] for sequence in block])
                    )
                    found = sorted((int(first), int(last)) for first, last in claims)
                    assert found == expected(seen, frozenset(block), flags), (flags, order, split)
                    seen |= set(block)
