"""Values by registered parsers: every text format, cut, order, kernel and on_error; what parsers may not do.

In: columns whose metadata names a parser. Out: verdicts. Refuses to know: what the parsers that come along make of a text.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from oracle.stream_runs import departure, pieces_at, pieces_of, row_tuples, shuffled, streamed, whole_read

import formatter as fm

POINT = pa.struct([("x", pa.float64()), ("y", pa.float64())])


def column(name, kind, parser, nullable=True):
    return pa.field(name, kind, nullable, metadata={"parser": parser})


SCHEMA = pa.schema([("id", pa.int64()), column("n", pa.int64(), "whole_thousands"), column("p", POINT, "wkt_point")])
FORMATS = {
    "csv": (fm.Csv(SCHEMA, delimiter=";"), '{};"{}";{}\n'),
    "csv by the long way": (fm.Csv(SCHEMA, delimiter=";", escape="\\"), "{};{};{}\n"),
    "json": (fm.Json(SCHEMA), '{{"id":{},"n":"{}","p":"{}"}}\n'),
    "json in an array": (fm.Json(SCHEMA, records="concatenated"), '{{"p":"{2}","n":"{1}","id":{0}}}\n'),
    "declared": (fm.Delimited(SCHEMA, levels=[fm.Level("|", key="=")], marks=['""']), 'n={1}|p="{2}"|id={0}\n'),
}
VALUES = [
    ("1", "1,234", "POINT (1 2)"),
    ("2", "12,34", "POINT (1 2)"),
    ("3", "5", "POINT"),
    ("x", "6", "POINT (3 4.5)"),
    ("5", "7", "POINT(0 0)"),
]
NULLED = [
    (1, 1234, {"x": 1.0, "y": 2.0}),
    (2, None, {"x": 1.0, "y": 2.0}),
    (3, 5, None),
    (None, 6, {"x": 3.0, "y": 4.5}),
    (5, 7, {"x": 0.0, "y": 0.0}),
]
ROWS = {"null": NULLED, "skip": [NULLED[0], NULLED[4]]}


def data_of(name):
    return "".join(FORMATS[name][1].format(*values) for values in VALUES).encode()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("on_error", ["null", "skip", "collect"])
def test_every_cut_and_order_gives_the_values_of_the_whole(name, on_error, kernel):
    format, data = FORMATS[name][0], data_of(name)
    whole = whole_read(data, format, on_error)
    assert [row[0] for row in whole.rows] == [
        row[0] for row in sorted(ROWS["null" if on_error == "null" else "skip"], key=repr)
    ]
    assert (
        row_tuples([fm.read(data, format, on_error=on_error, rejects=[])])
        == ROWS["null" if on_error == "null" else "skip"]
    )
    if on_error == "collect":
        assert [reject[1:4] for reject in whole.rejects] == [
            (1, "n", "invalid"),
            (2, "p", "invalid"),
            (3, "id", whole.rejects[2][3]),
        ]
    for cut in range(0, len(data) + 1, 1 if on_error == "collect" else 7):
        for order in ([0, 1], [1, 0]):
            assert departure(streamed(pieces_at(data, [cut]), format, order, on_error), whole, 2) is None, cut
    for size in (1, 7, 64):
        pieces = pieces_of(data, size)
        assert departure(streamed(pieces, format, shuffled(len(pieces), size), on_error), whole, len(pieces)) is None


@pytest.mark.parametrize("name", FORMATS)
def test_a_text_that_is_no_value_is_an_error_with_its_place(name):
    format, data = FORMATS[name][0], data_of(name)
    with pytest.raises(fm.FormatError, match="expected int64, found") as raised:
        fm.read(data, format)
    error = raised.value
    assert (error.record, error.column, error.code) == (1, "n", "invalid")
    assert data[error.byte_offset :].lstrip(b'"').startswith(b"12,34")


@pytest.mark.parametrize("name", FORMATS)
def test_projections_and_filters_know_the_values(name):
    format, data = FORMATS[name][0], data_of(name)
    options = {"on_error": "null"}
    assert fm.read(data, format, columns=["p", "id"], **options).to_pylist() == [
        {"p": row[2], "id": row[0]} for row in ROWS["null"]
    ]
    assert fm.read(data, format, columns=["id"], filters=[("n", ">", 5), ("id", ">=", 1)], **options).to_pylist() == [
        {"id": 1}, {"id": 5},
    ]  # fmt: skip
    either = [[("n", "==", 5)], [("id", "==", 1)]]
    assert fm.read(data, format, columns=["id", "n"], filters=either, **options)["id"].to_pylist() == [1, 3]
    assert fm.read(data, format, columns=[], filters=[("n", "is_null", None)], **options).num_rows == 1
    stream = fm.Stream(format, columns=["id"], filters=[("n", "<", 7)], on_error="null")
    batches = stream.push(data, sequence=1) + stream.finish()
    assert [value for batch in batches for value in batch.data["id"].to_pylist()] == [3, None]
    assert batches[0].data.schema == pa.schema([("id", pa.int64())])


def test_required_columns_refuse_texts_that_are_no_values():
    format = fm.Csv(pa.schema([column("n", pa.int64(), "whole_thousands", nullable=False)]))
    assert fm.read(b'"1,000"\nx\n2\n', format, on_error="null")["n"].to_pylist() == [1000, 2]


def test_shared_streams_records_of_arrays_and_several_threads_know_them():
    format, data = FORMATS["csv"][0], data_of("csv") * 2000
    expected = fm.read(data, format, on_error="null", threads=1)
    assert fm.read(data, format, on_error="null", threads=4).equals(expected)
    shared = fm.SharedStream(format, on_error="null")
    one, two = shared.subscribe(["n"], queue=1000), shared.subscribe(["id"], filters=[("id", ">", 1)], queue=1000)
    with pytest.raises(fm.OptionError, match="a parser makes"):
        shared.subscribe(["id"], filters=[("n", ">", 1)])
    shared.push(data, sequence=1)
    shared.finish()
    assert [value for batch in one for value in batch.column("n").to_pylist()] == expected["n"].to_pylist()
    assert [value for batch in two for value in batch.column("id").to_pylist()] == [
        i for i in expected["id"].to_pylist() if i and i > 1
    ]
    values = [line.encode() for line in data_of("csv").decode().splitlines()]
    assert row_tuples([fm.parse_records(values, format)]) == ROWS["null"]


def test_streams_may_be_pushed_by_many_threads():
    format = fm.Csv(pa.schema([column("n", pa.int64(), "whole_thousands")]), delimiter=";")
    stream, found, lock = fm.Stream(format), [], threading.Lock()

    def push(first):
        for sequence in range(first, 401, 4):
            batches = stream.push(f"{sequence},000\n{sequence},001\n{sequence},0".encode() + b"02\n", sequence=sequence)
            with lock:
                found.extend(batches)

    threads = [threading.Thread(target=push, args=(i,)) for i in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found += stream.finish()
    values = sorted(value for batch in found for value in batch.data["n"].to_pylist())
    assert values == [1000 * i + k for i in range(1, 401) for k in range(3)]


def test_texts_come_as_one_array_null_where_there_is_none():
    seen = []

    def parse(texts):
        seen.append(texts.to_pylist())
        return pc.utf8_length(texts).cast(pa.int64())

    fm.register_parser("lengths", pa.int64(), parse)
    format = fm.Csv(pa.schema([("id", pa.int64()), column("n", pa.int64(), "lengths")]), nulls=("", "-"))
    assert fm.read('1,aé\n2,-\n3,\n4,"x,""y"\n'.encode(), format)["n"].to_pylist() == [2, None, None, 4]
    assert seen[0] == ["aé", None, None, 'x,"y']


@pytest.mark.parametrize("on_error", ["raise", "null", "skip", "collect"])
def test_what_a_parser_raises_is_raised_and_nothing_is_taken_for_bad(on_error):
    def parse(texts):
        raise KeyError("no table")

    fm.register_parser("raising", pa.int64(), parse)
    format = fm.Csv(pa.schema([column("n", pa.int64(), "raising")]))
    with pytest.raises(KeyError, match="no table") as raised:
        fm.read(b"1\n2\n", format, on_error=on_error)
    assert "in parser 'raising'" in raised.value.__notes__[0]
    with pytest.raises(KeyError):
        fm.Stream(format, on_error=on_error).push(b"1\n" * 9, sequence=1)
    shared = fm.SharedStream(format, on_error=on_error)
    listener = shared.subscribe(["n"])
    with pytest.raises(KeyError):
        shared.push(b"1\n" * 9, sequence=1)
    assert listener is not None  # alive until then
    with pytest.raises(KeyError):
        fm.parse_records([b"1"], format)


@pytest.mark.parametrize(
    "made", [lambda texts: texts, lambda texts: pa.nulls(len(texts) + 1, pa.int64()), lambda texts: [1]]
)
def test_an_array_of_another_type_or_length_is_told_of(made):
    fm.register_parser("odd", pa.int64(), made)
    with pytest.raises(fm.SchemaError, match="parser 'odd': expected an array of 1 values of int64"):
        fm.read(b"1\n", fm.Csv(pa.schema([column("n", pa.int64(), "odd")])))


def test_what_cannot_have_a_parser_is_refused():
    with pytest.raises(fm.SchemaError, match="no parser 'nobody' is registered"):
        fm.read(b"1\n", fm.Csv(pa.schema([column("n", pa.int64(), "nobody")])))
    with pytest.raises(fm.SchemaError, match="makes int64, the schema says int32"):
        fm.read(b"1\n", fm.Csv(pa.schema([column("n", pa.int32(), "whole_thousands")])))
    inside = pa.schema([("s", pa.struct([column("n", pa.int64(), "whole_thousands")]))])
    with pytest.raises(fm.SchemaError, match="only whole columns"):
        fm.read(b"{}\n", fm.Json(inside))
    with pytest.raises(fm.SchemaError, match="binary rows have none"):
        fm.read(b"12345678", fm.Native(pa.schema([column("n", pa.int64(), "whole_thousands")])))
    for arguments in [("", pa.int64(), len), ("a:b", pa.int64(), len), ("a", pa.int64(), None)]:
        with pytest.raises(fm.OptionError):
            fm.register_parser(*arguments)
    with pytest.raises(fm.SchemaError):
        fm.register_parser("a", "int64", len)


def test_a_name_registered_anew_is_read_anew():
    format = fm.Csv(pa.schema([column("n", pa.int64(), "again")]))
    for answer in (1, 2):
        fm.register_parser("again", pa.int64(), fm.per_value(lambda text, answer=answer: answer))
        assert fm.read(b"x\n", format)["n"].to_pylist() == [answer]


def halved(texts):
    return pc.divide(texts.cast(pa.int64()), 2)


def test_a_format_takes_its_parsers_along_to_another_process():
    fm.register_parser("halved", pa.int64(), halved)
    format = fm.Csv(pa.schema([column("n", pa.int64(), "halved")]))
    program = (
        "import sys, pickle; sys.path[:0] = sys.argv[2:]; import formatter as fm; "
        "print(fm.read(b'8\\n', pickle.loads(bytes.fromhex(sys.argv[1])))['n'].to_pylist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, pickle.dumps(format).hex(), *sys.path],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[4]"
