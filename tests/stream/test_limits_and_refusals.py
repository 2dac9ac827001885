"""What a stream refuses, in which words, and that it goes on afterwards as if it had not been asked.

In: bad calls. Out: the error, then the rows of a good ending. Refuses to know: threads.
"""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pytest
from oracle.stream_inputs import DIALECTS
from oracle.stream_runs import departure, multiset, pieces_of, reject_rows, row_tuples, shuffled, streamed, whole_read

import formatter as fm

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])
QUOTED, UNQUOTED = fm.Csv(SCHEMA), fm.Csv(SCHEMA, quote=None)
BOTH = pytest.mark.parametrize("format", [QUOTED, UNQUOTED], ids=["quoted", "unquoted"])


def rows_of(batches: list[fm.Batch]) -> list[tuple[object, ...]]:
    return multiset(row_tuples(b.data for b in batches))


@BOTH
@pytest.mark.parametrize("sequence", [0, -1, 2**64, 1.0, "1", None, True])
def test_a_sequence_that_is_no_whole_number_from_one_is_refused_and_named(format, sequence):
    stream = fm.Stream(format)
    with pytest.raises(fm.SequenceError, match="expected a whole number from 1"):
        stream.push(b"1,x\n", sequence=sequence)
    with pytest.raises(fm.SequenceError, match=r"expected (a )?whole number"):
        stream.push_many([b"1,x\n"], sequences=[sequence])
    batches = stream.push(b"1,x\n", sequence=1) + stream.finish()
    assert rows_of(batches) == [(1, "x")]


@BOTH
def test_a_sequence_too_far_ahead_is_refused(format):
    stream = fm.Stream(format)
    for sequence in (2**63, 2**64 - 1, 2**26 + 1):
        with pytest.raises(fm.SequenceError, match="within 67,108,864") as caught:
            stream.push(b"1,x\n", sequence=sequence)
        assert caught.value.sequence == sequence
    assert stream.stats.buffers == 0


@BOTH
def test_a_sequence_over_max_sequence_is_refused(format):
    stream = fm.Stream(format, max_sequence=10)
    with pytest.raises(fm.SequenceError, match="at most max_sequence=10"):
        stream.push(b"1,x\n", sequence=11)


@BOTH
def test_duplicates_are_refused_wherever_the_first_one_waits(format):
    stream = fm.Stream(format)
    stream.push(b"1,x\n2,", sequence=1)
    stream.push(b"z\n4,w\n", sequence=3)
    for sequence in (1, 3):
        with pytest.raises(fm.SequenceError, match="pushed before"):
            stream.push(b"9,dup\n", sequence=sequence)
    with pytest.raises(fm.SequenceError, match="sequence 3: this buffer was pushed before, or declared lost") as caught:
        stream.push_many([b"y\n3,", b"9,dup\n"], sequences=[2, 3])
    assert caught.value.not_taken == (1,)
    assert rows_of(stream.finish()) == [(1, "x"), (2, "y"), (3, "z"), (4, "w")]


@BOTH
def test_two_buffers_of_one_sequence_in_one_call_are_duplicates(format):
    stream = fm.Stream(format)
    with pytest.raises(fm.SequenceError, match="pushed before"):
        stream.push_many([b"1,x\n", b"1,x\n"], sequences=[1, 1])
    assert rows_of(stream.finish()) == [(1, "x")]


@BOTH
def test_ignored_duplicates_are_counted_and_change_nothing(format):
    data = b"".join(b"%d,text%d\n" % (i, i) for i in range(300))
    pieces = pieces_of(data, 17)
    order = shuffled(len(pieces), 1)
    stream = fm.Stream(format, on_duplicate="ignore")
    batches = []
    for again in range(3):
        for index in order if again else order[::2]:
            batches += stream.push(pieces[index], sequence=index + 1)
    batches += stream.finish()
    assert rows_of(batches) == whole_read(data, format).rows
    assert stream.stats.duplicates == len(order[::2]) + len(order)
    assert stream.push(pieces[0], sequence=1) == []


@BOTH
def test_finish_names_the_holes_and_works_once_they_are_filled(format):
    stream = fm.Stream(format)
    batches = stream.push(b"1,x\n2,", sequence=1) + stream.push(b"5,v\n", sequence=6) + stream.push(b"w\n", sequence=5)
    with pytest.raises(fm.SequenceError, match=r"buffers 2 to 4 never came; push them, or declare them") as caught:
        stream.finish()
    assert caught.value.sequence == 2
    with pytest.raises(fm.SequenceError, match=r"buffers 2 to 4, 7 to 8 never came"):
        stream.finish(last_sequence=8)
    with pytest.raises(fm.SequenceError, match=r"last_sequence=2, but buffers 3 to 6 came too"):
        stream.finish(last_sequence=2)
    batches += stream.push_many([b"4,", b"y\n", b"3,z\n"], sequences=[4, 2, 3]) + stream.finish(last_sequence=6)
    assert rows_of(batches) == [(1, "x"), (2, "y"), (3, "z"), (4, "w"), (5, "v")]


@BOTH
def test_a_finished_origin_takes_nothing_more_and_others_go_on(format):
    stream = fm.Stream(format)
    stream.push(b"1,x", sequence=1, origin="a")
    assert rows_of(stream.finish(origin="a")) == [(1, "x")]
    for call in (
        lambda: stream.push(b"2,y\n", sequence=2, origin="a"),
        lambda: stream.append(b"2,y\n", origin="a"),
        lambda: stream.finish(origin="a"),
        lambda: stream.lost(2, origin="a"),
    ):
        with pytest.raises(fm.SequenceError, match=r"origin 'a'.*: the origin was finished"):
            call()
    with pytest.raises(fm.SequenceError, match="pushed before"):
        stream.push(b"1,x", sequence=1, origin="a")
    assert rows_of(stream.push(b"3,z\n", sequence=1, origin="b") + stream.finish_all()) == [(3, "z")]


@pytest.mark.parametrize("name", DIALECTS)
def test_records_over_a_lost_buffer_are_rejected_and_the_others_come(name):
    if "ragged" in DIALECTS[name]:
        return
    format = fm.Csv(SCHEMA, **DIALECTS[name])
    field, end = DIALECTS[name].get("delimiter", ","), DIALECTS[name].get("record_delimiter", "\n")
    records = [f"{i}{field}text{i}{end}".encode() for i in range(12)]
    if "header" in name:
        records[0] = f"a{field}b{end}".encode()
    # Buffers end in the middle of records 3, 6 and 9; the second of the four is lost.
    cuts = [0, *(sum(map(len, records[:i])) + 3 for i in (3, 6, 9)), sum(map(len, records))]
    data = b"".join(records)
    buffers = [data[a:b] for a, b in pairwise(cuts)]
    first = 1 if "header" in name else 0
    for order in ((1, 2, 3, 4), (4, 3, 2, 1), (2, 4, 1, 3), (3, 4, 1, 2)):
        stream = fm.Stream(format, on_error="collect")
        batches = []
        for sequence in order:
            if sequence == 2:
                batches += stream.lost(2)
            else:
                batches += stream.push(buffers[sequence - 1], sequence=sequence)
        batches += stream.finish()
        assert [row[0] for row in sorted(rows_of(batches), key=lambda r: r[0])] == [*range(first, 3), 7, 8, 9, 10, 11]
        rejects = stream.rejects()
        assert rejects["code"].to_pylist() == ["lost", "lost"]
        assert rejects["raw"][0].as_py() == data[cuts[1] - 3 : cuts[1]]
        assert rejects["byte_offset"][0].as_py() == cuts[1] - 3
        assert stream.stats.lost == 1
        assert stream.stats.rejects == 2


@pytest.mark.parametrize("options", [{}, {"escape": "\\"}, {"quotes": "lenient"}, {"quotes": "strict"}], ids=repr)
def test_a_quote_open_before_a_lost_buffer_is_not_open_behind_it(options):
    buffers = {1: b'0,z\n1,"open\n', 3: b"tail\n5,x\n6,y\n"}
    for order in ((1, 2, 3), (3, 2, 1), (1, 3, 2)):
        stream = fm.Stream(fm.Csv(SCHEMA, **options), on_error="collect")
        batches = []
        for sequence in order:
            batches += stream.lost(2) if sequence == 2 else stream.push(buffers[sequence], sequence=sequence)
        batches += stream.finish()
        assert rows_of(batches) == [(0, "z"), (5, "x"), (6, "y")]
        assert stream.rejects()["raw"].to_pylist() == [b'1,"open\n', b"tail\n"]


@BOTH
def test_positions_stay_certain_when_the_first_buffer_is_lost(format):
    stream = fm.Stream(format, on_error="collect")
    batches = stream.lost(1) + stream.push(b"tail\n1,x\nbad,y\n", sequence=2) + stream.finish()
    assert rows_of(batches) == [(1, "x")]
    assert [(r[0], r[1], r[3]) for r in reject_rows(stream.rejects())] == [(0, 0, "lost"), (9, 2, "invalid")]


def long_record_input() -> bytes:
    long = [b"8,%b\n" % (b"x" * size) for size in (97, 98, 99, 100, 500, 98, 3000)]
    return b"".join([b"1,short\n", *long[:3], b"\n", *long[3:5], b"bad,y\n", *long[5:], b"2,z\n", b"3," + b"u" * 300])


@BOTH
@pytest.mark.parametrize("many", [None, 7, 10_000])
def test_a_record_over_max_record_bytes_is_rejected_alike_for_every_chunking(format, many):
    data = long_record_input()
    expected = streamed([data], format, None, "collect", max_record_bytes=100)
    assert [(r[1], r[3], len(r[5])) for r in expected.rejects] == [
        (3, "record_too_long", 100), (4, "record_too_long", 100), (5, "record_too_long", 100), (6, "invalid", 5),
        (8, "record_too_long", 100), (10, "record_too_long", 100),
    ]  # fmt: skip
    assert len(expected.rows) == 5
    for size in (1, 2, 3, 7, 64, 65, 500, 4096):
        pieces = pieces_of(data, size)
        for order in (range(len(pieces)), shuffled(len(pieces), size), range(len(pieces))[::-1]):
            run = streamed(pieces, format, list(order), "collect", many=many, max_record_bytes=100)
            assert departure(run, expected, len(pieces)) is None, size


def test_a_record_without_end_is_let_go_and_its_bytes_do_not_pile_up():
    for format in (QUOTED, UNQUOTED):
        stream = fm.Stream(format, on_error="collect", max_record_bytes=1000)
        stream.push(b"1,x\n2,", sequence=1)
        for sequence in range(2, 3000):
            stream.push(b"y" * 50, sequence=sequence)
        assert stream.stats.pending_bytes < 2000
        batches = stream.push(b"\n3,z\n", sequence=3000) + stream.finish()
        assert rows_of(batches)[-1] == (3, "z")
        (reject,) = reject_rows(stream.rejects())
        assert reject[:2] == (4, 1)
        assert reject[5] == b"2," + b"y" * 998


@BOTH
def test_too_many_waiting_bytes_refuse_a_buffer_and_nothing_is_lost(format):
    data = b"".join(b"%d,text%d\n" % (i, i) for i in range(2000))
    pieces = pieces_of(data, 100)
    stream = fm.Stream(format, max_pending_bytes=1000)
    batches: list[fm.Batch] = []
    waiting = shuffled(len(pieces), 4)
    rounds = refused = 0
    while waiting:
        rounds += 1
        left = []
        for index in waiting:
            try:
                batches += stream.push(pieces[index], sequence=index + 1)
            except fm.BackpressureError:
                refused += 1
                left.append(index)
        assert len(left) < len(waiting)
        assert stream.stats.pending_bytes <= 1100
        waiting = left
    assert rows_of(batches + stream.finish()) == whole_read(data, format).rows
    assert stream.stats.pending_bytes == 0
    if format is QUOTED:
        assert refused


def test_what_push_many_could_not_take_can_be_pushed_again_by_its_indices():
    data = b"".join(b"%d,text%d\n" % (i, i) for i in range(500))
    pieces = pieces_of(data, 100)
    stream = fm.Stream(QUOTED, max_pending_bytes=500)
    sequences = list(range(2, len(pieces) + 1))
    with pytest.raises(fm.BackpressureError) as caught:
        stream.push_many([pieces[s - 1] for s in sequences], sequences=sequences)
    assert caught.value.not_taken == tuple(range(5, len(sequences)))
    left = [1, *(sequences[i] for i in caught.value.not_taken)]
    batches = stream.push_many([pieces[s - 1] for s in left], sequences=left) + stream.finish()
    assert rows_of(batches) == whole_read(data, QUOTED).rows


@BOTH
def test_batches_finished_in_a_call_that_raised_come_with_the_next_one_and_once(format):
    stream = fm.Stream(format, batch=fm.BatchPolicy(max_rows=2))
    with pytest.raises(fm.FormatError, match="expected int64, found 'bad'") as caught:
        stream.push(b"1,x\n2,y\n3,z\nbad,w\n4,v\n", sequence=1)
    assert (caught.value.byte_offset, caught.value.record, caught.value.sequence) == (12, 3, 1)
    batches = stream.push(b"5,u\n", sequence=2) + stream.finish()
    assert rows_of(batches) == [(1, "x"), (2, "y"), (3, "z"), (4, "v"), (5, "u")]


def test_append_numbers_the_buffers_and_mixes_with_push():
    for format in (QUOTED, UNQUOTED):
        stream = fm.Stream(format)
        batches = stream.append(b"1,x\n2,") + stream.append(b"y", origin=7)
        batches += stream.push(b"3,z\n", sequence=3) + stream.push(b"y\n", sequence=2) + stream.append(b"4,w\n5,")
        batches += stream.append(b"v")
        assert stream.stats.buffers == 6
        with pytest.raises(fm.FormatError, match="expected 2 fields, found 1 field"):
            stream.finish(origin=7)
        batches += stream.finish(last_sequence=5)
        assert rows_of(batches) == [(1, "x"), (2, "y"), (3, "z"), (4, "w"), (5, "v")]


def test_positional_arguments_of_other_types_are_refused_before_anything_happens():
    stream = fm.Stream(QUOTED)
    with pytest.raises(fm.OptionError, match="expected a binary array"):
        stream.push_many(pa.array([1, 2]), sequences=[1, 2])
    with pytest.raises(fm.OptionError, match="no nulls"):
        stream.push_many(pa.array([b"x", None]), sequences=[1, 2])
    with pytest.raises(fm.OptionError, match="expected 2 sequences"):
        stream.push_many([b"x", b"y"], sequences=[1])
    with pytest.raises(fm.OptionError, match="expected 2 origins"):
        stream.push_many([b"x", b"y"], sequences=[1, 2], origins=[1])
    with pytest.raises(fm.OptionError, match="origin: expected an int or str"):
        stream.push(b"1,x\n", sequence=1, origin=1.5)
    with pytest.raises(TypeError):
        stream.push_many([b"x", 5], sequences=[1, 2])
    assert stream.stats.buffers == 0


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.string(), pa.large_string()])
def test_arrow_arrays_sliced_or_chunked_push_like_lists(kind):
    pieces = [b"0,skip\n", b"1,x\n2,", b"", b"y\n3,z\n"]
    array = pa.array([p.decode() for p in pieces]).cast(kind)[1:]
    chunked = pa.chunked_array([array[:1], array[1:]])
    for buffers in (array, chunked, [memoryview(p) for p in pieces[1:]], [bytearray(p) for p in pieces[1:]]):
        stream = fm.Stream(QUOTED)
        batches = stream.push_many(buffers, sequences=pa.array([1, 2, 3]), origins=["o"] * 3)
        assert {b.origin for b in batches + stream.finish_all()} == {"o"}
        assert stream.stats.rows == 3


def test_origins_of_every_kind_are_kept_apart():
    origins = [0, 1, -1, 2**63, 2**70, "1", "", "é"]
    stream = fm.Stream(QUOTED)
    buffers = [part for i in range(len(origins)) for part in (b"%d,a\n%d," % (i, i), b"b\n")]
    sequences, names = [1, 2] * len(origins), [o for o in origins for _ in range(2)]
    batches = stream.push_many(buffers, sequences=sequences, origins=names) + stream.finish_all()
    found = {b.origin: rows_of([b]) for b in batches}
    assert found == {origin: [(i, "a"), (i, "b")] for i, origin in enumerate(origins)}


def test_a_record_that_cannot_be_read_is_told_with_its_origin_and_sequence():
    stream = fm.Stream(fm.Csv(pa.schema([("a", pa.int64())])))
    stream.push(b"1\n2", sequence=1, origin="feed")
    with pytest.raises(
        fm.FormatError, match=r"^origin 'feed', sequence 2: csv: record 1, field 0 'a', byte 2: "
    ) as caught:
        stream.push(b"x\n", sequence=2, origin="feed")
    assert (caught.value.origin, caught.value.sequence, caught.value.record) == ("feed", 2, 1)
