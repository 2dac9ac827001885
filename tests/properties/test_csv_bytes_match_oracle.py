"""Any bytes at all: the engine gives what the oracle gives, whatever the dialect, policy, kernel, cuts and order."""

import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_choice import under_kernel
from oracle.csv_oracle import Dialect, parse
from oracle.csv_runs import difference, through_read, through_stream
from oracle.malformed_dialects import SHAPES as DIALECT_SHAPES
from oracle.malformed_structure import SHAPES as RECORD_SHAPES

import formatter as fm
from formatter import readers

PIECES = [b'"', b'"', b",", b",", b"\n", b"\n", b"\r\n", b"\r", b"1", b"-2.5", b"a", b" ", b"\\", b"#", b";", b"||"]
PIECES += [
    b'""',
    b'"x"',
    b'"1,2"',
    b"\xff",
    b"\xc3\xa9",
    b"\0",
    b"\xef\xbb\xbf",
    b"2024-02-29",
    b"NA",
    b"99999999999999999999",
]
COLUMNS = [pa.int64(), pa.string(), pa.float64(), pa.timestamp("us"), pa.bool_(), pa.decimal128(4, 1), pa.binary()]
SHAPES = RECORD_SHAPES + DIALECT_SHAPES
POLICIES = ("raise", "null", "skip", "collect")

soup = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=60).map(b"".join),
    st.lists(st.sampled_from([b"1,a", b'2,"b"', b"3,c", b"q", b'"', b",", b""]), max_size=40).map(b"\n".join),
    st.binary(max_size=60),
)


@st.composite
def dialects(draw: st.DrawFn, bounds: bool = True) -> Dialect:
    types = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=4))
    required = draw(st.lists(st.booleans(), min_size=len(types), max_size=len(types)))
    rare = st.sampled_from([False, False, False, True])
    columns = [pa.field(f"c{i}", kind, nullable=not (required[i] and draw(rare))) for i, kind in enumerate(types)]
    return Dialect(
        pa.schema(columns),
        delimiter=draw(st.sampled_from([",", ",", ",", ";", "||"])),
        record_delimiter=draw(st.sampled_from(["\n", "\n", "\n", "\n", "\r\n", "a", "\n\n"])),
        quote=draw(st.sampled_from(['"', '"', '"', "x", None])),
        quotes=draw(st.sampled_from(["strict", "lenient", "sticky"])),
        newlines_in_quotes=draw(st.sampled_from([True, True, False])),
        max_quoted_lines=draw(st.sampled_from([None, None, 1, 2])) if bounds else None,
        max_quoted_bytes=draw(st.sampled_from([None, None, 1, 3, 20])) if bounds else None,
        escape=draw(st.sampled_from([None, None, "\\"])),
        nulls=draw(st.sampled_from([("",), ("",), ("NA", ""), ("NA",), ()])),
        quoted_nulls=draw(st.sampled_from([False, True, "everywhere"])),
        trim=draw(st.sampled_from([False, False, False, False, True, "left", "right"])),
        comment=draw(st.sampled_from([None, None, None, "#"])),
        ragged=draw(st.sampled_from(["error", "error", "pad", "truncate", "fit"])),
    )


@pytest.mark.parametrize("on_error", POLICIES)
@given(data=soup, dialect=dialects(), kernel=st.sampled_from(fm.kernels()), more=st.data())
def test_any_bytes_read_as_the_oracle_reads_them(on_error, data, dialect, kernel, more):
    with under_kernel(kernel):
        outcome = parse(data, dialect, on_error=on_error)
        assert difference(through_read(data, dialect, on_error), outcome, on_error) is None
        cuts = sorted(more.draw(st.lists(st.integers(0, len(data)), max_size=8), label="cuts"))
        assert difference(through_stream(data, dialect, on_error, cuts), outcome, on_error) is None
        if on_error != "raise":  # with several bad records the first met depends on the order of arrival
            seed = more.draw(st.integers(0, 999), label="order")
            assert difference(through_stream(data, dialect, on_error, cuts, shuffle=seed), outcome, on_error) is None


@given(
    data=soup,
    repeats=st.integers(1, 6),
    dialect=dialects(),
    on_error=st.sampled_from(POLICIES),
    range_bytes=st.integers(4, 200),
    threads=st.integers(1, 3),
)
def test_ranges_read_at_once_give_what_the_whole_gives(data, repeats, dialect, on_error, range_bytes, threads):
    data *= repeats
    outcome = parse(data, dialect, on_error=on_error)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readers, "RANGE_BYTES", range_bytes)
        patch.setattr(readers, "WINDOW_BYTES", 3 * range_bytes)
        assert difference(through_read(data, dialect, on_error, threads=threads), outcome, on_error) is None
        run = through_read(io.BytesIO(data), dialect, on_error, threads=threads)
        assert difference(run, outcome, on_error) is None


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_every_single_cut_in_both_orders_equals_the_whole(kernel, shape):
    dialect = Dialect(shape.schema, **shape.options)
    for on_error in ("collect", "null"):
        outcome = parse(shape.data, dialect, on_error=on_error)
        for cut in range(len(shape.data) + 1):
            for seed in (None, 1, 2):
                run = through_stream(shape.data, dialect, on_error, [cut], shuffle=seed)
                assert difference(run, outcome, on_error) is None, (on_error, cut, seed)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_single_bytes_in_any_order_equal_the_whole(kernel, shape):
    dialect = Dialect(shape.schema, **shape.options)
    outcome = parse(shape.data, dialect, on_error="collect")
    for seed in range(5):
        run = through_stream(shape.data, dialect, "collect", range(1, len(shape.data)), shuffle=seed)
        assert difference(run, outcome, "collect") is None, seed
