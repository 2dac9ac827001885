"""Registered formats: every cut, order and on_error for indexers in Python and in C, with record ends and with states.

In: records of a toy format. Out: verdicts.
"""

from __future__ import annotations

import pickle
import random
import threading

import numpy as np
import pyarrow as pa
import pytest
from oracle.native_indexers import NativeIndexer, NativeParser, library
from oracle.piped_records import as_netstring, as_pipes, netstring_ends, netstrings, pipes
from oracle.stream_runs import (
    SIZES,
    cut_departure,
    multiset,
    pieces_of,
    resumed_at_every_cut,
    row_tuples,
    shuffled,
    streamed,
    whole_read,
)

import formatter as fm
from formatter.splits import begins_anywhere, can_be_split

SCHEMA = pa.schema([("id", pa.int64()), ("city", pa.string()), ("price", pa.float64())])
RECORDS = [["1", "Oslo", "2.5"], ["2", "", ""], ["3"], ["x", "Rome", "1"], ["5", "é", "2", "more"], ["", "", ""]]
ROWS = [(1, "Oslo", "2.5"), (2, None, None), (3, None, None), (5, "é", "2.0"), (None, None, None)]


@pytest.fixture(scope="module")
def formats():
    fm.register_format("pipes", pipes)
    fm.register_format("long_ends", long_ends, record_end="<>\n")
    fm.register_format("netstrings", netstrings, record_end=None, scan=netstring_ends)
    fm.register_format("netstrings_in_c", NativeIndexer(library(), "netstrings"), record_end=None)
    fm.register_format("pipes_in_c", NativeIndexer(library(), "lines"))
    return {
        "pipes": (fm.Registered(SCHEMA, "pipes"), as_pipes),
        "long_ends": (fm.Registered(SCHEMA, "long_ends"), lambda r: as_pipes(r)[:-1] + b"<>\n"),
        "netstrings": (fm.Registered(SCHEMA, "netstrings"), as_netstring),
        "netstrings_in_c": (fm.Registered(SCHEMA, "netstrings_in_c"), as_netstring),
        "pipes_in_c": (fm.Registered(SCHEMA, "pipes_in_c"), as_pipes),
    }


def long_ends(data, fields):
    """`pipes` for longer record ends, whose first bytes are taken off the last field again."""
    ends, begins, stops, kinds = pipes(data, fields)
    return ends, begins, np.where(data[np.minimum(stops, len(data) - 1)] == ord("\n"), stops - 2, stops), kinds


NAMES = ["pipes", "long_ends", "netstrings", "netstrings_in_c", "pipes_in_c"]
each_format = pytest.mark.parametrize("name", NAMES)


@each_format
def test_records_become_rows_and_bad_values_are_told_with_their_place(formats, name):
    format, written = formats[name]
    data = b"".join(map(written, RECORDS))
    for end in (len(data), len(data) - (0 if "net" in name else len(format.record_end))):
        run = whole_read(data[:end], format, "collect")
        assert run.rows == multiset(ROWS)
        at = len(b"".join(map(written, RECORDS[:3]))) + (written(RECORDS[3]).index(b"x"))
        assert [reject[:4] for reject in run.rejects] == [(at, 3, "id", "invalid")]
    with pytest.raises(fm.FormatError, match=f"{name}: record 3, field 0 'id', byte {at}: expected int64, found 'x'"):
        fm.read(data, format)


@each_format
@pytest.mark.parametrize("on_error", ["null", "skip", "collect"])
def test_every_cut_and_order_gives_what_the_whole_gives(formats, name, on_error):
    format, written = formats[name]
    data = b"".join(map(written, RECORDS))
    if name in ("netstrings", "pipes"):
        data += written(["!bad"]) if name == "pipes" else written(["long " * 7])
    whole = whole_read(data, format, on_error)
    assert cut_departure(data, format, whole, on_error, sizes=SIZES) is None


def random_record(chance):
    fields = [str(chance.randrange(1000)), "t" * chance.randrange(40), str(chance.random())]
    return fields[: chance.randrange(1, 4)] + ["more"] * chance.randrange(3)


@each_format
def test_long_inputs_are_projected_and_filtered_by_every_kernel_alike(formats, name, kernel):
    format, written = formats[name]
    chance = random.Random(name)
    records = [random_record(chance) for _ in range(9000)]
    records[4000][1:] = ["y" * 300_000]  # longer than what is indexed at once
    data = b"".join(map(written, records))
    expected = [(int(r[0]), (r[1] or None) if len(r) > 1 else None) for r in records]
    assert row_tuples([fm.read(data, format, columns=["id", "city"], threads=2)]) == expected
    some = fm.read(data, format, columns=["city"], filters=[("id", "<", 100)])
    assert row_tuples([some]) == [(city,) for id, city in expected if id < 100]
    assert fm.read(data, format, columns=[]).num_rows == 9000
    pieces = pieces_of(data, 70_001)
    run = streamed(pieces, format, shuffled(len(pieces), 3), columns=["id", "city"])
    assert run.rows == multiset(expected)


@each_format
def test_a_record_a_value_and_formats_travel_pickled(formats, name):
    format, written = formats[name]
    values = [written(["7", "x"]), None, written(["n"])]
    parsed = fm.parse_records_with_errors(values, format)
    assert parsed.data.column("id").to_pylist() == [7, None, None]
    assert [(e.record, e.code) for e in parsed.details] == [(2, "invalid")]
    again = pickle.loads(pickle.dumps(format))
    assert again == format
    assert fm.read(written(["7"]), again).num_rows == 1


@each_format
def test_a_saved_stream_goes_on(formats, name):
    format, written = formats[name]
    data = b"".join(map(written, RECORDS[:3]))
    for cut, batches in resumed_at_every_cut(data, format):
        assert multiset(row_tuples(b.data for b in batches)) == multiset(ROWS[:3]), cut


def test_lines_that_are_no_records_and_bad_ones_are_told_apart(formats):
    data = b"1|a\n# no record\n!2|b\n3|c\n"
    run = whole_read(data, formats["pipes"][0], "collect")
    assert run.rows == [(1, "a", None), (3, "c", None)]
    assert [(r[0], r[1], r[2], r[3], r[5]) for r in run.rejects] == [(16, 1, None, "unreadable_record", b"!2|b")]


def test_a_record_that_never_ends_is_told_at_the_end_of_the_input(formats):
    with pytest.raises(fm.FormatError, match=r"record 1, byte 4: .*before the end of the input, found '9:abc'"):
        fm.read(b"1:7,9:abc", formats["netstrings"][0])


def test_what_an_indexer_raises_is_raised_whatever_becomes_of_bad_records():
    def raises(data, fields):
        raise RuntimeError("no such table")

    def scan(data, state):
        raise RuntimeError("no such state")

    fm.register_format("raises", raises)
    fm.register_format("raises in scan", netstrings, record_end=None, scan=scan)
    for on_error in ("raise", "skip", "null", "collect"):
        for name, message in (("raises", "no such table"), ("raises in scan", "no such state")):
            format = fm.Registered(SCHEMA, name)
            stream = fm.Stream(format, on_error=on_error)
            with pytest.raises(RuntimeError, match=message) as raised:
                stream.push_many([b"1|a\n2:", b"7\n1:4,"], sequences=[1, 2])
            assert name in raised.value.__notes__[0]
        with pytest.raises(RuntimeError, match="no such table"):
            fm.read(b"1|a\n", fm.Registered(SCHEMA, "raises"), on_error=on_error)


WRONG = {
    "an end that is not behind its begin": lambda d, f: ([0], [[0] * len(f)], [[1] * len(f)]),
    "an end that is not behind the first record end": lambda d, f: ([len(d)], [[0] * len(f)], [[1] * len(f)]),
    "a field that is not within it": lambda d, f: ([4], [[0] * len(f)], [[9] * len(f)]),
    "no word": lambda d, f: ([], [], []),
    "integer arrays": lambda d, f: ([4.5], [[0] * len(f)], [[1] * len(f)]),
    "cannot reshape": lambda d, f: ([4, 8], [[0] * len(f)], [[1] * len(f)]),
    "kinds from 0 to 2": lambda d, f: ([4, 8], [[0] * len(f)] * 2, [[1] * len(f)] * 2, [0, 3]),
    "missi": lambda d, f: (),
}


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_what_cannot_be_is_an_error_and_no_row(what, on_error):
    fm.register_format("wrong", WRONG[what])
    format = fm.Registered(SCHEMA, "wrong")
    with pytest.raises(fm.FormatError, match=what) as raised:
        fm.read(b"1|a\n2|b\n", format, on_error=on_error)
    assert raised.value.code == "indexer_failed"
    stream = fm.Stream(format, on_error=on_error)
    with pytest.raises(fm.FormatError, match=what):
        stream.push_many([b"1|a", b"\n2|b\n"], sequences=[1, 2])
    with pytest.raises(fm.FormatError, match=what):
        fm.parse_records([b"1|a\n2|b\n"], format)


def test_native_indexers_are_not_believed_either(formats):
    fm.register_format("careless", NativeIndexer(library(), "careless"))
    with pytest.raises(fm.FormatError, match="an end that is not behind its begin and in the bytes"):
        fm.read(b"1|a\n", fm.Registered(SCHEMA, "careless"), on_error="skip")
    with pytest.raises(fm.FormatError, match="no netstring"):
        fm.read(b"3:abc,d:", formats["netstrings_in_c"][0], on_error="skip")
    fm.register_format("tomorrow", NativeIndexer(library(), "of_tomorrow"), record_end=None)
    with pytest.raises(ValueError, match="of version 2, not of 1"):
        fm.read(b"", fm.Registered(SCHEMA, "tomorrow"))
    fm.register_format("without a scan", NativeIndexer(library(), "lines"), record_end=None)
    with pytest.raises(fm.OptionError, match="has no scan"):
        fm.read(b"", fm.Registered(SCHEMA, "without a scan"))


@pytest.mark.parametrize("pieces", [[b"1|a\n2", b"|b\n"], [b"1|a\n", b"2|b\n"]])
def test_scan_and_indexer_that_disagree_lose_nothing_in_silence(pieces):
    never = np.zeros((0, 3), int)
    fm.register_format(
        "blind", lambda d, f: (never[:, 0], never[:, : len(f)], never[:, : len(f)]), record_end=None,
        scan=lambda data, state: (np.flatnonzero(data == ord("\n")) + 1, 0),
    )  # fmt: skip
    run = streamed(pieces, fm.Registered(SCHEMA, "blind"), on_error="skip", many=2)
    assert run.error[3] == "indexer_failed"


def test_threads_push_at_once(formats):
    for name in ("pipes", "netstrings", "netstrings_in_c"):
        format, written = formats[name]
        data = b"".join(written([str(i), "x" * (i % 50)]) for i in range(3000))
        pieces, found = pieces_of(data, 511), []
        stream = fm.Stream(format)

        def push(mine, stream=stream, pieces=pieces, found=found):
            for i in mine:
                found.extend(stream.push(pieces[i], sequence=i + 1))

        order = shuffled(len(pieces), 1)
        threads = [threading.Thread(target=push, args=(order[n::4],)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found += stream.finish(last_sequence=len(pieces))
        assert sorted(row[0] for row in row_tuples(b.data for b in found)) == list(range(3000))


def test_only_formats_whose_record_ends_tell_of_themselves_are_read_in_parts(formats):
    apart = {name: (begins_anywhere(format), can_be_split(format)) for name, (format, _) in formats.items()}
    assert apart["pipes"] == apart["pipes_in_c"] == (True, True)
    assert apart["long_ends"] == (False, True)
    assert apart["netstrings"] == apart["netstrings_in_c"] == (False, False)


def test_what_cannot_be_registered_is_refused_with_what_was_expected():
    for arguments, options, message in [
        (("", pipes), {}, "name"),
        (("csv", pipes), {}, "none of ours"),
        (("x", 7), {}, "expected a function"),
        (("x", pipes), {"record_end": ""}, "1 to 8 bytes"),
        (("x", pipes), {"record_end": "aba"}, "does not end as it begins"),
        (("x", pipes), {"record_end": None}, "scan"),
        (("x", pipes), {"scan": netstring_ends}, "give record_end=None"),
        (("x", pipes), {"record_end": None, "scan": 7}, "expected a function of bytes and state"),
    ]:
        with pytest.raises(fm.OptionError, match=message):
            fm.register_format(*arguments, **options)
    with pytest.raises(fm.OptionError, match="nothing is registered by the name 'nobody'"):
        fm.Registered(SCHEMA, "nobody")


def test_a_parser_in_c_reads_a_column_and_says_what_is_none():
    fm.register_parser("cents in C", pa.int64(), NativeParser(library(), "cents"))
    schema = pa.schema([pa.field("c", pa.int64(), metadata={"parser": "cents in C"}), ("n", pa.int64())])
    data = b"1.25,1\n,2\n12,3\n110.00,4\n" * 500
    table = fm.read(data, fm.Csv(schema), on_error="null")
    assert table.column("c").to_pylist() == [125, None, None, 11000] * 500
    with pytest.raises(fm.FormatError, match="record 2, field 0 'c', byte 10: expected int64, found '12'"):
        fm.read(data, fm.Csv(schema))
    filtered = fm.read(data, fm.Csv(schema), on_error="skip", filters=[("c", ">", 200)])
    assert filtered.column("n").to_pylist() == [4] * 500
    with pytest.raises(fm.SchemaError, match="fixed width"):
        fm.register_parser("x", pa.string(), NativeParser(library(), "cents"))


def test_a_record_without_an_end_behind_a_full_block_of_records_is_read_as_it_stands():
    format = fm.Delimited(pa.schema([("k", pa.string())]), levels=[fm.Level(" ", key="=")])
    for rows in (2048, 4096, 8192, 64 << 10 >> 2):
        data = b"k=abcdefgh\n" * rows + b"k=0123456789abcdefghijklmnopqrstuvwxyz"
        assert fm.read(data, format)["k"][-1].as_py() == "0123456789abcdefghijklmnopqrstuvwxyz"


def test_what_a_checkpoint_says_of_a_registered_format_is_the_same_in_every_process(formats):
    assert "0x" not in repr(formats["netstrings"][0])


def failing_behind_bad_records(data, fields):
    """Lines that begin with b cannot be read; where one has a `!` the answer is none."""
    if (data == ord("!")).any():
        return "no answer"
    stops = np.flatnonzero(data == ord("\n"))
    begins = np.concatenate([[0], stops + 1])[: len(stops)]
    kinds = np.where(data[begins] == ord("b"), 2, 0)
    return stops + 1, begins[:, None] + 0 * fields, stops[:, None] + 0 * fields, kinds


@pytest.mark.parametrize("on_error", ["skip", "null", "collect"])
@pytest.mark.parametrize("bad", [0, 3, 100])
def test_an_indexer_that_fails_is_told_however_many_bad_records_stand_before(bad, on_error):
    """More bad records than are told of hid it: rows behind it were lost without a word."""
    fm.register_format("failing", failing_behind_bad_records)
    format = fm.Registered(pa.schema([("line", pa.string())]), "failing")
    data = b"b\n" * bad + b"ok\n" * 200_000 + b"!\n" + b"ok\n"
    for threads in (1, 2):
        with pytest.raises(fm.FormatError, match="expected records and fields from the indexer"):
            fm.read(data, format, on_error=on_error, threads=threads)
    stream = fm.Stream(format, on_error=on_error)
    with pytest.raises(fm.FormatError, match="expected records and fields from the indexer"):
        (stream.push(data, sequence=1), stream.finish())
