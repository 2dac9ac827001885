"""Hypothesis against the slow oracle: each single call returns exactly what it must, whatever happened before.

Streams are small and rings start small, so growth, shrinking, wrap-around and save-and-restore all happen in them.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.span_oracle import SlowShredder, all_claims, difference

from formatter._core import SequenceShredder
from formatter.errors import SequenceError


@st.composite
def arrivals(draw, most=200):
    """Buffers in an order of arrival: from nearly sorted to fully random, with dense or rare delimiters."""
    buffers = draw(st.integers(1, most))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    reach = draw(st.sampled_from([0.5, 3, 30, 63, 64, 65, 500]))
    order = np.argsort(np.arange(buffers) + random.random(buffers) * reach) + 1
    flags = random.random(buffers) < draw(st.sampled_from([0, 0.02, 0.1, 0.5, 0.9, 1]))
    return order.tolist(), {i + 1: bool(flag) for i, flag in enumerate(flags)}


@settings(deadline=None, max_examples=150)
@given(arrivals())
def test_each_call_returns_exactly_the_claims_it_completes(arrival):
    order, flags = arrival
    shredder, slow = SequenceShredder(capacity=1), SlowShredder()
    for sequence in order:
        assert shredder.process(sequence, flags[sequence]) == slow.process(sequence, flags[sequence])
        assert shredder.tail == slow.tail
        assert shredder.holes() == slow.holes()
    assert shredder.finish(len(order)) == (all_claims(list(flags.values()))[-1],)


@settings(deadline=None, max_examples=100)
@given(arrivals(), st.data())
def test_a_restored_shredder_goes_on_as_the_saved_one(arrival, data):
    order, flags = arrival
    cut = data.draw(st.integers(0, len(order)))
    shredder = SequenceShredder(capacity=64)
    for sequence in order[:cut]:
        shredder.process(sequence, flags[sequence])
    restored = SequenceShredder.restore(shredder.snapshot())
    assert restored.snapshot() == shredder.snapshot()
    assert restored.holes() == shredder.holes()
    for sequence in order[cut:]:
        assert restored.process(sequence, flags[sequence]) == shredder.process(sequence, flags[sequence])
    assert restored.finish(len(order)) == shredder.finish(len(order))


@settings(deadline=None, max_examples=300)
@given(arrivals(most=300), st.lists(st.integers(1, 150), min_size=1, max_size=10), st.sampled_from([1, 65, 512]))
def test_each_batch_returns_exactly_the_claims_it_completes(arrival, sizes, capacity):
    """Batches of eight or more close together are laid over the ring as a block, others go in one by one."""
    order, flags = arrival
    shredder, slow = SequenceShredder(capacity), SlowShredder()
    start = turn = 0
    while start < len(order):
        some = order[start : start + sizes[turn % len(sizes)]]
        found = shredder.process_many(some, [flags[i] for i in some]).tolist()
        expected = [claim for i in some for claim in slow.process(i, flags[i])]
        assert difference(found, expected) == ""
        assert shredder.holes() == slow.holes()
        assert shredder.tail == slow.tail
        start, turn = start + len(some), turn + 1


@settings(deadline=None, max_examples=100)
@given(arrivals(), st.data())
def test_a_duplicate_anywhere_in_a_batch_stops_it_there(arrival, data):
    """The block is declined then and taken one by one: what stands before the duplicate counts, nothing after it."""
    order, flags = arrival
    cut = data.draw(st.integers(0, len(order) - 1))
    at = data.draw(st.integers(cut + 1, len(order)))
    again = order[data.draw(st.integers(0, at - 1))]
    batch = [*order[cut:at], again, *order[at:]]
    shredder, slow = SequenceShredder(), SlowShredder()
    shredder.process_many(order[:cut], [flags[i] for i in order[:cut]])
    for i in order[:cut]:
        slow.process(i, flags[i])
    with pytest.raises(SequenceError, match="duplicate") as caught:
        shredder.process_many(batch, [flags[i] for i in batch])
    assert (caught.value.sequence, caught.value.index) == (again, at - cut)
    expected = [claim for i in order[cut:at] for claim in slow.process(i, flags[i])]
    assert difference(caught.value.claims.tolist(), expected) == ""
    assert shredder.holes() == slow.holes()
    rest = shredder.process_many(order[at:], [flags[i] for i in order[at:]]).tolist()
    assert difference(rest, [claim for i in order[at:] for claim in slow.process(i, flags[i])]) == ""


@settings(deadline=None, max_examples=100)
@given(arrivals(), st.data())
def test_redelivered_buffers_change_nothing_when_ignored(arrival, data):
    order, flags = arrival
    shredder, slow = SequenceShredder(on_duplicate="ignore"), SlowShredder()
    for i, sequence in enumerate(order):
        assert shredder.process(sequence, flags[sequence]) == slow.process(sequence, flags[sequence])
        again = order[data.draw(st.integers(0, i))]
        assert shredder.process(again, data.draw(st.booleans())) == ()


@settings(deadline=None, max_examples=100)
@given(arrivals(), st.integers(1, 400))
def test_wrapped_sequences_make_the_same_claims_as_unwrapped_ones(arrival, max_sequence):
    """As far as the order stays within half a round, which is what a wrapped sequence can express."""
    order, flags = arrival
    wrapped, plain = SequenceShredder(max_sequence=max_sequence), SequenceShredder()
    for position in order:
        if position - plain.tail > (max_sequence + 1) // 2 or plain.tail - position >= max_sequence // 2:
            return
        claims = plain.process(position, flags[position])
        expected = tuple(((a - 1) % max_sequence + 1, (b - 1) % max_sequence + 1) for a, b in claims)
        assert wrapped.process((position - 1) % max_sequence + 1, flags[position]) == expected
