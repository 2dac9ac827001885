"""One decision for all: every evaluator keeps the rows that a plain model keeps, for every type and hostile operands.

In: a column of any type, filters on it. Out: the same rows from parsing CSV, JSON and binary rows, whole and in pieces,
from records in arrays, a stage of a pipeline, a consumer of a shared stream, and a filter on batches however they are laid out.
"""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_choice import under_kernel
from oracle.filter_model import passes

import formatter as fm
from formatter import flow
from formatter.formats.binary import native_width
from formatter.row_choice import BatchFilter
from formatter.values import RecordParser

NAN, INFINITY = math.nan, math.inf
NULL = "NULL"
NOON = dt.datetime(2024, 2, 29, 12, 30)
OSLO = dt.timezone(dt.timedelta(hours=1))

WHOLE = [
    0,
    1,
    -1,
    7,
    127,
    128,
    -128,
    -129,
    255,
    256,
    2**31 - 1,
    2**53,
    2**53 + 1,
    2**63 - 1,
    -(2**63),
    2**63,
    2**64 - 1,
]
NUMBERS = [
    *WHOLE, 2**64, 2**70, -(2**70), 10**400, 0.0, -0.0, 2.5, -0.5, 0.1, 1e30, 2.0**63, 5e-324, 65519.0, 65520.0, 3.5e38, NAN,
    INFINITY, -INFINITY, Fraction(1, 3), Fraction(-7, 2), 2049, 16777217, Decimal("0.1"), Decimal("2.5"), Decimal("2.50"),
    Decimal("0.105"), Decimal("-0.0"), Decimal("1E+400"), Decimal("-1E-400"), Decimal("1E+99999999"), Decimal("NaN"),
    Decimal("-Infinity"), np.int8(7), np.uint64(2**64 - 1), np.float32(0.1), np.float16(0.1), pa.scalar(7), pa.scalar(2.5),
]  # fmt: skip
FLOATS = [0.0, -0.0, 1.0, 2.5, 0.1, -0.5, 7.0, NAN, INFINITY, -INFINITY]
MOMENTS = [
    NOON, NOON + dt.timedelta(microseconds=1), NOON.replace(tzinfo=OSLO), NOON.date(), dt.date(1969, 12, 31), dt.datetime(1, 1, 1),
    dt.datetime(1969, 12, 31, 23, 59, 59, 999999), 0, -1, 2**80, np.datetime64("2024-02-29T12:30:00.000000001"),
    pa.scalar(1_709_209_800_000_000_001, pa.timestamp("ns")),
]  # fmt: skip
TIMES = [
    dt.time(0),
    dt.time(12, 30),
    dt.time(12, 30, 0, 1),
    dt.time(23, 59, 59, 999999),
    0,
    -1,
    pa.scalar(1, pa.time64("ns")),
]
SPANS = [dt.timedelta(0), dt.timedelta(seconds=-1), dt.timedelta(microseconds=1), dt.timedelta(days=9), 7, 2**70]
TEXTS = ["", "a", "ab", "b", 'say "x"', "two, three", "line\nbreak", "é", "a text of more than sixteen bytes"]
TEXT_OPERANDS = [*TEXTS, b"a", b"\xff", "a\0", "zz", bytearray(b"ab")]


def decimals(places: int) -> list[Decimal]:
    return [Decimal(text).quantize(Decimal(1).scaleb(-places)) for text in ("0", "0.1", "-1.5", "2.5", "99", "-99")]


def fitting(kind: pa.DataType) -> list[int]:
    bits = kind.bit_width if pa.types.is_unsigned_integer(kind) else kind.bit_width - 1
    low, high = (0 if bits == kind.bit_width else -(2**bits)), 2**bits - 1
    return sorted(number for number in {*WHOLE, low, high} if low <= number <= high)


def pairs() -> dict[pa.DataType, tuple[list[Any], list[Any]]]:
    """Values a column may hold, and what it is compared with."""
    whole = [getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)]
    cents = (pa.decimal32(7, 2), pa.decimal64(9, 2), pa.decimal128(9, 2), pa.decimal256(38, 2))
    days = [NOON.date(), dt.date(1969, 12, 31)]
    stamps = [pa.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC")]
    clocks = (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"))
    text = (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string()))
    raw = (pa.binary(), pa.large_binary(), pa.binary_view(), pa.dictionary(pa.int32(), pa.binary()))
    return {
        **{kind: (fitting(kind), NUMBERS) for kind in whole},
        **dict.fromkeys((pa.float16(), pa.float32(), pa.float64()), (FLOATS, NUMBERS)),
        **dict.fromkeys(cents, (decimals(2), NUMBERS)),
        pa.decimal128(38, 0): ([Decimal(10**37), Decimal(-(10**37)), Decimal(0)], [*NUMBERS, 10**37, -(10**37)]),
        pa.bool_(): ([True, False], [True, False]),
        pa.date32(): ([*days, dt.date(1, 1, 1)], MOMENTS),
        pa.date64(): (days, MOMENTS),
        **dict.fromkeys(stamps, ([NOON, dt.datetime(1969, 12, 31, 23, 59, 59)], MOMENTS)),
        **dict.fromkeys(clocks, ([dt.time(0), dt.time(12, 30), dt.time(23, 59, 59)], TIMES)),
        **dict.fromkeys(map(pa.duration, ("s", "us", "ns")), (SPANS[:1] + SPANS[1:4:2], SPANS)),
        **dict.fromkeys(text, (TEXTS, TEXT_OPERANDS)),
        **dict.fromkeys(raw, ([each.encode() for each in TEXTS], TEXT_OPERANDS)),
        pa.binary(2): ([b"ab", b"zz"], TEXT_OPERANDS),
        pa.dictionary(pa.int8(), pa.int64()): (fitting(pa.int64()), NUMBERS),
        pa.dictionary(pa.int16(), pa.float64()): (FLOATS, NUMBERS),
    }


PAIRS = pairs()
UNCODED = (
    pa.string_view(),
    pa.binary_view(),
    pa.decimal32(7, 2),
    pa.decimal64(9, 2),
)  # pyarrow makes no dictionary of these
KINDS = list(PAIRS)


@st.composite
def cases(draw: st.DrawFn) -> tuple[pa.DataType, list[Any], list[list[tuple[Any, ...]]]]:
    kind = draw(st.sampled_from(KINDS))
    values, operands = PAIRS[kind]
    operand = st.sampled_from(operands)
    comparison = st.tuples(st.just("x"), st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), operand)
    some = st.lists(st.none() | operand, max_size=4) | st.lists(operand, min_size=17, max_size=40)
    listing = st.tuples(st.just("x"), st.sampled_from(["in", "not in"]), some)
    test = st.tuples(st.just("x"), st.sampled_from(["is_null", "is_not_null"]))
    one = comparison | listing | test
    if operands is TEXT_OPERANDS:
        one |= st.tuples(st.just("x"), st.sampled_from(["starts_with", "ends_with", "contains"]), operand)
    clauses = st.lists(one, min_size=1, max_size=2)
    filters = draw(st.lists(clauses, min_size=1, max_size=2))
    return kind, draw(st.lists(st.none() | st.sampled_from(values), max_size=80)), filters


def kept_numbers(table: Any) -> list[int]:
    return sorted(table.column("n").to_pylist())


def schema_of(kind: pa.DataType) -> pa.Schema:
    return pa.schema([("n", pa.int64()), ("x", kind)])


def table_of(kind: pa.DataType, values: list[Any]) -> pa.Table:
    return pa.table([pa.array(range(len(values)), pa.int64()), pa.array(values, kind)], schema=schema_of(kind))


# ---------------------------------------------------------------------------------------- how values are written


def written(value: Any, kind: pa.DataType) -> str:
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dt.datetime):
        return value.isoformat(" ")
    if isinstance(value, dt.timedelta):
        return str(pa.scalar(value, kind).value)
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def csv_of(values: list[Any], kind: pa.DataType) -> bytes:
    def field(value: Any) -> str:
        if value is None:
            return NULL
        text = written(value, kind)
        return '"' + text.replace('"', '""') + '"' if isinstance(value, str | bytes) else text

    return "".join(f"{n},{field(value)}\n" for n, value in enumerate(values)).encode()


def json_records(values: list[Any], kind: pa.DataType) -> list[bytes]:
    import json

    def text(value: Any) -> str:
        if value is None:
            return "null"
        plain = isinstance(value, bool | int | float | Decimal | dt.timedelta)
        return written(value, kind) if plain else json.dumps(written(value, kind))

    return [f'{{"n":{n},"x":{text(value)}}}'.encode() for n, value in enumerate(values)]


def rows_of(values: list[Any], kind: pa.DataType) -> bytes:
    """Packed binary rows: the bytes that Arrow has for the values."""
    array = pa.array(values, kind)
    if pa.types.is_boolean(kind):
        fields = [bytes([value]) for value in values]
    else:
        width = kind.bit_width // 8
        whole = array.buffers()[1].to_pybytes() if len(array) else b""
        fields = [whole[i * width : (i + 1) * width] for i in range(len(values))]
    return b"".join(n.to_bytes(8, "little") + field for n, field in enumerate(fields))


# ------------------------------------------------------------------------------------------------- the evaluators


def by_csv(values: list[Any], kind: pa.DataType, filters: Any) -> list[int]:
    return kept_numbers(
        fm.read(csv_of(values, kind), fm.Csv(schema_of(kind), nulls=(NULL,)), columns=["n"], filters=filters)
    )


def by_csv_in_pieces(values: list[Any], kind: pa.DataType, filters: Any) -> list[int]:
    data = csv_of(values, kind)
    stream = fm.Stream(fm.Csv(schema_of(kind), nulls=(NULL,)), columns=["n"], filters=filters)
    size = len(data) % 61 + 1
    batches = []
    for sequence in reversed(range(-(-len(data) // size))):
        batches += stream.push(data[sequence * size : (sequence + 1) * size], sequence=sequence + 1)
    batches += stream.finish()
    return sorted(n for batch in batches for n in batch.data.column("n").to_pylist())


def by_consumer(values: list[Any], kind: pa.DataType, filters: Any) -> list[int]:
    shared = fm.SharedStream(fm.Csv(schema_of(kind), nulls=(NULL,)))
    consumer = shared.subscribe(["n"], filters=filters, queue=1000)
    data = csv_of(values, kind)
    if data:
        shared.push(data, sequence=1)
    shared.finish()
    return sorted(n for batch in consumer for n in batch.column("n").to_pylist())


def by_json(values: list[Any], kind: pa.DataType, filters: Any) -> list[int]:
    data = b"".join(record + b"\n" for record in json_records(values, kind))
    return kept_numbers(fm.read(data, fm.Json(schema_of(kind)), columns=["n"], filters=filters))


def by_record(values: list[Any], kind: pa.DataType, filters: Any) -> list[int]:
    parsed = RecordParser(fm.Json(schema_of(kind)), columns=["n"], filters=filters).parse(json_records(values, kind))
    return kept_numbers(parsed.data)


def by_binary_rows(values: list[Any], kind: pa.DataType, filters: Any) -> list[int]:
    return kept_numbers(fm.read(rows_of(values, kind), fm.Native(schema_of(kind)), columns=["n"], filters=filters))


def by_stage(values: list[Any], kind: pa.DataType, filters: Any) -> list[int]:
    stage = flow.pipeline().source("rows", table_of(kind, values)).filter(filters)
    found = [action.batch for action in stage.run() if isinstance(action, flow.Rows)]
    return sorted(n for batch in found for n in batch.column("n").to_pylist())


def by_slices(values: list[Any], kind: pa.DataType, filters: Any) -> list[int]:
    """Batches that begin in the middle of their arrays."""
    table = table_of(kind, [*values[:3], *values])
    batches = table.slice(len(values[:3])).to_batches(max_chunksize=37)
    found = [BatchFilter(filters, table.schema).kept(batch) for batch in batches]
    return sorted(n - len(values[:3]) for batch in found for n in batch.column("n").to_pylist())


def by_codes(values: list[Any], kind: pa.DataType, filters: Any) -> list[int]:
    array = pa.array(values, kind)
    coded = array if pa.types.is_dictionary(kind) else pc.dictionary_encode(array)
    batch = pa.RecordBatch.from_arrays([pa.array(range(len(values)), pa.int64()), coded], names=["n", "x"])
    return kept_numbers(BatchFilter(filters, batch.schema).kept(batch))


def agreed(kind: pa.DataType, values: list[Any], filters: Any) -> list[int]:
    """What the model keeps, after all evaluators have kept the same."""

    def kept(some: list[Any]) -> list[int]:
        table = table_of(kind, some)  # the values as the type holds them
        held = table["x"].to_pylist()
        return [n for n, value in enumerate(held) if passes(value, kind, filters)]

    expected = kept(values)
    for evaluator in (by_csv, by_csv_in_pieces, by_consumer, by_stage, by_slices):
        assert evaluator(values, kind, filters) == expected, evaluator.__name__
    if kind not in UNCODED:
        assert by_codes(values, kind, filters) == expected
    finite = [None if isinstance(each, float) and not math.isfinite(each) else each for each in values]
    for evaluator in (by_json, by_record):  # JSON has no NaN and no infinity
        assert evaluator(finite, kind, filters) == kept(finite), evaluator.__name__
    if native_width(kind) is not None:
        present = [each for each in values if each is not None]
        assert by_binary_rows(present, kind, filters) == kept(present)
    return expected


@given(case=cases(), kernel=st.sampled_from(fm.kernels()))
def test_every_evaluator_keeps_what_the_model_keeps(case, kernel):
    kind, values, filters = case
    with under_kernel(kernel):
        agreed(kind, values, filters)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_operand_of_every_type_is_compared_alike_everywhere(kind):
    values, operands = PAIRS[kind]
    column = [*values, None, *values]
    for i, operand in enumerate(operands):
        operator = ("==", "!=", "<", "<=", ">", ">=")[i % 6]
        agreed(kind, column, [[("x", operator, operand)], [("x", "in", [operand])]])
        agreed(kind, column, [[("x", "not in", [operand, None])]])
        for compare in ("==", "!=", "<", "<=", ">", ">="):
            expected = [
                n
                for n, v in enumerate(table_of(kind, column)["x"].to_pylist())
                if passes(v, kind, [[("x", compare, operand)]])
            ]
            assert by_slices(column, kind, [("x", compare, operand)]) == expected


# ---------------------------------------------------------------------------------------------------- named cases


def test_a_null_is_not_in_a_list_that_does_not_name_it():
    values = [1, None, 4]
    assert agreed(pa.int64(), values, [[("x", "not in", [4])]]) == [0, 1]
    assert agreed(pa.int64(), values, [[("x", "not in", [4, None])]]) == [0]
    assert agreed(pa.string(), ["a", None], [[("x", "not in", ["a"])]]) == [1]


def test_a_fraction_in_a_list_is_no_whole_number_and_spoils_no_other():
    assert agreed(pa.int64(), [1, 2, 3], [[("x", "in", [2.5, 1])]]) == [0]
    assert agreed(pa.int64(), [1, 2, 3, None], [[("x", "not in", [2.5, 1])]]) == [1, 2, 3]


def test_a_number_beyond_the_type_differs_from_every_value_but_null():
    values = [2**63 - 1, None, -(2**63)]
    assert agreed(pa.int64(), values, [[("x", "!=", 2**70)]]) == [0, 2]
    assert agreed(pa.int64(), values, [[("x", "<", 2**70)]]) == [0, 2]
    assert agreed(pa.int64(), values, [[("x", "<=", -(2**70))]]) == []
    assert agreed(pa.int8(), [127, None], [[("x", "not in", [2**70])]]) == [0, 1]


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()], ids=str)
def test_nan_is_in_a_list_that_names_it_and_equals_nothing(kind):
    values = [NAN, 1.0, None]
    assert agreed(kind, values, [[("x", "in", [NAN])]]) == [0]
    assert agreed(kind, values, [[("x", "in", [NAN, *range(40)])]]) == [0, 1]
    assert agreed(kind, values, [[("x", "not in", [NAN])]]) == [1, 2]
    assert agreed(kind, values, [[("x", "==", NAN)]]) == []
    assert agreed(kind, values, [[("x", "!=", NAN)]]) == [0, 1]
    assert agreed(kind, values, [[("x", "<", 2.0)]]) == [1]


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()], ids=str)
def test_zero_has_one_sign_in_comparisons_and_in_lists(kind):
    values = [0.0, -0.0, 1.0]
    for operand in (0.0, -0.0, 0, Decimal("-0.0")):
        assert agreed(kind, values, [[("x", "in", [operand])]]) == [0, 1]
        assert agreed(kind, values, [[("x", "==", operand)]]) == [0, 1]
        assert agreed(kind, values, [[("x", "<", operand)]]) == []


def test_halves_are_compared_as_what_they_are_and_not_as_they_are_written():
    tenth = float(np.float16(0.1))
    assert agreed(pa.float16(), [0.1, 0.2], [[("x", "==", tenth)]]) == [0]
    assert agreed(pa.float16(), [0.1, 0.2], [[("x", "==", 0.1)]]) == []
    assert agreed(pa.float16(), [0.1, 0.2], [[("x", "in", [0.1])]]) == [0]


def test_decimals_and_floats_meet_as_they_are_written():
    kind = pa.decimal128(9, 2)
    values = [Decimal("0.10"), Decimal("0.11"), Decimal("-0.10")]
    assert agreed(kind, values, [[("x", "==", 0.1)]]) == [0]
    assert agreed(kind, values, [[("x", ">=", 0.1)]]) == [0, 1]
    assert agreed(kind, values, [[("x", ">", Decimal("0.105"))]]) == [1]
    assert agreed(pa.float64(), [0.1, 0.2], [[("x", "==", Decimal("0.1"))]]) == [0]


def test_a_moment_between_two_values_of_the_unit_is_neither():
    later = NOON + dt.timedelta(microseconds=1)
    assert agreed(pa.timestamp("s"), [NOON], [[("x", "<", later)]]) == [0]
    assert agreed(pa.timestamp("s"), [NOON], [[("x", "in", [later])]]) == []
    assert agreed(pa.date32(), [NOON.date()], [[("x", "<", NOON)]]) == [0]
    assert agreed(pa.date32(), [NOON.date()], [[("x", "==", NOON)]]) == []


def test_an_alternative_that_asks_nothing_keeps_every_row():
    for evaluator in (by_csv, by_consumer, by_json, by_slices):
        assert evaluator([1, None], pa.int64(), [[("x", "==", 1)], []]) == [0, 1], evaluator.__name__
