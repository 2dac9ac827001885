"""A filtered read keeps what the filter says of the unfiltered one, whatever the projection and the kernel."""

import datetime
import operator
from decimal import Decimal

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from kernel_choice import under_kernel
from oracle.csv_runs import table_difference

import formatter as fm

DAY = datetime.datetime(2024, 2, 29)
POOLS = {
    "int": (pa.int64(), [-(2**63), -7, 0, 3, 2**53 + 1, 2**63 - 1]),
    "small": (pa.int8(), [-128, -1, 0, 1, 127]),
    "natural": (pa.uint64(), [0, 5, 2**64 - 1]),
    "float": (pa.float64(), [float("-inf"), -1.5, -0.0, 0.0, 0.1, 1e300, float("nan")]),
    "text": (pa.string(), ["", "a", "ab", "b", 'say "x"', "line\nbreak", "é"]),
    "flag": (pa.bool_(), [True, False]),
    "time": (pa.timestamp("us"), [DAY, DAY + datetime.timedelta(microseconds=1), datetime.datetime(1, 1, 1)]),
    "amount": (pa.decimal128(9, 2), [Decimal("-1.50"), Decimal("0.00"), Decimal("2.25")]),
}
SCHEMA = pa.schema([(name, kind) for name, (kind, _) in POOLS.items()])
COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
ORDERED = [name for name in POOLS if name != "flag"]

rows = st.lists(
    st.fixed_dictionaries({name: st.none() | st.sampled_from(pool) for name, (_, pool) in POOLS.items()}), max_size=200
)


def not_nan(name):
    return st.sampled_from([value for value in POOLS[name][1] if value == value])


clauses = st.one_of(
    st.sampled_from(ORDERED).flatmap(lambda n: st.tuples(st.just(n), st.sampled_from(list(COMPARE)), not_nan(n))),
    st.tuples(st.just("flag"), st.sampled_from(["==", "!="]), st.booleans()),
    st.sampled_from(list(POOLS)).flatmap(
        lambda n: st.tuples(
            st.just(n), st.sampled_from(["in", "not in"]), st.lists(st.none() | not_nan(n), min_size=1, max_size=3)
        )
    ),
    st.tuples(st.sampled_from(list(POOLS)), st.sampled_from(["is_null", "is_not_null"])),
    st.tuples(st.sampled_from(["int", "small"]), st.sampled_from(["<", ">="]), st.sampled_from([-0.5, 2.5, 1e30])),
)
filters = st.lists(st.lists(clauses, min_size=1, max_size=3), min_size=1, max_size=3)


def holds(value, clause) -> bool:
    """As pyarrow has it, but exact: numbers of two types compare by their value."""
    if clause[1].startswith("is_"):
        return (value is None) == (clause[1] == "is_null")
    if clause[1] in ("in", "not in"):
        return (value in clause[2]) == (clause[1] == "in")
    return value is not None and COMPARE[clause[1]](value, clause[2])


def kept(table: pa.Table, alternatives) -> pa.Table:
    rows = table.to_pylist()
    wanted = [any(all(holds(row[clause[0]], clause) for clause in clauses) for clauses in alternatives) for row in rows]
    return table.filter(pa.array(wanted, pa.bool_()))


def as_csv(table: pa.Table) -> bytes:
    def text(value):
        if value is None:
            return ""
        if isinstance(value, str):
            return '"' + value.replace('"', '""') + '"'
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, datetime.datetime):
            return f"{value:%H:%M:%S.%f}".join([f"{value.year:04d}-{value:%m-%d} ", ""])
        return repr(value) if isinstance(value, float) else str(value)

    return "".join(",".join(map(text, row.values())) + "\n" for row in table.to_pylist()).encode()


@given(
    rows=rows,
    alternatives=filters,
    columns=st.lists(st.sampled_from(list(POOLS)), min_size=1, max_size=4, unique=True),
    kernel=st.sampled_from(fm.kernels()),
)
def test_filter_keeps_the_rows_it_holds_for(rows, alternatives, columns, kernel):
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    data = as_csv(table)
    expected = kept(table, alternatives).select(columns)
    with under_kernel(kernel):
        csv = fm.Csv(SCHEMA)
        assert table_difference(fm.read(data, csv, filters=alternatives, columns=columns), expected) is None
        stream = fm.Stream(csv, filters=alternatives, columns=columns, ordered=True)
        batches = stream.push_many([data[:50], data[50:90], data[90:]], sequences=[1, 2, 3])
        batches += stream.finish(last_sequence=3)
        found = pa.concat_tables([expected.slice(0, 0), *(pa.Table.from_batches([batch.data]) for batch in batches)])
        assert table_difference(found, expected) is None
        assert stream.stats.filtered == table.num_rows - expected.num_rows
