"""Null, true and false may be spelled as nothing, with quotes, blanks or escapes: how bytes are cut changes no value.

In: dialects with such spellings, and fields made of them. Out: the oracle's rows and rejects, whole and in pieces.
"""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_choice import under_kernel
from oracle.csv_oracle import Dialect, parse
from oracle.csv_runs import CHUNK_SIZES, cut_every, difference, through_read, through_stream

import formatter as fm

SPELLINGS = [
    *(
        "",
        "a",
        "N",
        'a"b',
        'a""b',
        " N",
        "N ",
        "1",
        "-1",
        "\\N",
        "a\\b",
        '"N"',
        '""',
        '"',
        "nan",
        "1.5",
        "beyond eight bytes",
    ),
    *("2024-01-01", " ", "\t", "0", "true", "é"),
]
COLUMNS = [
    pa.bool_(), pa.bool_(), pa.int64(), pa.int8(), pa.float32(), pa.string(), pa.binary(), pa.date32(), pa.decimal128(9, 2),
    pa.dictionary(pa.int32(), pa.string()), pa.string_view(),
]  # fmt: skip
spelling = st.sampled_from(SPELLINGS)
few = st.lists(spelling, max_size=3, unique=True).map(tuple)


@st.composite
def inputs(draw: st.DrawFn) -> tuple[Dialect, bytes]:
    kinds = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=3))
    trues = draw(few)
    dialect = Dialect(
        pa.schema([(f"c{i}", kind) for i, kind in enumerate(kinds)]),
        quote=draw(st.sampled_from(['"', '"', '"', None])),
        escape=draw(st.sampled_from([None, None, "\\"])),
        trim=draw(st.sampled_from([False, False, True, "left", "right"])),
        nulls=draw(few),
        true_values=trues,
        false_values=tuple(each for each in draw(few) if each not in trues),
    )
    own = [*dialect.nulls, *dialect.true_values, *dialect.false_values, *SPELLINGS]

    def written(text: str, way: str) -> str:
        if way == "quoted" and dialect.quote:
            undone = text.replace("\\", "\\\\").replace('"', '\\"') if dialect.escape else text.replace('"', '""')
            return f'"{undone}"'
        return {"as it is": text, "quoted": text, "in quotes": f'"{text}"', "padded": f" {text}\t"}[way]

    way = st.sampled_from(["as it is", "quoted", "quoted", "in quotes", "padded"])
    field = st.builds(written, st.sampled_from(own), way)
    record = st.lists(field, min_size=len(kinds), max_size=len(kinds)).map(",".join)
    usual = draw(record)  # most records alike, so that what is learned from one counts for others
    records = draw(st.lists(st.just(usual) | record, min_size=1, max_size=40))
    return dialect, "\n".join(records).encode() + draw(st.sampled_from([b"", b"\n"]))


@given(
    case=inputs(),
    size=st.sampled_from(CHUNK_SIZES),
    on_error=st.sampled_from(["collect", "null"]),
    kernel=st.sampled_from(fm.kernels()),
)
def test_values_are_those_of_the_oracle_however_they_are_spelled_and_cut(case, size, on_error, kernel):
    dialect, data = case
    expected = parse(data, dialect, on_error=on_error)
    with under_kernel(kernel):
        assert difference(through_read(data, dialect, on_error), expected, on_error) is None
        assert (
            difference(through_stream(data, dialect, on_error, cut_every(size, len(data))), expected, on_error) is None
        )


FLAGS = pa.schema([("n", pa.int64()), ("b", pa.bool_())])


@pytest.mark.parametrize("data", [b'7,""\n', b"7,\n", b'7,""\n8,N\n', b'7,""\n8,""\n9,""\n'], ids=repr)
def test_an_empty_field_is_false_where_false_may_be_written_as_nothing(data, kernel):
    format = fm.Csv(FLAGS, false_values=("N", ""), nulls=())
    expected = [False] * data.count(b"\n")
    assert fm.read(data, format)["b"].to_pylist() == expected
    for size in CHUNK_SIZES:
        stream = fm.Stream(format, ordered=True)
        batches = [
            b for at in range(0, len(data), size) for b in stream.push(data[at : at + size], sequence=at // size + 1)
        ]
        batches += stream.finish()
        assert [value for b in batches for value in b.data["b"].to_pylist()] == expected, size


def test_a_spelling_with_a_quote_is_compared_with_what_a_field_reads_as():
    format = fm.Csv(FLAGS, true_values=('a"b',), false_values=('""',))
    assert fm.read(b'1,"a""b"\n2,""""""\n', format)["b"].to_pylist() == [True, False]
    for field in (b'a"b', b'"a"b"', b'""""'):
        with pytest.raises(fm.FormatError):
            fm.read(b"1," + field + b"\n", format)


def test_a_null_token_that_no_bare_field_can_be_makes_no_null():
    schema = pa.schema([("s", pa.string()), ("b", pa.bool_())])
    assert fm.read(b" N,true\n", fm.Csv(schema, nulls=(" N",), trim=True)).to_pylist() == [{"s": "N", "b": True}]
    with pytest.raises(fm.FormatError, match="field 1"):
        fm.read(b'x,""\n', fm.Csv(schema, nulls=('""',)))
    with pytest.raises(fm.FormatError) as error:
        fm.read(b'a""b,true\n', fm.Csv(schema, nulls=('a""b',)))
    assert error.value.code == "stray_quote"
