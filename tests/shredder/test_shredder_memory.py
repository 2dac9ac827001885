"""The window: grows by doubling, shrinks when idle, eight bits a slot at the most, and a bound that is said."""

import numpy as np
import pytest
from arrival import make_flags, shuffled_in_windows

from formatter._core import SequenceShredder
from formatter.errors import SequenceError


def test_capacity_is_rounded_up_to_a_power_of_two():
    for asked, given in [(1, 64), (64, 64), (65, 128), (512, 512), (1000, 1024), (2**26, 2**26)]:
        assert SequenceShredder(asked).capacity == given


def test_a_window_of_exactly_the_capacity_does_not_grow():
    shredder = SequenceShredder(512)
    shredder.process_many(range(2, 513), [True] * 511)
    assert (shredder.capacity, shredder.pending) == (512, 511)
    assert shredder.process(1, True) == ((1, 2),)
    assert shredder.tail == 512


def test_one_sequence_more_doubles_it_and_the_end_of_the_wait_halves_it_again():
    shredder = SequenceShredder(512)
    shredder.process(513, True)
    assert shredder.capacity == 1024
    shredder.process_many(range(1, 513), [True] * 512)
    assert (shredder.capacity, shredder.pending) == (512, 0)


@pytest.mark.parametrize("ahead", [64, 65, 1000, 2**20, 2**26])
def test_a_slot_costs_less_than_eight_bits(ahead):
    shredder = SequenceShredder()
    shredder.process(ahead, True)
    assert shredder.capacity >= ahead
    assert shredder.nbytes * 8 / shredder.capacity <= 8


def test_a_large_ring_costs_two_bits_a_slot_and_the_tree_above_them():
    assert SequenceShredder(2**26).nbytes * 8 / 2**26 < 2.05


def test_an_idle_shredder_after_a_burst_is_as_small_as_before():
    shredder = SequenceShredder(64)
    before = shredder.nbytes
    shredder.process_many(shuffled_in_windows(200_000, 200_000, 1), np.ones(200_000, bool))
    assert (shredder.capacity, shredder.nbytes) == (64, before)


def test_a_ring_that_is_never_empty_shrinks_too():
    """After a burst, the first of every 30 buffers comes after the next block of 30: something always waits."""
    shredder = SequenceShredder(64)
    shredder.process(100_000, True)
    assert shredder.capacity == 2**17
    shredder.process_many([*range(100_002, 100_031), *range(1, 100_000)], [True] * 100_028)
    for block in range(100_001, 700_001, 30):
        late_next = block + 30
        shredder.process_many([*range(late_next + 1, late_next + 30), block], [True] * 30)
        assert shredder.pending == 29
    assert shredder.capacity <= 512  # up to eight times the window of 59 may be kept


def test_the_window_reaches_exactly_2_to_the_26():
    shredder = SequenceShredder()
    with pytest.raises(SequenceError, match="less than 67108864 ahead of 1, the first missing one"):
        shredder.process(2**26 + 1, True)
    assert shredder.capacity == 512
    assert shredder.process(2**26, True) == ()
    assert shredder.process(1, True) == ()
    assert shredder.process(2**26 + 1, False) == ()
    assert shredder.holes() == ((2, 2**26 - 1),)


@pytest.mark.parametrize("restored", [False, True])
@pytest.mark.parametrize("capacity", [64, 512, 8192])
def test_words_full_of_one_record_stay_so_when_the_ring_grows_or_is_restored(capacity, restored):
    """Slots 3 to 9,999 are seen and have no delimiter: nothing to stop at in whole words, nor in the words above."""
    shredder = SequenceShredder(capacity)
    shredder.process_many(range(3, 10_000), [False] * 9997)
    shredder.process(10_000, True)
    assert shredder.process(100_000, True) == ()
    if restored:
        shredder = SequenceShredder.restore(shredder.snapshot())
    assert shredder.process(2, True) == ((2, 10_000),)


def test_a_long_record_in_order_needs_no_slots():
    shredder = SequenceShredder(64)
    before = shredder.nbytes
    shredder.process(1, True)
    shredder.process_many(np.arange(2, 1_000_001, dtype=np.uint64), np.zeros(999_999, bool))
    assert shredder.nbytes == before
    assert shredder.process(1_000_001, True) == ((1, 1_000_001),)


def test_disorder_within_64_buffers_takes_no_memory_beyond_the_object():
    shredder, least = SequenceShredder(64), SequenceShredder(64).nbytes
    flags = make_flags(64 * 50, 0.5, 1)
    for sequence in shuffled_in_windows(64 * 50, 64, 2):
        shredder.process(sequence, flags[int(sequence) - 1])
        assert shredder.nbytes == least


def test_a_finished_shredder_gives_its_window_back():
    shredder = SequenceShredder(2**20)
    shredder.process(1, True)
    shredder.finish(1)
    assert shredder.capacity == 64
