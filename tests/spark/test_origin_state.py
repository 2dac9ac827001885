"""What a micro-batch does to an origin: late, missing and repeated chunks by policy, the same after every restore."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import formatter as fm
from spark_udfs.streams.origin_state import OriginState, Policies, Progress
from spark_udfs.streams.parse_stream import _waiting

FORMAT = fm.Csv(pa.schema([("id", pa.int64()), ("text", pa.string())]))
CONTENT = b"".join(b'%d,"line %d\nmore"\n' % (n, n) for n in range(30))
PIECES = [CONTENT[at : at + 11] for at in range(0, len(CONTENT), 11)]
LAST = len(PIECES)


class Query:
    """Micro-batches of one origin; its state is saved and restored between any two of them."""

    def __init__(self, on_error="raise", format=FORMAT, **policies):
        self.format = format
        self.options = {"on_error": on_error, "on_duplicate": "ignore"}
        self.policies = Policies(on_error=on_error, **policies)
        self.saved = None
        self.ids = []

    def batch(self, sequences, last=None, now=None, pieces=PIECES):
        before = (None, None) if self.saved is None else (Progress.of(self.saved[0]), self.saved[1])
        state = OriginState("a", self.format, self.options, self.policies, *before)
        batches = state.take(sequences, [pieces[n - 1] for n in sequences], last)
        batches += state.settle(float(state.progress.turns) if now is None else now)
        self.saved = state.save()
        self.progress = state.progress
        ids = [number for one in batches for number in one.data.column("id").to_pylist()]
        self.ids += ids
        return ids


@pytest.mark.parametrize("seed", range(10))
def test_any_cut_into_micro_batches_gives_each_row_once(seed):
    rng = random.Random(seed)
    order = list(range(1, LAST + 1)) + rng.choices(range(1, LAST + 1), k=20)  # some come again
    rng.shuffle(order)
    query = Query()
    while order:
        size = rng.randint(1, 12)
        some, order = order[:size], order[size:]
        query.batch(list(dict.fromkeys(some)), LAST if rng.random() < 0.3 else None)
    query.batch([], LAST)
    assert sorted(query.ids) == list(range(30))
    assert query.progress.finished
    assert query.batch([1, LAST], LAST) == []  # redelivered after the end


def test_a_state_is_small_whatever_has_passed():
    query = Query()
    for number in range(1, LAST + 1):
        query.batch([number])
    assert sum(map(len, query.saved[0:1])) < 200
    assert len(query.saved[1]) < 4_000


def test_an_announced_end_waits_for_what_is_missing():
    query = Query()
    query.batch([n for n in range(1, LAST + 1) if n != 5], LAST)
    assert not query.progress.finished
    query.batch([5])
    assert query.progress.finished
    assert sorted(query.ids) == list(range(30))


def test_missing_chunks_are_given_up_after_so_many_micro_batches_and_then_late():
    plain = b"".join(b"%d,line %d\n" % (n, n) for n in range(30))  # quotes of a lost chunk could not be counted
    pieces = [plain[at : at + 11] for at in range(0, len(plain), 11)]
    last = len(pieces)
    query = Query(
        on_error="skip", format=fm.Csv(FORMAT.schema, quote=None), missing="lost", missing_after=2
    )  # fmt: skip
    there = [n for n in range(1, last + 1) if n not in (7, 8)]
    query.batch(there[:10], pieces=pieces)
    query.batch(there[10:20], pieces=pieces)
    assert query.progress.lost == []
    query.batch(there[20:], last, pieces=pieces)
    assert query.progress.lost == [[7, 8]]
    assert query.progress.finished
    assert set(range(30)) > set(query.ids)
    assert len(query.ids) == len(set(query.ids)) >= 26
    assert query.batch([7], pieces=pieces) == []  # late, and ignored


def test_missing_chunks_are_given_up_after_a_time():
    query = Query(on_error="skip", missing="lost", missing_after=30_000.0)
    query.batch([1, 3], now=0.0)
    query.batch([4], now=29_000.0)
    assert query.progress.lost == []
    query.batch([], now=30_000.0)
    assert query.progress.lost == [[2, 2]]


def test_missing_raise_names_the_chunks():
    query = Query(missing="raise", missing_after=1)
    query.batch([1, 4])
    with pytest.raises(fm.SequenceError, match="origin 'a': chunks 2 to 3 are missing for too long"):
        query.batch([5])


def test_late_chunks_are_an_error_on_request():
    query = Query(on_error="skip", missing="lost", missing_after=1, late="raise")
    query.batch([1, 3])
    query.batch([4])
    with pytest.raises(fm.SequenceError, match=r"sequence 2: this chunk came late .given up as missing"):
        query.batch([2])
    ended = Query(late="raise")
    ended.batch(list(range(1, LAST + 1)), LAST)
    with pytest.raises(fm.SequenceError, match="behind the origin's end"):
        ended.batch([LAST + 1], pieces=[*PIECES, b"x"])


def test_repeated_chunks_are_an_error_on_request():
    query = Query(on_duplicate="raise")
    query.batch([1, 2])
    with pytest.raises(fm.SequenceError, match="sequence 2: this chunk came before"):
        query.batch([2])


def test_two_different_ends_are_an_error():
    query = Query()
    query.batch([1], 9)
    with pytest.raises(fm.SequenceError, match="announced at chunk 8, but at 9 before"):
        query.batch([2], 8)


@pytest.mark.parametrize(
    ("policies", "message"),
    [
        ({"missing": "drop"}, "missing: expected one of 'wait', 'lost', 'raise'"),
        ({"late": "wait"}, "late: expected one of 'ignore', 'raise'"),
        ({"missing": "lost", "on_error": "skip"}, "need missing_after="),
        ({"missing_after": 3}, "missing='wait' takes none"),
        ({"missing": "lost", "missing_after": 3}, "on_error='raise' does not allow"),
        ({"missing": "raise", "missing_after": 0}, "more than nothing"),
    ],
)
def test_policies_that_make_no_sense_are_refused(policies, message):
    with pytest.raises(fm.OptionError, match=message):
        Policies(**policies)


def test_waiting_is_a_number_of_micro_batches_or_a_time():
    assert repr(_waiting(3)) == "3"
    assert repr(_waiting("30 seconds")) == "30000.0"
    assert repr(_waiting("1 minute")) == "60000.0"
    with pytest.raises(fm.OptionError, match="a time like '30 seconds'"):
        _waiting("soon")
