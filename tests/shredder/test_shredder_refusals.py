"""Bad use: each refusal says what, where, expected, found and the remedy, and changes nothing."""

import pickle

import numpy as np
import pytest

from formatter._core import SequenceShredder
from formatter.errors import OptionError, SequenceError


def shredder_after(*sequences, **options):
    shredder = SequenceShredder(**options)
    for sequence in sequences:
        shredder.process(sequence, True)
    return shredder


def assert_refused(shredder, call, pattern, sequence):
    before = shredder.snapshot()
    with pytest.raises(SequenceError, match=pattern) as caught:
        call(shredder)
    assert caught.value.sequence == sequence
    assert isinstance(caught.value, ValueError)
    assert shredder.snapshot() == before
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.sequence) == (str(caught.value), sequence)


def test_sequence_zero_is_refused():
    assert_refused(shredder_after(1), lambda s: s.process(0, True), "found 0; number each origin's buffers from 1", 0)


def test_negative_and_too_large_sequences_are_refused():
    shredder = shredder_after(1)
    assert_refused(shredder, lambda s: s.process(-3, True), r"expected 1 to 2\*\*64 - 1, found -3", -3)
    assert_refused(shredder, lambda s: s.process(2**64, True), "expected 1 to", 2**64)
    assert_refused(shredder, lambda s: s.process_many(np.array([2, -7]), [True, True]), "found -7", -7)
    assert_refused(shredder, lambda s: s.process_many([2, -7], [True, True]), "found -7", -7)


@pytest.mark.parametrize("again", [1, 2, 5])
def test_a_duplicate_is_refused_inside_the_prefix_and_beyond_it(again):
    shredder = shredder_after(1, 2, 5)
    assert_refused(shredder, lambda s: s.process(again, False), "duplicate; give each buffer once", again)
    assert shredder.process(3, True) == ((2, 3),)


@pytest.mark.parametrize("again", [1, 2, 5])
def test_a_duplicate_is_passed_over_when_ignored(again):
    shredder = shredder_after(1, 2, 5, on_duplicate="ignore")
    before = shredder.snapshot()
    assert shredder.process(again, False) == ()
    assert shredder.process_many([again, again], [True, False]).shape == (0, 2)
    assert shredder.snapshot() == before


def test_a_delimiter_of_a_duplicate_does_not_count():
    shredder = SequenceShredder(on_duplicate="ignore")
    shredder.process(3, False)
    shredder.process(3, True)
    assert shredder.process_many([1, 2, 4], [True, True, True]).tolist() == [[1, 2], [2, 4]]


def test_duplicates_inside_one_call_are_seen():
    found = SequenceShredder(on_duplicate="ignore").process_many([2, 1, 2, 1, 3, 3], [True] * 6)
    assert sorted(found.tolist()) == [[1, 2], [2, 3]]


def test_process_many_hands_over_the_claims_made_before_a_refusal():
    shredder = SequenceShredder()
    with pytest.raises(SequenceError, match=r"sequence 2 at index 3 of 5: .*duplicate") as caught:
        shredder.process_many([1, 2, 3, 2, 4], [True] * 5)
    assert caught.value.index == 3
    assert sorted(caught.value.claims.tolist()) == [[1, 2], [2, 3]]
    assert shredder.tail == 3
    assert shredder.process_many([4], [True]).tolist() == [[3, 4]]


def test_a_sequence_too_far_ahead_says_what_to_deliver_first():
    shredder = shredder_after(1, 2)
    far = 3 + 2**26
    assert_refused(shredder, lambda s: s.process(far, True), r"deliver 3 first \(holes\(\)", far)
    assert_refused(shredder, lambda s: s.process(2**64 - 1, True), "deliver 3 first", 2**64 - 1)


def test_a_sequence_above_max_sequence_is_refused():
    shredder = shredder_after(1, max_sequence=10)
    assert_refused(shredder, lambda s: s.process(11, True), "expected 1 to max_sequence=10, found 11", 11)


def test_a_sequence_half_a_round_behind_is_a_duplicate_once_the_stream_was_there():
    shredder = shredder_after(*range(1, 9), max_sequence=10)
    assert_refused(shredder, lambda s: s.process(5, True), "duplicate", 5)
    assert_refused(shredder, lambda s: s.process(4, True), "duplicate", 4)  # half a round: behind, not ahead
    assert shredder.process(3, True) == ()  # ahead: 9, 10, 1, 2 are still to come
    assert shredder.holes() == ((9, 2),)


def test_a_sequence_behind_the_first_buffer_never_was_in_the_stream():
    shredder = shredder_after(1, max_sequence=10)
    assert_refused(shredder, lambda s: s.process(9, True), "behind the first buffer; begin with 1", 9)


def test_finish_names_the_holes_and_can_be_tried_again():
    shredder = shredder_after(1, 3, 4, 8)
    assert_refused(shredder, lambda s: s.finish(8), r"finish\(8\): .* found holes: 2, 5..7; deliver them", 2)
    assert_refused(shredder, lambda s: s.finish(9), "found holes: 2, 5..7, 9; deliver", 2)
    shredder.process_many([2, 5, 6, 7], [True] * 4)
    assert shredder.finish(8) == ((8, 8),)


def test_finish_names_a_few_of_many_holes():
    shredder = shredder_after(*range(2, 40, 2))
    assert_refused(shredder, lambda s: s.finish(38), "1, 3, 5, 7, 9 and 14 more; deliver them", 1)


def test_finish_before_a_sequence_already_seen_is_refused():
    shredder = shredder_after(1, 2, 3)
    for last in (0, 2):
        assert_refused(shredder, lambda s, last=last: s.finish(last), r"already seen; finish\(3\)", last)
    assert_refused(shredder_after(1, 5), lambda s: s.finish(1), r"already seen; finish\(5\)", 1)


def test_after_finish_new_sequences_and_a_second_finish_are_refused():
    shredder = shredder_after(1, 2)
    shredder.finish(2)
    assert_refused(shredder, lambda s: s.process(3, True), r"expected none after finish\(2\), found 3", 3)
    assert_refused(shredder, lambda s: s.process_many([3], [True]), "expected none after finish", 3)
    assert_refused(shredder, lambda s: s.finish(2), "found a second", 2)


def test_after_finish_redelivered_buffers_are_still_known_as_duplicates():
    shredder = shredder_after(1, 2, on_duplicate="ignore")
    shredder.finish(2)
    assert shredder.process_many([1, 2], [True, True]).shape == (0, 2)


@pytest.mark.parametrize(
    ("options", "pattern"),
    [
        ({"capacity": 0}, "capacity: expected a whole number from 1"),
        ({"capacity": 2**26 + 1}, "capacity"),
        ({"capacity": 1.5}, "capacity"),
        ({"max_sequence": 0}, "max_sequence"),
        ({"max_sequence": 2**64}, "max_sequence"),
        ({"max_sequence": True}, "max_sequence"),
        ({"on_duplicate": "drop"}, "expected 'raise' or 'ignore', found 'drop'"),
    ],
)
def test_options_outside_their_range_are_refused(options, pattern):
    with pytest.raises(OptionError, match=pattern):
        SequenceShredder(**options)


@pytest.mark.parametrize(
    ("sequences", "flags", "pattern"),
    [
        ([1, 2], [True], "one length"),
        (np.ones((2, 2), np.uint64), np.ones((2, 2), bool), "one-dimensional"),
        (np.array([1.0]), [True], "expected whole numbers"),
        ([1], ["yes"], "expected booleans"),
    ],
)
def test_arrays_of_the_wrong_kind_are_refused(sequences, flags, pattern):
    with pytest.raises(OptionError, match=pattern):
        SequenceShredder().process_many(sequences, flags)


def test_a_sequence_that_is_no_whole_number_is_a_type_error():
    for value in (1.0, "1", None):
        with pytest.raises(TypeError):
            SequenceShredder().process(value, True)
