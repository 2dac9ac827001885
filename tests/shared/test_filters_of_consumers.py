"""A consumer's filter keeps the rows that the same filter keeps in a stream of its own.

In: values with nulls, of every type that can be compared. Out: equal rows. Refuses to know: how filters are evaluated.
"""

from __future__ import annotations

import datetime as dt
import decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_inputs import SCHEMA, expected, lines, rows

import formatter as fm

SAMPLES = {
    "i8": (pa.int8(), [-128, -1, 0, 5, 127]),
    "i64": (pa.int64(), [-(2**63), -3, 0, 7, 2**63 - 1]),
    "u8": (pa.uint8(), [0, 1, 255]),
    "u64": (pa.uint64(), [0, 9, 2**64 - 1]),
    "f32": (pa.float32(), [-1.5, 0.0, 2.25]),
    "f64": (pa.float64(), [-1e300, -0.5, 0.0, 1.5, float("inf")]),
    "flag": (pa.bool_(), [True, False]),
    "day": (pa.date32(), [dt.date(1969, 12, 31), dt.date(2024, 2, 29)]),
    "day64": (pa.date64(), [dt.date(1969, 12, 31), dt.date(2024, 2, 29)]),
    "at": (pa.timestamp("us"), [dt.datetime(1999, 1, 1), dt.datetime(2024, 5, 6, 7, 8, 9)]),
    "money": (pa.decimal128(9, 2), [decimal.Decimal("-1.25"), decimal.Decimal("0.00"), decimal.Decimal("7.10")]),
    "text": (pa.string(), ["a", "b", "é", "zz"]),
    "big": (pa.large_string(), ["a", "longer than sixteen bytes"]),
    "kind": (pa.dictionary(pa.int32(), pa.string()), ["x", "y"]),
}
WIDE = pa.schema([(name, kind) for name, (kind, _) in SAMPLES.items()])
FORMAT = fm.Csv(WIDE, nulls=("NULL",))


def text_of(value: object) -> str:
    if value is None:
        return "NULL"
    return str(value).lower() if isinstance(value, bool) else str(value)


@st.composite
def clauses(draw: st.DrawFn) -> tuple:
    name = draw(st.sampled_from(list(SAMPLES)))
    operator = draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in", "not in", "is_null", "is_not_null"]))
    if operator.startswith("is_"):
        return (name, operator)
    values = st.sampled_from(SAMPLES[name][1])
    if name in ("i8", "i64", "u64"):
        values |= st.sampled_from([0.5, -7.25, 2**70, -(2**70)])
    if operator in ("in", "not in"):
        return (name, operator, draw(st.lists(st.sampled_from(SAMPLES[name][1]) | st.none(), max_size=3)))
    return (name, operator, draw(values))


RECORDS = st.lists(
    st.tuples(*(st.none() | st.sampled_from(values) for _, values in SAMPLES.values())), min_size=1, max_size=150
)


@settings(max_examples=150, deadline=None)
@given(
    RECORDS,
    st.lists(st.lists(clauses(), min_size=1, max_size=3), min_size=1, max_size=3),
    st.sampled_from([1, 64, 200]),
)
def test_a_consumers_filter_keeps_what_a_streams_filter_keeps(records, filters, max_rows):
    data = "".join(",".join(map(text_of, record)) + "\n" for record in records).encode()
    policy = fm.BatchPolicy(max_rows=max_rows)
    columns = ["i64", "text", "kind"]
    stream = fm.Stream(FORMAT, columns=columns, filters=filters, batch=policy)
    alone = [row for b in stream.push(data, sequence=1) + stream.finish() for row in b.data.to_pylist()]
    shared = fm.SharedStream(FORMAT, batch=policy)
    chosen = shared.subscribe(columns, filters=filters, queue=1000)
    everything = shared.subscribe([], queue=1000)
    shared.push(data, sequence=1)
    shared.finish()
    batches = list(chosen)
    assert [{name: row[name] for name in columns} for row in rows(batches)] == alone
    assert sum(batch.num_rows for batch in everything) == len(records)
    for batch in batches:
        batch.data.validate(full=True)
        assert batch.data.schema.names == WIDE.names


def test_only_its_rows_are_delivered_and_equal_filters_share_a_batch():
    shared = fm.SharedStream(fm.Csv(SCHEMA), batch=fm.BatchPolicy(max_rows=10))
    some = [shared.subscribe(["a"], filters=[("d", "<", 3)]) for _ in range(2)]
    none = shared.subscribe(["a"], filters=[("d", "<", 0)])
    every = shared.subscribe(["b"], filters=[("d", ">=", 0)])
    plain = shared.subscribe(["b"])
    shared.push(lines(range(20)), sequence=1)
    shared.finish()
    assert shared.decoding_columns == ("a", "b", "d")
    one, other = (list(each) for each in some)
    assert rows(one) == expected(range(3), {"a", "b", "d"})
    assert all(a is b for a, b in zip(one, other, strict=True))
    assert list(none) == []
    assert all(a is b for a, b in zip(every, plain, strict=True))
    assert shared.stats.values_decoded["d"] == 20  # once for four consumers


def test_a_filter_is_what_it_was_when_it_was_given():
    """Plans are made again with every change: lists may have changed by then, iterators be used up."""
    many = np.arange(2000)
    growing = [1]
    shared = fm.SharedStream(fm.Csv(SCHEMA), filters=[("id", "in", iter(range(3000)))])
    lists = [
        shared.subscribe(["id"], filters=[("id", "in", values)], queue=100)
        for values in (many, many[many != 1000], iter(range(5)), growing)
    ]
    growing.append(2)
    for k in range(3):
        shared.subscribe([SCHEMA.names[k + 1]]).close()
        shared.push(lines(range(2500)), sequence=k + 1)
    shared.finish()
    assert [len(rows(each)) for each in lists] == [6000, 5997, 15, 3]


def test_a_filter_on_a_column_of_json_chooses_rows_of_nested_ones():
    schema = pa.schema(
        [("id", pa.int64()), ("user", pa.struct([("name", pa.string()), ("age", pa.int64())])), ("x", pa.int64())]
    )
    shared = fm.SharedStream(fm.Json(schema))
    subscription = shared.subscribe(["user.name"], filters=[("id", ">", 1)])
    shared.push(b'{"id":1,"user":{"name":"a"}}\n{"id":2,"user":{"name":"b","age":3}}\n{"id":3}\n', sequence=1)
    shared.finish()
    batches = list(subscription)
    for batch in batches:
        batch.data.validate(full=True)
    assert [row["user"] for row in rows(batches)] == [{"name": "b", "age": None}, None]
    assert shared.stats.values_decoded == {"id": 3, "user": 3, "x": 0}
    another = fm.SharedStream(fm.Json(schema))
    with pytest.raises(fm.OptionError, match="not nested"):
        another.subscribe(["id"], filters=[("user", "is_null")])
