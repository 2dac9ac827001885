"""What Python's csv module writes comes back as the values that int(), float(), Decimal and datetime give.

Independent of the oracle: the expectation is the table that was written.
"""

import csv
import datetime
import io
import math
from itertools import pairwise

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from kernel_choice import under_kernel
from oracle.csv_runs import cut_every, table_difference

import formatter as fm

MOMENTS = st.datetimes(datetime.datetime(1, 1, 2), datetime.datetime(9999, 12, 30))
ZONES = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda m: datetime.timezone(datetime.timedelta(minutes=m)))
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), min_size=1, max_size=12)
SPICY_TEXT = st.text(st.sampled_from('ab ,;"\n\\\t#\u00e9'), min_size=1, max_size=12)

VALUES = {
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.int16(): st.integers(-(2**15), 2**15 - 1),
    pa.float64(): st.floats(allow_nan=False),
    pa.float32(): st.floats(width=32, allow_nan=False),
    pa.string(): TEXT | SPICY_TEXT,
    pa.large_string(): TEXT,
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(),
    pa.timestamp("us"): MOMENTS,
    pa.timestamp("us", "UTC"): st.builds(lambda moment, zone: moment.replace(tzinfo=zone), MOMENTS, ZONES),
    pa.decimal128(20, 6): st.decimals(-(10**14) + 1, 10**14 - 1, places=6),
}


def as_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return str(value) if not hasattr(value, "as_tuple") else format(value, "f")


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    kinds = draw(st.lists(st.sampled_from(list(VALUES)), min_size=2, max_size=6))
    size = draw(st.integers(0, 30))
    columns = [draw(st.lists(st.none() | VALUES[kind], min_size=size, max_size=size)) for kind in kinds]
    names = [f"c{i}" for i in range(len(kinds))]
    return pa.table(
        [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)],
        schema=pa.schema(list(zip(names, kinds, strict=True))),
    )


@st.composite
def ways_of_writing(draw: st.DrawFn) -> dict[str, object]:
    escaping = draw(st.booleans())
    return {
        "delimiter": draw(st.sampled_from(",;\t|")),
        "quotechar": draw(st.sampled_from("\"'")),
        "lineterminator": draw(st.sampled_from(["\n", "\r\n"])),
        "quoting": draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        "doublequote": not escaping,
        "escapechar": "\\" if escaping else None,
    }


@given(table=tables(), way=ways_of_writing(), kernel=st.sampled_from(fm.kernels()), size=st.integers(1, 200))
def test_tables_written_by_python_come_back(table, way, kernel, size):
    text = io.StringIO(newline="")
    writer = csv.writer(text, **way)
    for row in table.to_pylist():
        writer.writerow([as_text(value) for value in row.values()])
    data = text.getvalue().encode()
    if way["quoting"] == csv.QUOTE_ALL:  # a null string was written as a quoted, empty one
        table = pa.table([filled(column) for column in table.columns], schema=table.schema)
    with under_kernel(kernel):
        options = {"delimiter": way["delimiter"], "quote": way["quotechar"], "escape": way["escapechar"]}
        dialect = fm.Csv(table.schema, **options)
        assert table_difference(fm.read(data, dialect), table) is None
        stream = fm.Stream(dialect, ordered=True)
        edges = [0, *cut_every(size, len(data)), len(data)]
        buffers = [data[begin:end] for begin, end in pairwise(edges)]
        batches = stream.push_many(buffers, sequences=list(range(1, len(buffers) + 1)))
        batches += stream.finish(last_sequence=len(buffers))
        found = pa.concat_tables([table.slice(0, 0), *(pa.Table.from_batches([batch.data]) for batch in batches)])
        assert table_difference(found, table) is None


def filled(column: pa.ChunkedArray) -> pa.ChunkedArray:
    textual = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    return column.fill_null("") if textual else column


@given(number=st.floats(allow_nan=False), digits=st.integers(1, 40))
def test_floats_in_any_spelling_read_as_python_reads_them(number, digits):
    spellings = [repr(number), f"{number:.{digits}e}", f"+{abs(number):.{digits}g}"]
    if math.isfinite(number) and abs(number) < 1e25:
        spellings.append(f"{number:.{digits}f}")
    schema = pa.schema([("v", pa.float64())])
    expected = [float(text) for text in spellings]
    if any(math.isinf(value) for value in expected) and math.isfinite(number):
        return  # rounding the spelling went past the largest float: an overflow, which the tables cover
    found = fm.read("\n".join(spellings).encode(), fm.Csv(schema))["v"].to_pylist()
    assert [value.hex() for value in found] == [value.hex() for value in expected]
