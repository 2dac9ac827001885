"""A filter keeps what pyarrow keeps of the whole table: every type, every operator, whichever predicate is asked first."""

import datetime
import itertools
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import formatter as fm

ROWS = 9_000  # several blocks, so that what the first ones teach is used in the others
DAY = datetime.date(2024, 2, 29)
TIME = datetime.datetime(2024, 2, 29, 12, 30)
INTEGERS = (-3, 0, 1, 7, 100)
NATURALS = (0, 1, 7, 100, 200)
TEXTS = ["", "a", "ab", "abc", "b", 'say "x"', "two, three", "line\nbreak", "zoë", "a text of more than sixteen bytes"]
POOLS: dict[pa.DataType, tuple] = {
    **dict.fromkeys((pa.int8(), pa.int16(), pa.int32(), pa.int64()), INTEGERS),
    **dict.fromkeys((pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()), NATURALS),
    **dict.fromkeys((pa.float32(), pa.float64()), (-1.5, 0.0, 0.25, 7.0, 1e20)),
    pa.decimal128(9, 2): (Decimal("-1.50"), Decimal("0.00"), Decimal("2.25")),
    pa.bool_(): (True, False),
    pa.date32(): (DAY, DAY + datetime.timedelta(days=1), datetime.date(1969, 12, 31)),
    **{pa.timestamp(unit): (TIME, TIME + datetime.timedelta(seconds=1)) for unit in ("s", "ms", "us", "ns")},
    **{kind: tuple(TEXTS) for kind in (pa.string(), pa.large_string())},
    **{kind: tuple(text.encode() for text in TEXTS) for kind in (pa.binary(), pa.large_binary())},
}
COMPARE = ("==", "!=", "<", "<=", ">", ">=")


def csv_field(value) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case bytes():
            return csv_field(value.decode())
        case str():
            needs_quotes = not value or any(c in value for c in ',"\n') or len(value) == 3
            return '"' + value.replace('"', '""') + '"' if needs_quotes else value
        case datetime.datetime():
            return value.isoformat(" ")
        case _:
            return str(value)


def column(kind: pa.DataType, seed: int) -> pa.Array:
    picks = np.random.default_rng(seed).integers(0, len(POOLS[kind]) + 1, ROWS)
    return pa.array([None, *POOLS[kind]], kind).take(pa.array(picks))


def as_csv(table: pa.Table, line_end: str = "\n") -> bytes:
    columns = [list(map(csv_field, array.to_pylist())) for array in table.columns]
    return "".join(",".join(row) + line_end for row in zip(*columns, strict=True)).encode()


def kept_by_one(table: pa.Table, clause) -> pa.Table:
    name, operator, *rest = clause
    if operator == "is_null":
        return table.filter(pc.is_null(table[name]))
    if operator == "is_not_null":
        return table.filter(pc.is_valid(table[name]))
    if operator in ("in", "not in"):  # with a type: an empty list has none of its own
        found = pc.is_in(table[name], value_set=pa.array(rest[0], table[name].type))
        return table.filter(pc.invert(found) if operator == "not in" else found)
    return table.filter(pq.filters_to_expression([clause]))


def kept(table: pa.Table, clauses) -> pa.Table:
    for clause in clauses:
        table = kept_by_one(table, clause)
    return table


@pytest.mark.parametrize("operator", ["starts_with", "ends_with", "contains"])
def test_what_is_asked_of_text_is_refused_of_other_columns(operator):
    with pytest.raises(fm.OptionError, match=f"filters: 'n' is int64: {operator} asks of text and bytes alone"):
        fm.read(b"1\n", fm.Csv(pa.schema([("n", pa.int64())])), filters=[("n", operator, "1")])
    with pytest.raises(fm.OptionError, match="filters: 't' holds texts: cannot compare with 1"):
        fm.read(b"1\n", fm.Csv(pa.schema([("t", pa.string())])), filters=[("t", operator, 1)])


@pytest.mark.parametrize("kind", POOLS, ids=str)
def test_every_operator_keeps_what_pyarrow_keeps(kind):
    pool = POOLS[kind]
    table = pa.table({"n": pa.array(range(ROWS), pa.int64()), "x": column(kind, 1), "last": column(kind, 2)})
    data, csv = as_csv(table), fm.Csv(table.schema)
    many = [*pool, *(pool[:1] * 20)]  # long lists are searched, not walked
    clauses = [
        *(("x", operator, value) for operator in COMPARE for value in pool),
        *(
            ("x", operator, values)
            for operator in ("in", "not in")
            for values in ([], pool[:2], [None, pool[-1]], many)
        ),
        ("x", "is_null"),
        ("x", "is_not_null"),
    ]
    for clause in clauses:
        expected = kept(table, [clause])
        assert fm.read(data, csv, filters=[clause]).equals(expected), clause
        assert fm.read(data, csv, filters=[clause], columns=["n"]).equals(expected.select(["n"])), clause


@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_predicates_of_several_columns_keep_what_pyarrow_keeps_in_any_order(line_end):
    kinds = {"a": pa.int64(), "b": pa.string(), "c": pa.float64(), "d": pa.date32(), "e": pa.large_string()}
    table = pa.table({name: column(kind, seed) for seed, (name, kind) in enumerate(kinds.items())})
    data, csv = as_csv(table, line_end), fm.Csv(table.schema)
    clauses = [
        ("a", ">", 0),
        ("b", "!=", "ab"),
        ("c", "<", 7.0),
        ("d", "is_not_null"),
        ("e", ">=", "ab"),
        ("e", "<", "b"),
    ]
    expected = kept(table, clauses)
    assert 0 < expected.num_rows < ROWS // 4
    for order in itertools.islice(itertools.permutations(clauses), 0, None, 37):
        assert fm.read(data, csv, filters=list(order)).equals(expected)


def test_a_filter_that_changes_its_mind_about_the_best_order_changes_no_row():
    """The first half is dropped by one predicate, the second half by the other."""
    rows = 60_000
    numbers = np.arange(rows)
    table = pa.table(
        {
            "first": pa.array(np.where(numbers < rows // 2, numbers % 100, 0)),
            "second": pa.array(np.where(numbers < rows // 2, 0, numbers % 100)),
            "n": pa.array(numbers),
        }
    )
    clauses = [("first", "==", 0), ("second", "==", 0)]
    assert fm.read(as_csv(table), fm.Csv(table.schema), filters=clauses).equals(kept(table, clauses))


SCHEMA = pa.schema([("a", pa.int64()), ("s", pa.string()), ("t", pa.string())])


@pytest.mark.parametrize("on_error", ["skip", "collect", "null"])
@pytest.mark.parametrize("text", ['x"y"z', '"x"y', "\xff"], ids=["stray quote", "text behind a quote", "not utf-8"])
def test_a_value_that_cannot_be_read_says_neither_yes_nor_no(text, on_error):
    bad = text.encode("latin-1")
    data = b"1,x,k\n2," + bad + b",k\n3," + bad + b",no\n4,x,no\n" + 3_000 * b"x,x,k\nx,x,no\n"
    outcomes = []
    for clauses in itertools.permutations([("a", ">", 0), ("s", "==", "x"), ("t", "==", "k")]):
        rejects: list[pa.Table] = []
        table = fm.read(data, fm.Csv(SCHEMA), filters=list(clauses), on_error=on_error, rejects=rejects)
        outcomes.append((table.to_pylist(), [r["record"] for each in rejects for r in each.to_pylist()]))
    rows, errors = outcomes[0]
    assert all(outcome == outcomes[0] for outcome in outcomes)
    assert rows == [{"a": 1, "s": "x", "t": "k"}]
    # Record 1 has a bad text where all else holds; record 2 is dropped by its "no", whatever its text is.
    assert errors == ([1, *range(4, 4 + 3_000 * 2, 2)] if on_error == "collect" else [])


def test_text_is_compared_as_it_reads_not_as_it_is_written():
    csv = fm.Csv(pa.schema([("s", pa.string())]), nulls=("", "NA"))
    data = b'x\n"x"\n"x""x"\n""\n\nNA\n"NA"\n"NA "\nzo\xc3\xab\n"zo\xc3\xab"\nxyzxyzxyzxyz\n'
    for clause, expected in [
        (("s", "==", "x"), ["x", "x"]),
        (("s", "==", 'x"x'), ['x"x']),
        (("s", "==", ""), [""]),
        (("s", "==", "NA"), ["NA"]),
        (("s", "==", "zoë"), ["zoë", "zoë"]),
        (("s", "is_null"), [None, None]),
        (("s", "in", ["x", None]), ["x", "x", None, None]),
        (("s", ">=", "xy"), ["zoë", "zoë", "xyzxyzxyzxyz"]),
    ]:
        assert fm.read(data, csv, filters=[clause])["s"].to_pylist() == expected, clause


def test_a_null_in_a_column_that_must_have_values_is_an_error_of_rows_that_stay():
    schema = pa.schema([pa.field("s", pa.string(), nullable=False), ("n", pa.int64())])
    data = b"a,1\n,1\n,2\nb,1\n"
    rejects: list[pa.Table] = []
    table = fm.read(
        data, fm.Csv(schema), filters=[("s", "==", "a"), ("n", "==", 1)], on_error="collect", rejects=rejects
    )
    assert table.to_pylist() == [{"s": "a", "n": 1}]
    assert [r["record"] for r in rejects[0].to_pylist()] == [1]


def test_filters_take_the_scalars_and_arrays_of_arrow_as_values():
    format = fm.Csv(SCHEMA)
    data = b"1,x,\n2,y,\n3,z,\n"
    assert fm.read(data, format, filters=[("a", ">", pa.scalar(1))])["a"].to_pylist() == [2, 3]
    assert fm.read(data, format, filters=[("s", "in", pa.array(["x", "z", None]))])["a"].to_pylist() == [1, 3]
    assert fm.read(data, format, filters=[("a", "in", [pa.scalar(2), 3])])["a"].to_pylist() == [2, 3]
    with pytest.raises(fm.OptionError, match=r"holds integers: cannot compare with 'x'$"):
        fm.read(data, format, filters=[("a", "==", pa.scalar("x"))])
