"""A consumer may want no column and only count: every format gives its records by every door, each kernel, each cut.

In: a few records in each format. Out: how many there are. Refuses to know: what is in them.
"""

from __future__ import annotations

import pyarrow as pa
import pytest
from oracle.stream_runs import pieces_at

import formatter as fm

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])
PACKED = pa.schema([("a", pa.int64()), ("b", pa.int32())])
PAIRS = b'a=1 b=x\na=2 b="y z"\na=3\n'
OBJECTS = b'{"a":1,"b":"x"}\n{"a":2}\n{"b":"z","a":3}\n'
ROWS = b'1,x\n2,"y\n"\n3,z\n'


def formats():
    """Made anew: they decode by the kernel that is active then."""
    return {
        "csv": (fm.Csv(SCHEMA), ROWS),
        "csv without quotes": (fm.Csv(SCHEMA, quote=None), b"1,x\n2,y\n3,z\n"),
        "csv with a header": (fm.Csv(SCHEMA, header=True), b"b,a\n" + b"x,1\ny,2\nz,3\n"),
        "lenient csv": (fm.Csv(SCHEMA, quotes="lenient"), ROWS),
        "csv with an escape": (fm.Csv(SCHEMA, escape="\\"), ROWS),
        "json": (fm.Json(SCHEMA), OBJECTS),
        "fully validated json": (fm.Json(SCHEMA, validate="full"), OBJECTS),
        "packed rows": (fm.Native(PACKED), bytes(36)),
        "framed rows": (fm.Framed(fm.Native(PACKED)), (b"\x0c\0\0\0" + bytes(12)) * 3),
        "separated parts": (fm.Delimited(SCHEMA, levels=[fm.Level(",")]), b"1,x\n2,y\n3,z\n"),
        "parts behind keys": (fm.Delimited(SCHEMA, levels=[fm.Level(" ", key="=")], marks=['""'], escapes={"%20": " "}), PAIRS),
        "byte ranges": (fm.Delimited(SCHEMA, paths={"a": "0:1", "b": "1:"}), b"1x\n2y\n3z\n"),
        "logfmt": (fm.declared.logfmt(SCHEMA), PAIRS),
        "ltsv": (fm.declared.ltsv(SCHEMA), b"a:1\tb:x\nb:y\ta:2\na:3\n"),
    }  # fmt: skip


ORDERS = {"in order": 1, "backwards": -1}


@pytest.fixture(params=formats())
def case(request):
    return formats()[request.param]


def rows(batches):
    return sum(batch.data.num_rows for batch in batches)


def test_readers_count(kernel, case):
    format, data = case
    assert fm.read(data, format, columns=[]).num_rows == 3
    assert fm.open(data, format, columns=[]).read_all().num_rows == 3
    header = data[: data.index(b"\n") + 1] if getattr(format, "header", False) else b""
    many = header + data[len(header) :] * 20_000
    assert fm.read(many, format, columns=[], threads=2).num_rows == 60_000


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("layout", ["projected", "positional"])
def test_streams_count(case, order, ordered, layout):
    format, data = case
    for size in (1, 3, 7, len(data)):
        stream = fm.Stream(format, columns=[], ordered=ordered, layout=layout)
        pieces = list(enumerate(pieces_at(data, range(size, len(data), size)), start=1))
        found = 0
        for sequence, piece in pieces[:: ORDERS[order]]:
            found += rows(stream.push(piece, sequence=sequence))
        assert found + rows(stream.finish()) == 3


@pytest.mark.parametrize("on_error", ["raise", "null", "skip", "collect"])
def test_every_way_with_errors_counts(case, on_error):
    format, data = case
    stream = fm.Stream(format, columns=[], on_error=on_error)
    assert rows(stream.push(data, sequence=1)) + rows(stream.finish()) == 3


def test_a_restored_stream_counts_on(case):
    format, data = case
    for cut in range(1, len(data)):
        stream = fm.Stream(format, columns=[])
        found = stream.push(data[:cut], sequence=1)
        stream = fm.Stream.restore(format, stream.checkpoint())
        assert rows(found) + rows(stream.push(data[cut:], sequence=2)) + rows(stream.finish()) == 3


def test_consumers_count_and_a_stream_without_any_is_read_to_its_end(case):
    format, data = case
    alone = fm.SharedStream(format)
    alone.push(data, sequence=1)
    alone.finish()
    shared = fm.SharedStream(format)
    counting = shared.subscribe([])
    shared.push(data, sequence=1)
    shared.finish()
    assert sum(batch.num_rows for batch in counting) == 3


def test_a_filter_alone_counts(case):
    format, data = case
    expected = fm.read(data, format, filters=[("a", ">", 1)]).num_rows
    assert fm.read(data, format, columns=[], filters=[("a", ">", 1)]).num_rows == expected
    stream = fm.Stream(format, columns=[], filters=[("a", ">", 1)])
    assert rows(stream.push(data, sequence=1)) + rows(stream.finish()) == expected


def test_single_records_count(case):
    format, data = case
    if getattr(format, "header", False):
        return
    whole = fm.read(data, format)
    record = data[: len(data) // 3] if isinstance(format, fm.Native) or type(format).__name__ == "Framed" else None
    record = record or data[: data.index(b"\n")]
    records = pa.array([record, None, record], pa.binary())
    assert whole.num_rows == 3
    assert fm.parse_records(records, format, columns=[]).num_rows == 3
