"""What a claim is: small streams one can follow by eye."""

import numpy as np
import pytest
from oracle.span_oracle import SlowShredder, all_claims

from formatter._core import SequenceShredder


def feed(shredder, *buffers):
    return [shredder.process(sequence, flag) for sequence, flag in buffers]


def test_two_buffers_with_delimiters_share_one_record():
    assert feed(SequenceShredder(), (1, True), (2, True)) == [(), ((1, 2),)]


def test_the_later_neighbour_may_come_first():
    assert feed(SequenceShredder(), (2, True), (1, True)) == [(), ((1, 2),)]


def test_the_streams_start_counts_as_a_delimiter():
    assert feed(SequenceShredder(), (1, False), (2, False), (3, True)) == [(), (), ((1, 3),)]
    assert feed(SequenceShredder(), (3, True), (2, False), (1, False)) == [(), (), ((1, 3),)]


def test_a_first_buffer_with_a_delimiter_ends_its_own_record():
    assert feed(SequenceShredder(), (1, True)) == [()]


def test_a_middle_buffer_with_a_delimiter_ends_one_record_and_begins_another_in_that_order():
    assert feed(SequenceShredder(), (1, True), (3, True), (2, True)) == [(), (), ((1, 2), (2, 3))]


def test_a_middle_buffer_without_a_delimiter_bridges_its_neighbours():
    assert feed(SequenceShredder(), (1, True), (3, True), (2, False)) == [(), (), ((1, 3),)]


def test_both_neighbours_faster_than_the_middle_do_not_claim_over_the_hole():
    shredder = SequenceShredder()
    assert feed(shredder, (1, True), (2, True), (6, True), (5, False), (3, False)) == [(), ((1, 2),), (), (), ()]
    assert shredder.process(4, True) == ((2, 4), (4, 6))


def test_seven_buffers_in_random_order_give_each_claim_once():
    shredder, slow = SequenceShredder(), SlowShredder()
    for sequence, flag in [(3, False), (7, True), (1, True), (5, True), (6, False), (2, False), (4, True)]:
        assert shredder.process(sequence, flag) == slow.process(sequence, flag)
    assert shredder.finish(7) == ((7, 7),)


@pytest.mark.parametrize(
    ("flags", "rest"),
    [
        ([True], (1, 1)),
        ([False], (1, 1)),
        ([False, False, False], (1, 3)),
        ([False, True, False], (2, 3)),
        ([True, False, True], (3, 3)),
    ],
)
def test_finish_claims_what_stands_after_the_last_delimiter(flags, rest):
    shredder = SequenceShredder()
    feed(shredder, *enumerate(flags, 1))
    assert shredder.finish(len(flags)) == (rest,)
    assert shredder.finished
    assert all_claims(flags)[-1] == rest


def test_finish_of_a_stream_without_buffers_claims_nothing():
    assert SequenceShredder().finish(0) == ()


def test_process_many_returns_the_claims_of_process():
    random = np.random.default_rng(5)
    order = random.permutation(np.arange(1, 301, dtype=np.uint64))
    flags = random.random(300) < 0.4
    one, many = SequenceShredder(), SequenceShredder()
    single = [claim for sequence, flag in zip(order, flags, strict=True) for claim in one.process(sequence, flag)]
    found = many.process_many(order, flags)
    assert sorted(map(tuple, found.tolist())) == sorted(single)
    assert found.dtype == np.uint64
    assert found.shape == (len(single), 2)


def test_process_many_takes_lists_signed_integers_and_strided_arrays():
    expected = [[1, 2], [2, 3]]
    strided = np.array([1, 0, 2, 0, 3, 0], np.uint64)[::2]
    for sequences in ([1, 2, 3], np.array([1, 2, 3]), np.array([1, 2, 3], np.uint8), strided, strided.astype(">u8")):
        for flags in ([True] * 3, np.ones(3, np.int64), np.ones(6, np.bool_)[::2]):
            assert SequenceShredder().process_many(sequences, flags).tolist() == expected


def test_no_buffers_give_no_claims():
    found = SequenceShredder().process_many([], [])
    assert found.shape == (0, 2)


def test_holes_are_the_spans_missing_below_the_highest_sequence():
    shredder = SequenceShredder()
    assert shredder.holes() == ()
    feed(shredder, (2, True), (3, False), (6, True), (10, True))
    assert shredder.holes() == ((1, 1), (4, 5), (7, 9))
    assert shredder.tail == 0
    feed(shredder, (1, False), (4, False))
    assert shredder.holes() == ((5, 5), (7, 9))
    assert shredder.tail == 4


def test_state_is_visible():
    shredder = SequenceShredder(max_sequence=100, on_duplicate="ignore")
    feed(shredder, (1, False), (2, True), (4, True))
    assert (shredder.tail, shredder.pending, shredder.finished) == (2, 1, False)
    assert (shredder.max_sequence, shredder.on_duplicate) == (100, "ignore")
    assert repr(shredder) == "<SequenceShredder tail=2 last_delimiter=2 pending=1 capacity=512>"


# ------------------------------------------------------------------------------------------------- wrap-around


def test_sequence_one_follows_max_sequence():
    shredder = SequenceShredder(max_sequence=5)
    claims = feed(shredder, *((i, True) for i in (1, 2, 3, 4, 5, 1, 2)))
    assert claims == [(), ((1, 2),), ((2, 3),), ((3, 4),), ((4, 5),), ((5, 1),), ((1, 2),)]
    assert shredder.tail == 2
    assert shredder.finish(2) == ((2, 2),)


def test_a_record_may_lie_across_the_wrap_and_arrive_backwards():
    shredder = SequenceShredder(max_sequence=8)
    feed(shredder, *((i, True) for i in range(1, 7)))
    assert feed(shredder, (2, True), (1, False), (8, False), (7, True)) == [(), (), (), ((6, 7), (7, 2))]


def test_holes_across_the_wrap_are_named_by_their_sequences():
    shredder = SequenceShredder(max_sequence=8)
    feed(shredder, *((i, True) for i in range(1, 7)), (2, True))
    assert shredder.holes() == ((7, 1),)


@pytest.mark.parametrize("max_sequence", [1, 2, 3])
def test_tiny_rounds_wrap_every_few_buffers(max_sequence):
    shredder = SequenceShredder(max_sequence=max_sequence)
    for position in range(1, 200):
        here = (position - 1) % max_sequence + 1
        behind = (position - 2) % max_sequence + 1
        assert shredder.process(here, True) == (((behind, here),) if position > 1 else ())
