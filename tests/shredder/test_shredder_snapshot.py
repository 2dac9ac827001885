"""The saved state: goes on anywhere, and anything else is refused for a reason that is named."""

import numpy as np
import pytest
from arrival import make_flags, shuffled_in_windows
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.span_oracle import all_claims, difference
from snapshot_image import image

from formatter._core import SequenceShredder
from formatter.errors import FormatError


def saved(*buffers, **options):
    shredder = SequenceShredder(**options)
    for sequence, flag in buffers:
        shredder.process(sequence, flag)
    return shredder.snapshot()


def test_the_layout_is_the_documented_one():
    assert saved((1, True), (2, False), (4, True)) == image(prefix=2, last_delimiter=1, highest=4, words=[(0b10, 0b10)])
    assert saved(max_sequence=77) == image(max_sequence=77)


def test_options_and_the_end_of_the_stream_are_part_of_it():
    shredder = SequenceShredder(128, max_sequence=9, on_duplicate="ignore")
    shredder.process(1, True)
    shredder.finish(1)
    restored = SequenceShredder.restore(shredder.snapshot())
    assert (restored.max_sequence, restored.on_duplicate, restored.finished) == (9, "ignore", True)
    assert SequenceShredder.restore(saved((1, True))).capacity == 512


@pytest.mark.parametrize("window", [64, 1000, 40_000])
def test_saving_and_restoring_between_any_two_batches_changes_no_claim(window):
    flags = make_flags(40_000, 0.05, window)
    order = shuffled_in_windows(40_000, window, window + 1)
    shredder, found = SequenceShredder(64), []
    for start in range(0, 40_000, 1500):
        batch = order[start : start + 1500]
        found += map(tuple, shredder.process_many(batch, flags[batch - np.uint64(1)]).tolist())
        shredder = SequenceShredder.restore(memoryview(shredder.snapshot()))
    assert difference(found + list(shredder.finish(40_000)), all_claims(flags)) == ""


def test_every_changed_byte_is_noticed():
    state = saved((1, True), (2, False), (4, True), (100, False))
    for at in range(len(state)):
        for bit in (1, 16, 128):
            broken = bytearray(state)
            broken[at] ^= bit
            with pytest.raises(FormatError, match="shredder: restore: expected") as caught:
                SequenceShredder.restore(broken)
            assert caught.value.code.startswith("snapshot_")


def test_every_shortened_or_lengthened_state_is_refused():
    state = saved((1, True), (4, True), (100, False))
    for size in range(len(state)):
        with pytest.raises(FormatError) as caught:
            SequenceShredder.restore(state[:size])
        assert caught.value.code == "snapshot_truncated"
    with pytest.raises(FormatError) as caught:
        SequenceShredder.restore(state + b"\0")
    assert caught.value.code == "snapshot_corrupt"


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (b"PAR1" + bytes(60), "snapshot_foreign"),
        (image(version=2), "snapshot_version"),
        (image(flags=2), "snapshot_corrupt"),
        (image(floor=5), "snapshot_corrupt"),
        (image(floor=27), "snapshot_corrupt"),
        (image(prefix=3, last_delimiter=4), "snapshot_corrupt"),
        (image(prefix=3, highest=2), "snapshot_corrupt"),
        (image(prefix=3, highest=3 + 2**26 + 1), "snapshot_corrupt"),
        (image(highest=2, words=[(0b11, 0)]), "snapshot_corrupt"),  # prefix + 1 seen: would be in the prefix
        (image(highest=3, words=[(0b10, 0)]), "snapshot_corrupt"),  # the highest is not seen
        (image(highest=2, words=[(0b110, 0)]), "snapshot_corrupt"),  # a slot past the highest
        (image(highest=2, words=[(0b10, 0b01)]), "snapshot_corrupt"),  # a delimiter in a buffer not seen
        (image(highest=2, words=[(0b10, 0)], pending=2), "snapshot_corrupt"),
        (image(highest=2, words=[(0b10, 0)], flags=1), "snapshot_corrupt"),  # finished with a hole
        (image(max_sequence=4, highest=4, words=[(0b1000, 0)]), "snapshot_corrupt"),  # wider than half a round
    ],
)
def test_states_no_shredder_can_be_in_are_refused_though_the_checksum_is_right(state, code):
    with pytest.raises(FormatError) as caught:
        SequenceShredder.restore(state)
    assert caught.value.code == code


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_refused(state):
    with pytest.raises(FormatError):
        SequenceShredder.restore(state)


def test_what_is_not_bytes_is_a_type_error():
    with pytest.raises(TypeError):
        SequenceShredder.restore("state")


@pytest.mark.parametrize("prefix", [2**31 - 3, 2**32 - 2, 2**53, 2**63 - 1, 2**64 - 200])
def test_sequences_may_be_arbitrarily_large(prefix):
    shredder = SequenceShredder.restore(image(prefix=prefix, last_delimiter=prefix - 1))
    order = [prefix + i for i in (3, 2, 150, 1, 5, 4)]
    claims = [shredder.process(sequence, True) for sequence in order]
    assert claims[3] == ((prefix - 1, prefix + 1), (prefix + 1, prefix + 2))
    assert claims[5] == ((prefix + 3, prefix + 4), (prefix + 4, prefix + 5))
    assert shredder.holes() == ((prefix + 6, prefix + 149),)
    assert SequenceShredder.restore(shredder.snapshot()).snapshot() == shredder.snapshot()
    assert f"from {prefix + 6}" in shredder.debug_dump()


def test_the_very_last_sequence_can_be_taken_and_finished():
    top = 2**64 - 1
    shredder = SequenceShredder.restore(image(prefix=top - 70, last_delimiter=5))
    found = shredder.process_many([top, *range(top - 69, top - 1), top - 1], [True] + [False] * 68 + [False])
    assert found.tolist() == [[5, top]]
    assert (shredder.tail, shredder.holes(), shredder.capacity) == (top, (), 512)
    assert shredder.finish(top) == ((top, top),)


def test_holes_up_to_the_very_last_sequence_end():
    top = 2**64 - 1
    shredder = SequenceShredder.restore(image(prefix=top - 90))
    shredder.process(top, True)
    assert shredder.holes() == ((top - 89, top - 1),)
    assert SequenceShredder.restore(shredder.snapshot()).holes() == shredder.holes()
