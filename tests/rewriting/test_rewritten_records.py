"""What is rewritten reads as what it was made of: every format, spelling and type, whole inputs and streams."""

import datetime as dt
import json
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.stream_runs import pieces_of, shuffled

import formatter as fm

TYPES = {
    "i": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "s": (pa.int8(), st.integers(-128, 127)),
    "u": (pa.uint64(), st.integers(0, 2**64 - 1)),
    "f": (pa.float64(), st.floats(allow_nan=False, allow_infinity=False)),
    "g": (pa.float32(), st.floats(allow_nan=False, allow_infinity=False, width=32)),
    "d": (pa.decimal128(20, 8), st.decimals(-(10**11), 10**11, places=8, allow_nan=False)),
    "b": (pa.bool_(), st.booleans()),
    "day": (pa.date32(), st.dates()),
    "at": (pa.timestamp("us", "UTC"), st.datetimes(timezones=st.just(dt.UTC))),
    "clock": (pa.time64("us"), st.times()),
    "t": (pa.string(), st.text(st.characters(exclude_categories=["Cs"]), max_size=12)),
    "v": (pa.large_string(), st.sampled_from(["", "NA", "a,b", 'say "x"', "x\ny\r", "\\", "null", "\t"])),
}
SCHEMA = pa.schema([(name, kind) for name, (kind, _) in TYPES.items()])
TEXTS = {"csv": fm.Csv(SCHEMA, nulls=("", "NA")), "json": fm.Json(SCHEMA)}
tables = st.lists(
    st.fixed_dictionaries({name: st.none() | values for name, (_, values) in TYPES.items()}), max_size=12
).map(lambda rows: pa.Table.from_pylist(rows, SCHEMA))


def written(table: pa.Table, to: fm.Csv | fm.Json) -> bytes:
    """By way of binary rows no null survives, so a table is first written by its own texts."""
    rewriter = fm.Rewriter(fm.Json(table.schema), to=to)
    return rewriter.header + b"".join(rewriter.rewritten(batch) for batch in table.to_batches())


@given(tables, st.sampled_from(["csv", "json"]), st.sampled_from(["csv", "json"]))
def test_tables_survive_being_written_and_rewritten(table, first, second):
    data = written(table, TEXTS[first])
    assert fm.read(data, TEXTS[first]).combine_chunks() == table.combine_chunks()
    again = b"".join(fm.rewrite(data, TEXTS[first], to=TEXTS[second], threads=1))
    assert fm.read(again, TEXTS[second]).combine_chunks() == table.combine_chunks()
    if second == "json":
        assert all(isinstance(json.loads(line), dict) for line in again.splitlines())


NUMBERS = [
    "7", "+7", "-007", "0", "-0", "00", "99999999999999999999", "9223372036854775807", "-9223372036854775808", "7.5", ".5",
    "5.", "-.25", "1e3", "1E-2", "1e400", "+.5e+1", "inf", "nan", "-", "", "x", '""', '"7"', '"+07.50"', "NA", '"NA"', "1,5",
    "0.1234567890", "123456789012.5", "1" * 60, ".",
]  # fmt: skip


@pytest.mark.parametrize("kind", [pa.int64(), pa.int16(), pa.uint8(), pa.uint64(), pa.float64(), pa.float32(), pa.float16(),
                                  pa.decimal128(12, 4), pa.decimal64(9, 2)])  # fmt: skip
@pytest.mark.parametrize(
    "options", [{}, {"quoted_nulls": True}, {"decimal": ",", "delimiter": ";"}, {"nulls": ("NA",)}]
)
@pytest.mark.parametrize("target", ["csv", "json"])
def test_every_spelling_of_a_number_is_the_same_number_or_an_error_where_it_was_one(kind, options, target):
    schema = pa.schema([("i", pa.int64()), ("n", kind)])
    source = fm.Csv(
        schema, nulls=options.get("nulls", ("", "NA")), **{k: v for k, v in options.items() if k != "nulls"}
    )
    to = fm.Csv(schema) if target == "csv" else fm.Json(schema)
    between = ";" if "decimal" in options else ","
    records = [f"{i}{between}{text}\n" for i, text in enumerate(NUMBERS) if between not in text]
    for record in records:
        data = record.encode()
        expected = fm.read(data, source, on_error="skip", max_errors=1, threads=1).to_pylist()
        infinite = (
            expected and isinstance(expected[0]["n"], float) and expected[0]["n"] in (float("inf"), float("-inf"))
        )
        if target == "json" and (infinite or (expected and expected[0]["n"] != expected[0]["n"])):
            expected = []
        found = b"".join(fm.rewrite(data, source, to=to, on_error="skip", max_errors=1, threads=1))
        read = fm.read(found, to).to_pylist()
        assert repr(read) == repr(expected), (record, found)


def test_numbers_of_csv_stay_as_they_are_written():
    schema = pa.schema([("f", pa.float64()), ("d", pa.decimal128(9, 3)), ("i", pa.int32())])
    data = b"1.50,2.10,3\n100000000000000000000000.10,+1.5,007\n"
    found = b"".join(fm.rewrite(data, fm.Csv(schema), to=fm.Json(schema)))
    assert found == b'{"f":1.50,"d":2.10,"i":3}\n{"f":100000000000000000000000.10,"d":1.5,"i":7}\n'


def test_errors_have_their_place_and_their_type():
    schema = pa.schema([("i", pa.int64()), ("f", pa.float64())])
    with pytest.raises(fm.FormatError, match="record 1, field 1 'f', byte 6: expected double") as raised:
        b"".join(fm.rewrite(b"1,2\n3,x\n", fm.Csv(schema), to=fm.Json(schema)))
    assert raised.value.byte_offset == 6
    rejects: list[pa.Table] = []
    found = b"".join(fm.rewrite(b"1,2\ny,1\n", fm.Csv(schema), to=fm.Json(schema), on_error="collect", rejects=rejects))
    assert found == b'{"i":1,"f":2}\n'
    assert rejects[0].column("code").to_pylist() == ["invalid"]


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
def test_buffers_in_any_order_are_rewritten(size):
    schema = pa.schema([("id", pa.int64()), ("city", pa.string())])
    data = b"".join(b'%d,"Os""lo, %d"\n' % (i, i) for i in range(200))
    rewriter = fm.Rewriter(fm.Csv(schema), to=fm.Json(schema), filters=[("id", "<", 150)])
    stream = fm.Stream(rewriter.format, columns=rewriter.columns, filters=[("id", "<", 150)])
    pieces = pieces_of(data, size)
    batches = [b for i in shuffled(len(pieces), 3) for b in stream.push(pieces[i], sequence=i + 1)]
    batches += stream.finish(last_sequence=len(pieces))
    lines = b"".join(rewriter.rewritten(batch.data) for batch in batches).splitlines()
    assert sorted(map(json.loads, lines), key=lambda row: row["id"]) == [
        {"id": i, "city": f'Os"lo, {i}'} for i in range(150)
    ]


@pytest.mark.parametrize("endian", ["little", "big"])
def test_text_becomes_binary_rows_and_binary_rows_text(endian):
    schema = pa.schema(
        [("i", pa.int64()), ("f", pa.float32()), ("b", pa.bool_()), ("d", pa.decimal128(9, 2)), ("day", pa.date32())]
    )
    data = b"1,2.5,true,3.25,2024-02-29\n-7,-0.5,false,-1.50,1999-12-31\n" * 3
    native = fm.Native(schema, endian=endian)
    rows = b"".join(fm.rewrite(data, fm.Csv(schema), to=native))
    assert fm.read(rows, native) == fm.read(data, fm.Csv(schema))
    lines = b"".join(fm.rewrite(rows, native, to=fm.Json(schema)))
    assert fm.read(lines, fm.Json(schema)) == fm.read(data, fm.Csv(schema))
    assert b"".join(fm.rewrite(lines, fm.Json(schema), to=native)) == rows
    assert b"".join(fm.rewrite(rows, native, to=fm.Csv(schema, delimiter="\t"))).startswith(
        b"1\t2.5\ttrue\t3.25\t2024-02-29\n"
    )


def test_what_has_no_spelling_is_refused():
    schema = pa.schema([("f", pa.float64())])
    native = fm.Native(schema)
    infinite = b"".join(fm.rewrite(b"inf\n", fm.Csv(schema), to=native))
    with pytest.raises(fm.SchemaError, match="infinity"):
        b"".join(fm.rewrite(infinite, native, to=fm.Json(schema)))
    with pytest.raises(fm.SchemaError, match="nulls"):
        b"".join(fm.rewrite(b"NA\n", fm.Csv(schema, nulls=("NA",)), to=native))
    with pytest.raises(fm.SchemaError, match="nulls"):
        b"".join(fm.rewrite(b'{"f":null}\n', fm.Json(schema), to=fm.Csv(schema, nulls=())))
    assert fm.read(b"".join(fm.rewrite(b"inf\n", fm.Csv(schema), to=fm.Csv(schema))), fm.Csv(schema)).to_pylist() == [
        {"f": float("inf")}
    ]


def test_targets_that_cannot_be_written_are_refused():
    schema = pa.schema([("i", pa.int64())])
    source = fm.Csv(schema)
    with pytest.raises(fm.OptionError, match="escape"):
        fm.Rewriter(source, to=fm.Csv(schema, escape="\\"))
    with pytest.raises(fm.OptionError, match="records"):
        fm.Rewriter(source, to=fm.Json(schema, records="array"))
    with pytest.raises(fm.OptionError, match="one byte"):
        fm.Rewriter(source, to=fm.Csv(schema, delimiter="||"))
    with pytest.raises(fm.OptionError, match="nulls"):
        fm.Rewriter(source, to=fm.Csv(schema, nulls=("a,b",)))
    with pytest.raises(fm.OptionError, match=r"fm\.Csv"):
        fm.Rewriter(source, to=fm.Framed(fm.Native(schema)))
    for nothing in (fm.Csv(pa.schema([])), fm.Json(pa.schema([]))):
        with pytest.raises(fm.SchemaError, match="at least one column"):
            fm.Rewriter(source, to=nothing)
    with pytest.raises(fm.SchemaError, match="no column 'x'"):
        fm.Rewriter(source, to=fm.Json(pa.schema([("x", pa.int64())])))
    with pytest.raises(fm.SchemaError, match="expected the same"):
        fm.Rewriter(source, to=fm.Json(pa.schema([("i", pa.int32())])))
    nested = pa.schema([("l", pa.list_(pa.int64()))])
    with pytest.raises(fm.SchemaError, match="cannot be written"):
        fm.Rewriter(fm.Json(nested), to=fm.Json(nested))


def test_a_header_and_a_chosen_order_of_columns_are_written():
    schema = pa.schema([("a,b", pa.string()), ("c", pa.decimal128(5, 2))])
    other = pa.schema([schema.field(1), schema.field(0)])
    to = fm.Csv(other, header=True, delimiter=";")
    found = b"".join(fm.rewrite(b"x;y,1\n,2\n", fm.Csv(schema), to=to))
    assert found == b'c;a,b\n1;"x;y"\n2;\n'
    assert fm.read(found, to).to_pylist() == [{"c": Decimal(1), "a,b": "x;y"}, {"c": Decimal(2), "a,b": None}]
