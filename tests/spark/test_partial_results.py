"""Counts and whole numbers are put together in tasks, and give what they give without it, overflow included."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import formatter as fm
import spark_udfs as su
from spark_udfs.pushdown import partial_results
from spark_udfs.pushdown.enabling import SWITCH, pushdown_note
from spark_udfs.pushdown.partial_results import LARGEST, MOST_GROUPS, ROWS_AT_ONCE, PartialResults

TYPES = [
    ("b", pa.int8()),
    ("h", pa.int16()),
    ("i", pa.int32()),
    ("l", pa.int64()),
    ("s", pa.string()),
    ("f", pa.float64()),
    ("d", pa.date32()),
    ("t", pa.timestamp("us")),
    ("m", pa.decimal128(8, 2)),
]
SCHEMA = pa.schema(TYPES)
EDGES = {"b": 7, "h": 15, "i": 31, "l": 63}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Columns of their types' extremes, nulls, and a file without rows that pass most filters."""
    here = tmp_path_factory.mktemp("numbers")
    for number in range(3):
        lines = []
        for n in range(200):
            whole = [str((n % 3 - 1) * (2**bits - 1)) if n % 7 and number else str(n % 100) for bits in EDGES.values()]
            whole[n % 4] = "" if n % 5 == 0 else whole[n % 4]
            day, money = f"{1900 + n}-02-{1 + n % 28:02}", f"{(n - 90) * 4999.37:.2f}"
            moments = [day, f"{day}T03:04:05.{n:06}", money] if n % 11 else ["", "", ""]
            lines.append(",".join([*whole, f"text {n % 4}", str(n / 4), *moments]))
        (here / f"{number}.csv").write_text("\n".join(lines) + "\n")
    return here


AGGREGATES = [
    "count(*)", "count(1)", "count(b)", "count(s)", "count(f)", "count(*), count(l)", "min(b), max(b), sum(b)",
    "min(h), max(h), sum(h)", "min(i), max(i), sum(i)", "min(l), max(l)", "sum(i) + count(*) * 2 AS x, max(i) > min(i) AS y",
    "count(*) > 3 AS many", "min(d), max(d)", "max(t), min(t)", "sum(m)",
    "max(f), min(f), sum(i)", "count(DISTINCT b)", "avg(i)", "sum(f)", "max(s)", "count(b) FILTER (WHERE i > 3)",
    "count(b, h)", "sum(b + 1)", "first(b)", "max(m)",
]  # fmt: skip
WHERE = [
    "", "WHERE i > 5", "WHERE s = 'text 1'", "WHERE s IN ('text 1', 'text 2') AND b IS NOT NULL", "WHERE b IS NULL OR h < 0",
    "WHERE l <=> 3", "WHERE NOT (b = 3)", "WHERE f > 10", "WHERE i % 7 > 3", "WHERE s LIKE 'text 1%'", "WHERE false",
    "WHERE b > 200", "WHERE b IN (1, NULL)", "WHERE s >= 'text 2' AND (i < 100 OR i > 1000)",
]  # fmt: skip
PUSHED = 16  # of the aggregates: those that tasks take


GROUPED = [
    "s, count(*)", "s, sum(i), max(t), sum(m), min(d)", "b, s, count(l), max(h)", "d, count(*)",
    "s, count(*) + sum(b) AS x, s = 'text 1' AS y", "s", "l, count(*), sum(i)",
]  # fmt: skip
GROUPED_BY_SPARK = ["f, count(*)", "t, count(*)", "s, avg(i)", "s, sum(f)", "upper(s) AS u, count(*)"]


NUMBERS = st.one_of(st.none(), st.integers(-(2**63), LARGEST), st.integers(-9, 9))


def both_ways(spark, query):
    spark.conf.set(SWITCH, "false")
    try:
        full = spark.sql(query).collect()
    finally:
        spark.conf.set(SWITCH, "true")
    return full, spark.sql(query).collect()


def test_aggregates_are_those_of_all_rows(pushing, folder):
    su.read(pushing, folder, fm.Csv(SCHEMA)).createOrReplaceTempView("numbers")
    taken = set()
    for at, what in enumerate(AGGREGATES):
        wheres = WHERE if at in (0, 8) else WHERE[:1]
        for where in wheres:
            query = f"SELECT {what} FROM numbers {where}"
            full, pushed = both_ways(pushing, query)
            assert pushed == full, query
            if any("in tasks: " in note for note in pushdown_note(pushing.sql(query))):
                taken.add((at, where))
    assert {at for at, where in taken if where == ""} == set(range(PUSHED))
    passed = {where for at, where in taken if at == 0}
    assert passed >= {"WHERE i > 5", "WHERE s = 'text 1'", "WHERE b IS NULL OR h < 0", "WHERE b IN (1, NULL)"}
    assert not passed & {"WHERE f > 10", "WHERE i % 7 > 3"}


def test_aggregates_of_groups_are_those_of_all_rows(pushing, folder):
    su.read(pushing, folder, fm.Csv(SCHEMA)).createOrReplaceTempView("numbers")
    for what in (*GROUPED, *GROUPED_BY_SPARK):
        keys = [name for name in what.split(" AS ")[0].split(", ") if "(" not in name] or ["upper(s)"]
        for where in WHERE:
            query = f"SELECT {what} FROM numbers {where} GROUP BY {', '.join(keys)} ORDER BY {', '.join(keys)}"
            full, pushed = both_ways(pushing, query)
            assert pushed == full, query
        notes = pushdown_note(pushing.sql(f"SELECT {what} FROM numbers GROUP BY {', '.join(keys)}"))
        assert any("in tasks: " in note for note in notes) == (what in GROUPED), what
    having = "SELECT s, count(*) AS n FROM numbers GROUP BY s HAVING count(*) > 100 AND max(b) > 3 ORDER BY s"
    assert len(set(map(tuple, both_ways(pushing, having)))) == 1
    distinct = "SELECT count(*) FROM (SELECT DISTINCT s, b FROM numbers WHERE i > 5)"
    assert len(set(map(tuple, both_ways(pushing, distinct)))) == 1


def test_a_count_of_a_frame_is_put_together_in_tasks(pushing, folder):
    df = su.read(pushing, folder, fm.Csv(SCHEMA))
    assert df.count() == 600
    assert df.where("i > 5").count() == df.where("i > 5").toArrow().num_rows
    assert df.select("b", "s").limit(10).count() == 10
    assert df.groupBy("s").count().count() == 4
    lines = pushing.read.text(str(folder))
    parsed = su.parse(lines, fm.Csv(SCHEMA), payload="value", unit="record", error=None)
    assert parsed.count() == 600
    assert parsed.agg({"b": "max"}).collect() == df.agg({"b": "max"}).collect()
    chunks = su.parse(su.read_chunks(pushing, folder, chunk_bytes=1000), fm.Csv(SCHEMA))
    assert chunks.count() == chunks.where("h is not null or h is null").count() == 600


def test_a_sum_that_leaves_64_bits_does_what_spark_does(pushing, tmp_path):
    (tmp_path / "large.csv").write_text(f"{LARGEST}\n1\n-5\n" * 10)
    su.read(pushing, tmp_path, fm.Csv(pa.schema([("l", pa.int64())]))).createOrReplaceTempView("large")
    for ansi in ("true", "false"):
        pushing.conf.set("spark.sql.ansi.enabled", ansi)
        try:
            if ansi == "true":
                for switch in ("false", "true"):
                    pushing.conf.set(SWITCH, switch)
                    with pytest.raises(Exception, match="ARITHMETIC_OVERFLOW"):
                        pushing.sql("SELECT sum(l) FROM large").collect()
            else:
                full, pushed = both_ways(pushing, "SELECT sum(l), count(l), min(l), count(*) FROM large")
                assert pushed == full
        finally:
            pushing.conf.unset("spark.sql.ansi.enabled")
            pushing.conf.set(SWITCH, "true")


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(st.lists(NUMBERS, max_size=6), max_size=6),
    asked=st.lists(
        st.sampled_from([["count"], ["count", 7], ["min", 7], ["max", 7], ["sum", 7]]), min_size=1, max_size=4
    ),
)
def test_partial_results_make_the_whole_ones_however_rows_are_cut(rows, asked):
    schema = pa.schema([("l", pa.int64())])
    batches = [pa.RecordBatch.from_arrays([pa.array(values, pa.int64())], schema=schema) for values in rows]
    found = list(PartialResults(iter, [7], [], asked)(batches))
    every = [value for values in rows for value in values]
    present = [value for value in every if value is not None]
    for place, (name, *of) in enumerate(asked):
        partial = [value for batch in found for value in batch.column(place).to_pylist() if value is not None]
        if name == "count":
            assert sum(partial) == (len(present) if of else len(every))
        elif name == "sum":
            assert sum(partial) == sum(present)
            assert bool(partial) == bool(present)
        else:
            assert (min if name == "min" else max)(partial, default=None) == (min if name == "min" else max)(
                present, default=None
            )


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(st.lists(st.tuples(st.sampled_from(["a", "b", None]), NUMBERS), max_size=6), max_size=6),
    most=st.sampled_from([(1, 0), (4, 1), (4, 2), (ROWS_AT_ONCE, MOST_GROUPS)]),
)  # fmt: skip
def test_partial_results_of_groups_make_the_whole_ones_however_rows_are_cut(rows, most):
    schema = pa.schema([("key", pa.string()), ("l", pa.int64())])
    columns = [list(zip(*of, strict=True)) or [(), ()] for of in rows]
    batches = [
        pa.RecordBatch.from_arrays([pa.array(keys, pa.string()), pa.array(of, pa.int64())], schema=schema)
        for keys, of in columns
    ]
    asked = [["count"], ["count", 7], ["min", 7], ["max", 7], ["sum", 7]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partial_results, "ROWS_AT_ONCE", most[0])
        patch.setattr(partial_results, "MOST_GROUPS", most[1])
        found = [row for batch in PartialResults(iter, [3, 7], [], asked, [3])(batches) for row in batch.to_pylist()]
    every = [row for of in rows for row in of]
    assert {row["key"] for row in found} == {key for key, _ in every}
    for key in {key for key, _ in every}:
        values = [value for other, value in every if other == key]
        present = [value for value in values if value is not None]
        partial = [[row[f"partial{at}"] for row in found if row["key"] == key] for at in range(5)]
        smallest, largest, sums = ([value for value in of if value is not None] for of in partial[2:])
        assert (sum(partial[0]), sum(partial[1]), sum(sums)) == (len(values), len(present), sum(present))
        assert bool(sums) == bool(present)
        assert min(smallest, default=None) == min(present, default=None)
        assert max(largest, default=None) == max(present, default=None)


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(
        st.lists(st.one_of(st.none(), st.sampled_from([math.nan, 0.0, -0.0, 1.5, -2.0, math.inf])), max_size=4),
        max_size=4,
    )
)
def test_the_largest_of_floats_is_nan_where_there_is_one_and_of_zeros_the_first_stays(rows):
    schema = pa.schema([("f", pa.float64())])
    batches = [pa.RecordBatch.from_arrays([pa.array(of, pa.float64())], schema=schema) for of in rows]
    found = [batch.to_pylist()[0] for batch in PartialResults(iter, [0], [], [["min", 0], ["max", 0]])(batches)]
    present = [value for of in rows for value in of if value is not None]
    kept: list[float | None] = [None, None]
    for value in present:  # as Spark's greatest and least take them in, one by one
        above = [(math.isnan(one), one) if one is not None else None for one in kept]
        this = (math.isnan(value), value)
        kept[0] = value if above[0] is None or this < above[0] else kept[0]
        kept[1] = value if above[1] is None or (this > above[1] and not math.isnan(kept[1])) else kept[1]
    assert [repr(found[0][f"partial{at}"]) if found else "None" for at in range(2)] == [repr(value) for value in kept]


def test_few_groups_are_put_together_and_many_are_left_to_spark():
    def tables(groups):
        return [pa.RecordBatch.from_pydict({"k": [n % groups for n in range(ROWS_AT_ONCE)]}) for _ in range(3)]

    few = list(PartialResults(iter, [0], [], [["count"]], [0])(tables(5)))
    assert [batch.num_rows for batch in few] == [5]
    assert sum(few[0].column("partial0").to_pylist()) == 3 * ROWS_AT_ONCE
    many = list(PartialResults(iter, [0], [], [["count"]], [0])(tables(2 * MOST_GROUPS)))
    assert [batch.num_rows for batch in many] == [2 * MOST_GROUPS, ROWS_AT_ONCE, ROWS_AT_ONCE]
    assert sum(sum(batch.column("partial0").to_pylist()) for batch in many) == 3 * ROWS_AT_ONCE


def test_tasks_yield_a_row_each_however_many_batches_they_have():
    batches = [pa.RecordBatch.from_pydict({"l": [n, None]}) for n in range(100)]
    [batch] = PartialResults(iter, [0], [], [["count"], ["sum", 0]])(batches)
    assert batch.to_pylist() == [{"partial0": 200, "partial1": 4950}]
