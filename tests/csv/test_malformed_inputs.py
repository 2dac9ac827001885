"""Every malformed input has one decided result for each on_error, the same for every chunking and kernel."""

import random

import pyarrow as pa
import pytest
from oracle.csv_oracle import Dialect, parse
from oracle.csv_runs import CHUNK_SIZES, csv_format, cut_every, difference, through_read, through_stream
from oracle.malformed_dialects import SHAPES as DIALECT_SHAPES
from oracle.malformed_structure import SHAPES as RECORD_SHAPES
from oracle.malformed_values import BAD, GOOD
from test_oracle_agrees_with_the_tables import value_schema

import formatter as fm

SHAPES = RECORD_SHAPES + DIALECT_SHAPES
POLICIES = ("raise", "null", "skip", "collect")
CROWD = 150  # records on both sides: enough for whole SIMD blocks and more than one validity word


def assert_decided_everywhere(data: bytes, dialect: Dialect) -> None:
    for on_error in POLICIES:
        outcome = parse(data, dialect, on_error=on_error)
        assert difference(through_read(data, dialect, on_error), outcome, on_error) is None, on_error
        for size in (*CHUNK_SIZES, max(1, len(data))):
            run = through_stream(data, dialect, on_error, cut_every(size, len(data)))
            assert difference(run, outcome, on_error) is None, f"{on_error}, buffers of {size}"


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_malformed_record_is_the_same_for_every_cut_and_policy(kernel, shape):
    assert_decided_everywhere(shape.data, Dialect(shape.schema, **shape.options))


@pytest.mark.parametrize(("kind", "text", "code"), BAD)
def test_malformed_field_is_the_same_for_every_cut_and_policy(kernel, kind, text, code):
    assert_decided_everywhere(b"1,,\n2," + text + b",x\n3,,z\n", Dialect(value_schema(kind)))


@pytest.mark.parametrize(("kind", "text", "code"), BAD)
def test_malformed_field_in_a_crowd_is_found_at_its_place(kernel, kind, text, code):
    good = next((fine for other, fine, _ in GOOD if other == kind and fine), b"1")
    crowd = b"".join(b"%d,%s,x\n" % (number, good) for number in range(CROWD))
    data = crowd + b"7," + text + b",bad\n" + crowd
    dialect = Dialect(value_schema(kind))
    for on_error in ("raise", "collect", "null"):
        outcome = parse(data, dialect, on_error=on_error)
        assert difference(through_read(data, dialect, on_error), outcome, on_error) is None, on_error
        run = through_stream(data, dialect, on_error, cut_every(641, len(data)))
        assert difference(run, outcome, on_error) is None, on_error


@pytest.mark.parametrize(("kind", "text", "value"), GOOD)
def test_unusual_field_has_its_value_for_every_cut(kernel, kind, text, value):
    data, dialect = b"1,,\n2," + text + b",x\n3," + text + b",\n", Dialect(value_schema(kind))
    outcome = parse(data, dialect)
    assert difference(through_read(data, dialect, "raise"), outcome, "raise") is None
    for size in CHUNK_SIZES:
        run = through_stream(data, dialect, "raise", cut_every(size, len(data)))
        assert difference(run, outcome, "raise") is None, size


@pytest.mark.parametrize("options", [{}, {"max_quoted_bytes": 5000}, {"quotes": "lenient"}], ids=repr)
@pytest.mark.parametrize("distance", [1, 2, 7, 60, 300, 1200])
def test_a_wrong_arity_costs_its_record_only_however_near_the_next_one_is(kernel, distance, options):
    """Behind one the kernel looks no further than a few records at first."""
    chance = random.Random(distance)
    schema = pa.schema([("a", pa.int64()), ("b", pa.string()), ("c", pa.int64())])
    lines, rows, wrong, at = [], [], [], 0
    for number in range(4000):
        line = f"{number},{'x' * chance.choice([0, 3, 40, 40, 600 if number % 50 == 0 else 5, 4000 * (number % 400 == 7)])},7"
        if chance.randrange(distance) == 0:
            line = chance.choice(["\n", line + ",more", line[:-2], "lonely"])
            wrong += [(at, len(rows) + len(wrong))] * (line != "\n")
        else:
            rows.append((number, line.split(",")[1] or None, 7))
        lines.append(line + "\n")
        at += len(lines[-1])
    data = "".join(lines).encode()
    for columns in (["a", "b", "c"], ["c"]):
        rejects: list[pa.Table] = []
        format = fm.Csv(schema, **options)
        table = fm.read(data, format, columns=columns, on_error="collect", rejects=rejects, threads=1)
        assert list(zip(*(table[c].to_pylist() for c in columns), strict=True)) == [r[-len(columns) :] for r in rows]
        found = [(r["byte_offset"], r["record"]) for reject in rejects for r in reject.to_pylist()]
        assert found == wrong


def test_error_text_says_where_what_was_expected_and_what_was_found():
    data, dialect = b"1,1_000,x\n", Dialect(value_schema(pa.int64()))
    with pytest.raises(fm.FormatError) as caught:
        fm.read(data, csv_format(dialect))
    error = caught.value
    assert (error.code, error.column, error.record, error.byte_offset) == ("invalid", "v", 0, 2)
    assert "int64" in str(error.expected)
    assert "1_000" in str(error.found)
    assert "'v'" in str(error)
    assert "1_000" in str(error)


def test_columns_not_wanted_are_not_looked_into():
    data, dialect = b'1,q,x\n2,1"1",\xff\n', Dialect(value_schema(pa.int64()))
    assert fm.read(data, csv_format(dialect), columns=["id"]).to_pydict() == {"id": [1, 2]}


def test_arity_and_open_quotes_are_checked_whatever_is_wanted():
    dialect = Dialect(value_schema(pa.int64()))
    for data, code in ((b"1,2,x\n3,4\n", "too_few_fields"), (b'1,2,x\n3,4,"\n', "unterminated_quote")):
        with pytest.raises(fm.FormatError) as caught:
            fm.read(data, csv_format(dialect), columns=["id"])
        assert (caught.value.code, caught.value.byte_offset, caught.value.record) == (code, 6, 1)


@pytest.mark.parametrize("data", [b"a\n1\n", b"\nA,b\n1,x\n", b"c,a,d\n1,x\n", b"1,x\n2,y\n"])
def test_header_that_lacks_a_column_is_refused_for_every_cut_and_policy(kernel, data):
    dialect = Dialect(pa.schema([("a", pa.int64()), ("b", pa.string())]), header=True)
    for on_error in POLICIES:
        with pytest.raises(fm.SchemaError, match=r"expected the columns '[ab]'"):
            fm.read(data, csv_format(dialect), on_error=on_error)
        for cut in range(len(data) + 1):
            run = through_stream(data, dialect, on_error, [cut], shuffle=cut)
            assert run.error is not None
            assert run.error.code == "header"
