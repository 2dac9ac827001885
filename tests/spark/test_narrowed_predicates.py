"""What a task makes of the predicates it is offered drops no row that Spark would keep, whatever values and literals there are.

In: predicate trees as pushdown_rule.java writes them, and rows. Out: the rows kept here, against Spark's semantics said
plainly in Python. Refuses to know: a running Spark.
"""

from __future__ import annotations

import datetime as dt
import math
import operator
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from formatter.row_choice import BatchFilter
from spark_udfs.files.partitions import FolderFilter
from spark_udfs.pushdown.predicates import taken

NAN = math.nan
EPOCH = dt.datetime(1970, 1, 1)
COMPARE = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
TEXT_TESTS = {"starts_with": str.startswith, "ends_with": str.endswith, "contains": str.__contains__}
FLOATS = [0.0, -0.0, 1.5, -2.5, 1e30, NAN, math.inf, -math.inf]
# The values of a column, and how the rule writes the same as literals.
PAIRS: dict[pa.DataType, tuple[list[Any], list[Any]]] = {
    pa.int64(): ([0, 1, -1, 2**63 - 1, -(2**63)], [0, 1, -1, 2**63 - 1]),
    pa.int8(): ([0, 127, -128], [0, 127, -1]),
    pa.uint32(): ([0, 2**32 - 1], [0, 5, -1, 2**32 - 1, 2**40]),
    pa.float64(): (FLOATS, [each for each in FLOATS if math.isfinite(each)]),
    pa.float32(): (FLOATS, [each for each in FLOATS if math.isfinite(each)]),
    pa.bool_(): ([True, False], [True, False]),
    pa.string(): (["", "a", "ab", "b\u0000", "\u00e9"], ["", "a", "b", "\u00e9"]),
    pa.date32(): ([dt.date(1969, 12, 31), dt.date(2024, 2, 29)], [-1, 19782, 0]),
    pa.timestamp("us"): ([EPOCH, dt.datetime(2024, 2, 29, 1, 2, 3, 4)], [0, 1, -1]),
    pa.decimal128(9, 2): ([Decimal("0.10"), Decimal("-1.50")], ["0.10", "-1.50", "0.00"]),
}
KINDS = list(PAIRS)
FIELDS = {at: pa.field(f"c{at}", kind) for at, kind in enumerate(KINDS)}
SCHEMA = pa.schema(list(FIELDS.values()))


def in_spark(value: Any) -> Any:
    """As Spark orders values: NaN is itself, and above every number."""
    if isinstance(value, float):
        return (1, 0.0) if value != value else (0, value)
    if isinstance(value, dt.datetime):
        return (value - EPOCH) // dt.timedelta(microseconds=1)
    if isinstance(value, dt.date):
        return (value - EPOCH.date()).days
    return value


def literal(kind: pa.DataType, value: Any) -> Any:
    return Decimal(value) if pa.types.is_decimal(kind) else in_spark(value)


def keeps(tree: list[Any], row: dict[str, Any]) -> bool:
    """Whether Spark's filter is true of the row; what is null is not."""
    compare = tree[0]
    if compare in ("and", "or"):
        return (all if compare == "and" else any)(keeps(side, row) for side in tree[1:])
    at = tree[1]
    value, kind = row[f"c{at}"], KINDS[at]
    if compare in ("is_null", "is_not_null"):
        return (value is None) == (compare == "is_null")
    if value is None:
        return False
    if compare == "in":
        return any(in_spark(value) == literal(kind, each) for each in tree[2])
    if compare in TEXT_TESTS:
        return TEXT_TESTS[compare](value, tree[2])
    return COMPARE[compare](in_spark(value), literal(kind, tree[2]))


@st.composite
def conditions(draw: st.DrawFn) -> list[Any]:
    at = draw(st.sampled_from(range(len(KINDS))))
    literals = st.sampled_from(PAIRS[KINDS[at]][1])
    compare = draw(
        st.sampled_from([*COMPARE, "in", "is_null", "is_not_null", *(TEXT_TESTS if KINDS[at] == pa.string() else ())])
    )
    if compare.startswith("is_"):
        return [compare, at]
    return [compare, at, draw(st.lists(literals, max_size=20) if compare == "in" else literals)]


TREES = st.recursive(
    conditions(), lambda inner: st.tuples(st.sampled_from(["and", "or"]), inner, inner).map(list), max_leaves=6
)
ROWS = st.lists(
    st.fixed_dictionaries({f"c{at}": st.none() | st.sampled_from(PAIRS[kind][0]) for at, kind in enumerate(KINDS)}),
    max_size=30,
)


@settings(max_examples=600, deadline=None)
@given(rows=ROWS, offered=st.lists(TREES, min_size=1, max_size=3))
def test_no_row_is_dropped_that_spark_would_keep(rows, offered):
    clauses = taken(offered, FIELDS)
    batch = pa.RecordBatch.from_pylist(
        [{**row, "n": n} for n, row in enumerate(rows)], SCHEMA.append(pa.field("n", pa.int64()))
    )
    kept = set(BatchFilter(clauses, batch.schema).kept(batch).column("n").to_pylist())
    held = batch.to_pylist()
    wanted = {n for n, row in enumerate(held) if all(keeps(tree, row) for tree in offered)}
    assert wanted <= kept
    # Folders are asked by the same rules, one row of values a file.
    folders = FolderFilter(clauses, SCHEMA)
    assert {n for n, row in enumerate(held) if folders.left([row[f"c{at}"] for at in FIELDS]) is not None} == kept


def test_what_is_decided_alike_is_taken():
    """Or nothing would be proven above."""
    for at, kind in enumerate(KINDS):
        first = PAIRS[kind][1][0]
        for compare in ("==", "<", "<="):
            assert taken([[compare, at, first]], FIELDS), (kind, compare)
        assert taken([["in", at, [first]]], FIELDS)
        assert bool(taken([["contains", at, "a"]], FIELDS)) == (kind == pa.string())
        floating = pa.types.is_floating(kind)
        assert bool(taken([[">", at, first]], FIELDS)) is not floating


def test_a_folder_is_asked_as_a_column_is():
    folders = pa.schema([("k", pa.int64()), ("d", pa.date32())])
    left = FolderFilter(
        [[("k", "not in", [4])], [("d", "<", dt.datetime(2024, 1, 1, 12)), ("x", ">", 1)]], folders
    ).left
    assert left([None, None]) == [], "a null is not in a list that does not name it"
    assert left([4, None]) is None
    assert left([4, dt.date(2024, 1, 1)]) == [[("x", ">", 1)]]
    assert left([5, dt.date(2024, 1, 1)]) == []
    assert FolderFilter([[("k", "in", [2.5, 1])]], folders).left([1, None]) == []
    assert FolderFilter([[("x", "==", 1)]], pa.schema([])).left([]) == [[("x", "==", 1)]]
