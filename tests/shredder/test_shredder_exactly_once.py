"""Over a million buffers in random schedules, over one to eight threads: the exact set of claims, never a sum of them.

Each window is a shuffle of that many consecutive sequences; batches of one thread run ahead of a slower one's, so the
real disorder is wider still. The ring starts at 64 slots, so most windows go far beyond it.
"""

import threading
import time

import numpy as np
import pytest
from arrival import jittered, make_flags, run_threads, shuffled_in_windows
from oracle.span_oracle import all_claims, difference
from patience import comes_true

from formatter._core import SequenceShredder

PROBABILITIES = [1.0, 0.5, 0.1, 0.02, 1e-3, 1e-4]


def assert_exactly_once(order, flags, shredder=None, **how):
    shredder = shredder or SequenceShredder(capacity=64)
    found = run_threads(shredder, order, flags, **how)
    assert shredder.holes() == ()
    assert shredder.tail == len(flags)
    found += shredder.finish(len(flags))
    assert difference(found, all_claims(flags)) == ""


def assert_exactly_once_and_note(outcome, *arguments, **how):
    """For a thread, whose failed assertions nobody would see."""
    assert_exactly_once(*arguments, **how)
    outcome.append("exactly once")


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("window", [1, 7, 64, 65, 512, 4096, 20_000])
@pytest.mark.parametrize("probability", PROBABILITIES)
def test_random_schedules_claim_each_span_once(probability, window, threads):
    seed = hash((probability, window, threads)) % 2**32
    flags = make_flags(8_000 if window < 20_000 else 20_000, probability, seed)
    order = shuffled_in_windows(len(flags), window, seed + 1)
    assert_exactly_once(order, flags, threads=threads, batch=1 + seed % 600)


@pytest.mark.parametrize("reach", [2, 40, 63, 64, 65, 128, 3000, 50_000])
def test_windows_that_slide_claim_each_span_once(reach):
    for probability in PROBABILITIES[1:5]:
        flags = make_flags(12_000, probability, reach)
        assert_exactly_once(jittered(12_000, reach, reach + 1), flags, threads=2, batch=100)


def test_backwards_arrival_claims_each_span_once():
    for probability in PROBABILITIES:
        flags = make_flags(30_000, probability, 3)
        assert_exactly_once(np.arange(30_000, 0, -1, dtype=np.uint64), flags)


def test_odd_sequences_first_then_even_ones_claim_two_spans_a_call():
    flags = np.ones(20_001, bool)
    order = np.concatenate([np.arange(1, 20_002, 2), np.arange(2, 20_001, 2)]).astype(np.uint64)
    assert_exactly_once(order, flags, batch=1000)


def test_a_stalled_thread_holds_up_no_other():
    """One thread sits on its batch until all the rest has been taken; then it completes what waited for it."""
    flags = make_flags(60_000, 0.3, 8)
    order = shuffled_in_windows(60_000, 64, 9)
    shredder, release = SequenceShredder(capacity=64), threading.Event()
    stalled = sorted(order[250:300].tolist())
    run = threading.Thread(
        target=assert_exactly_once_and_note,
        args=(outcome := [], order, flags, shredder),
        kwargs={"threads": 4, "batch": 50, "stall": (5, release)},
    )
    run.start()
    assert comes_true(lambda: shredder.tail + shredder.pending >= 60_000 - len(stalled)), (
        "the other threads did not go on"
    )
    assert [i for first, last in shredder.holes() for i in range(first, last + 1)] == stalled
    time.sleep(0.5)
    release.set()
    run.join()
    assert outcome == ["exactly once"]


def test_a_slot_is_not_reused_while_its_first_owner_is_late():
    """Sequences 3490 and 5538 share a slot of a 2048-slot ring; all but the earlier one run a whole round ahead."""
    flags = np.ones(8192, bool)
    order = np.array([i for i in range(1, 8193) if i != 3490] + [3490], np.uint64)
    shredder = SequenceShredder(capacity=2048)
    found = [tuple(claim) for claim in shredder.process_many(order[:-1], flags[:-1]).tolist()]
    assert (3489, 3490) not in found
    assert shredder.holes() == ((3490, 3490),)
    assert shredder.process(3490, True) == ((3489, 3490), (3490, 3491))
    assert difference(found, [(i, i + 1) for i in range(1, 8192) if i not in (3489, 3490)]) == ""


@pytest.mark.parametrize("window", [100, 65_536])
def test_a_record_over_65536_buffers_is_claimed_once(window):
    flags = np.zeros(65_536, bool)
    flags[[0, -1]] = True
    assert_exactly_once(shuffled_in_windows(65_536, window, 4), flags, threads=2, batch=1000)


@pytest.mark.parametrize("missing", [1, 2000, 4000])
def test_a_ring_full_of_one_record_is_closed_by_a_block_at_its_beginning(missing):
    """Every slot seen, none with a delimiter: no stop is left anywhere once the block is laid over the ring."""
    shredder, flags = SequenceShredder(capacity=8192), np.zeros(8192, bool)
    early, late = np.arange(1, 4097 + missing, dtype=np.uint64), np.arange(4097 + missing, 8193, dtype=np.uint64)
    assert shredder.process_many(late, flags[: len(late)]).tolist() == []
    assert shredder.process_many(early, flags[: len(early)]).tolist() == []
    assert (shredder.capacity, shredder.tail) == (8192, 8192)
    assert shredder.process(8193, True) == ((1, 8193),)


@pytest.mark.parametrize("probability", PROBABILITIES)
def test_blocks_that_wrap_inside_a_full_ring_claim_each_span_once(probability):
    """The prefix ends inside a word, and the window is all of the ring: its first and last buffers share that word."""
    flags = make_flags(8192 * 4, probability, 17)
    for offset in (1, 37, 63, 64):
        blocks = [np.arange(1, offset + 1)]
        for start in range(offset, 8192 * 3, 8192):
            window = np.arange(start + 1, start + 8193)
            blocks += [window[5000:], window[1:2500], window[2500:5000], window[:1]]
        order = np.concatenate(blocks).astype(np.uint64)
        shredder, found, at = SequenceShredder(capacity=8192), [], 0
        for block in blocks:
            part = order[at : at + len(block)]
            found += map(tuple, shredder.process_many(part, flags[part - np.uint64(1)]).tolist())
            assert shredder.capacity == 8192
            at += len(block)
        assert difference(found, all_claims(flags[: len(order)])[:-1]) == ""


def test_a_record_longer_than_any_level_of_the_tree_is_claimed_once():
    """A run of 300,000 buffers: more than 64 * 64 * 64 slots, so three levels stand above the words."""
    flags = np.zeros(300_002, bool)
    flags[[0, 1, -2, -1]] = True
    order = np.random.default_rng(1).permutation(np.arange(2, 300_003)).astype(np.uint64)
    assert_exactly_once(np.append(order, np.uint64(1)), flags, batch=50_000)


@pytest.mark.parametrize("max_sequence", [1000, 4099, 2**16])
def test_wrap_around_in_the_run_claims_each_span_once(max_sequence):
    """Rounds of a size that divides nothing; claims are matched to positions by their order, one at a time."""
    buffers, reach = 60_000, min(400, max_sequence // 3)
    flags = make_flags(buffers, 0.3, max_sequence)
    positions = jittered(buffers, reach, 6)
    shredder = SequenceShredder(capacity=64, max_sequence=max_sequence)
    wrapped = (positions - np.uint64(1)) % np.uint64(max_sequence) + np.uint64(1)
    found = []
    for position, sequence in zip(positions.tolist(), wrapped.tolist(), strict=True):
        for claim in shredder.process(sequence, flags[position - 1]):
            # a sequence of a claim stands for the position nearest to the buffer that made it
            found.append(
                tuple(position + (s - sequence + max_sequence // 2) % max_sequence - max_sequence // 2 for s in claim)
            )
    assert difference(found, all_claims(flags)[:-1]) == ""
    assert shredder.tail == (buffers - 1) % max_sequence + 1


def test_wrap_around_under_threads_loses_and_repeats_nothing():
    """The threaded part is less than half a round: no delay of a thread makes a sequence ambiguous."""
    max_sequence, quiet, buffers = 50_000, 40_000, 64_000
    order = (shuffled_in_windows(buffers, 64, 2) - np.uint64(1)) % np.uint64(max_sequence) + np.uint64(1)
    shredder, flags = SequenceShredder(max_sequence=max_sequence), np.ones(max_sequence, bool)
    found = run_threads(shredder, order[:quiet], flags, batch=1000)
    found += run_threads(shredder, order[quiet:], flags, threads=4, batch=128)
    expected = [((i - 1) % max_sequence + 1, i % max_sequence + 1) for i in range(1, buffers)]
    assert difference(found, expected) == ""
    assert shredder.finish(buffers - max_sequence) == ((buffers - max_sequence, buffers - max_sequence),)


def test_ten_million_buffers_of_one_record_in_random_order():
    buffers = 10_000_000
    flags = np.zeros(buffers, bool)
    flags[-1] = True
    order = np.random.default_rng(3).permutation(buffers).astype(np.uint64) + np.uint64(1)
    shredder = SequenceShredder()
    assert shredder.process_many(order, flags[order - np.uint64(1)]).tolist() == [[1, buffers]]
    assert shredder.finish(buffers) == ((buffers, buffers),)
