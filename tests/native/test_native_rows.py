"""Binary rows against numpy's structured arrays and struct: every type, both byte orders, every cut, order and kernel.

In: values. Out: verdicts. Refuses to know: how rows are decoded.
"""

from __future__ import annotations

import datetime as dt
import operator
import pickle
import random
import struct
from decimal import Decimal, localcontext

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.stream_runs import departure, pieces_at, pieces_of, resumed_at_every_cut, shuffled, streamed, whole_read

import formatter as fm

NUMBERS = {
    pa.int8(): "i1", pa.int16(): "i2", pa.int32(): "i4", pa.int64(): "i8", pa.uint8(): "u1", pa.uint16(): "u2",
    pa.uint32(): "u4", pa.uint64(): "u8", pa.float16(): "f2", pa.float32(): "f4", pa.float64(): "f8", pa.bool_(): "?",
    pa.date32(): "i4", pa.date64(): "i8", pa.time32("ms"): "i4", pa.time64("ns"): "i8", pa.timestamp("us"): "i8",
    pa.timestamp("s", "Europe/Paris"): "i8", pa.duration("ms"): "i8", pa.binary(3): "V3",
}  # fmt: skip
SCHEMA = pa.schema([(f"c{i}", kind) for i, kind in enumerate(NUMBERS)])
DAY_MS = 86_400_000
COMPARISONS = {
    ">": operator.gt, "<=": operator.le, "==": operator.eq, "<": operator.lt, ">=": operator.ge,
    "in": lambda value, listed: value in listed,
}  # fmt: skip


def random_rows(count: int, endian: str, seed: int = 7) -> tuple[np.ndarray, bytes]:
    order = "<" if endian == "little" else ">"
    kind = np.dtype([(f"c{i}", code if code[0] in "V?" else order + code) for i, code in enumerate(NUMBERS.values())])
    bits = np.random.default_rng(seed).integers(0, 256, (count, kind.itemsize), np.uint8)
    rows = bits.view(kind).reshape(count)
    generator = np.random.default_rng(seed + 1)
    rows["c11"] = generator.integers(0, 2, count)
    rows["c13"] = generator.integers(-1000, 1000, count) * DAY_MS
    rows["c14"] = generator.integers(0, DAY_MS, count)
    rows["c15"] = generator.integers(0, DAY_MS * 10**6, count)
    for name in ("c8", "c9", "c10"):
        rows[name] = generator.normal(size=count)
    for name in ("c12", "c16", "c17", "c18"):
        rows[name] = generator.integers(-10_000, 10_000, count)
    return rows, rows.tobytes()


def expected_table(rows: np.ndarray) -> pa.Table:
    arrays = []
    for field in SCHEMA:
        values = rows[field.name]
        if pa.types.is_fixed_size_binary(field.type):
            arrays.append(pa.array([bytes(v) for v in values], field.type))
        elif pa.types.is_boolean(field.type):
            arrays.append(pa.array(values))
        else:
            native = values.astype(values.dtype.newbyteorder("="))
            plain = pa.array(native)
            arrays.append(plain if plain.type == field.type else plain.view(field.type))
    return pa.table(arrays, schema=SCHEMA)


@pytest.mark.parametrize("endian", ["little", "big"])
@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 5000])
def test_rows_are_those_that_numpy_packed(count, endian, kernel):
    rows, data = random_rows(count, endian)
    format = fm.Native(SCHEMA, endian=endian)
    assert format.row_width == rows.dtype.itemsize
    table = fm.read(data, format)
    table.validate(full=True)
    assert table.equals(expected_table(rows))


@pytest.mark.parametrize("threads", [1, 2])
def test_large_inputs_are_read_by_ranges_from_memory_and_files(threads, tmp_path):
    rows, data = random_rows(200_000, "little")
    expected = expected_table(rows)
    path = tmp_path / "rows.bin"
    path.write_bytes(data)
    format = fm.Native(SCHEMA)
    for source in (data, path):
        assert fm.read(source, format, threads=threads).equals(expected)
    assert fm.open(path, format, columns=["c3"], threads=threads).read_all().equals(expected.select(["c3"]))


@pytest.mark.parametrize("endian", ["little", "big"])
def test_projections_and_filters_decode_what_they_name(endian):
    rows, data = random_rows(3000, endian)
    expected = expected_table(rows)
    format = fm.Native(SCHEMA, endian=endian)
    assert fm.read(data, format, columns=["c19", "c1"]).equals(expected.select(["c19", "c1"]))
    assert fm.read(data, format, columns=[]).num_rows == 3000
    for name, sign, value in [
        ("c2", ">", 0), ("c10", "<=", 0.25), ("c11", "==", True), ("c16", ">", dt.datetime(1970, 1, 1)), ("c19", "<", b"\x80"),
        ("c12", "in", [dt.date(1970, 1, 2), dt.date(1971, 1, 2)]), ("c14", "<", dt.time(12)), ("c18", ">", dt.timedelta(0)),
        ("c13", ">=", dt.date(1970, 1, 1)), ("c8", ">", 0.5),
    ]:  # fmt: skip
        found = fm.read(data, format, filters=[(name, sign, value)])
        keep = [COMPARISONS[sign](v, value) for v in expected[name].to_pylist()]
        assert found.equals(expected.filter(pa.array(keep))), name
    two = fm.read(data, format, columns=["c0"], filters=[[("c2", ">", 0), ("c11", "==", True)], [("c0", "==", 5)]])
    mask = [
        (a > 0 and b) or c == 5 for a, b, c in zip(*(expected[n].to_pylist() for n in ("c2", "c11", "c0")), strict=True)
    ]
    assert two["c0"].to_pylist() == [v for v, m in zip(expected["c0"].to_pylist(), mask, strict=True) if m]


@pytest.mark.parametrize("endian", ["little", "big"])
@pytest.mark.parametrize("kind", [pa.decimal128(38, 4), pa.decimal128(5, -2), pa.decimal64(12, 2), pa.decimal32(7, 0)])
def test_decimals_are_twos_complements_of_their_width(kind, endian):
    unscaled = [0, 1, -1, 99999, -99999, 10 ** (kind.precision) - 1, -(10 ** (kind.precision)) + 1]
    schema = pa.schema([("a", pa.int8()), ("d", kind)])
    data = b"".join(b"\x07" + v.to_bytes(kind.byte_width, endian, signed=True) for v in unscaled)
    table = fm.read(data, fm.Native(schema, endian=endian))
    with localcontext(prec=60):
        assert table["d"].to_pylist() == [Decimal(v).scaleb(-kind.scale) for v in unscaled]
    over = b"\x07" + (10**kind.precision).to_bytes(kind.byte_width, endian, signed=True)
    with pytest.raises(fm.FormatError) as raised:
        fm.read(data + over, fm.Native(schema, endian=endian))
    assert (raised.value.code, raised.value.byte_offset, raised.value.column) == ("overflow", len(data) + 1, "d")


SMALL = pa.schema([("a", pa.uint16()), ("flag", pa.bool_()), ("b", pa.int32())])
DIRTY = b"".join(struct.pack("<HBi", i, i % 5, i * 1000) for i in range(23)) + b"\x01\x02\x03"


@pytest.mark.parametrize("on_error", ["raise", "null", "skip", "collect"])
def test_every_cut_gives_what_the_whole_gives(on_error):
    format = fm.Native(SMALL)
    whole = whole_read(DIRTY, format, on_error)
    for cut in range(len(DIRTY) + 1):
        for order in ([0, 1], [1, 0]):
            if on_error == "raise" and order == [1, 0]:
                continue
            assert departure(streamed(pieces_at(DIRTY, [cut]), format, order, on_error), whole, 2) is None, (cut, order)


@pytest.mark.parametrize("size", [1, 2, 7, 63, 64, 65])
def test_buffers_come_in_any_order(size, kernel):
    format = fm.Native(SMALL)
    whole = whole_read(DIRTY, format, "collect")
    pieces = pieces_of(DIRTY, size)
    for seed in range(4):
        run = streamed(pieces, format, shuffled(len(pieces), seed), "collect", many=seed * 3 or None)
        assert departure(run, whole, len(pieces)) is None
        assert run.stats.pending_bytes == 0


def test_what_no_column_can_hold_is_told_by_on_error():
    format = fm.Native(SMALL)
    whole = whole_read(DIRTY, format, "collect")
    bad = [i for i in range(23) if i % 5 > 1]
    assert [(r[0], r[1], r[2], r[3]) for r in whole.rejects] == [
        *((7 * i + 2, i, "flag", "invalid") for i in bad), (161, 23, None, "unterminated_record")
    ]  # fmt: skip
    assert [r[0] for r in sorted(whole.rows)] == [i for i in range(23) if i % 5 < 2]
    nulled = fm.read(DIRTY, format, on_error="null")
    assert nulled["flag"].to_pylist() == [None if i in bad else i % 5 == 1 for i in range(23)]
    assert fm.read(DIRTY, format, columns=["a"], on_error="skip")["a"].to_pylist() == list(range(23))
    assert fm.read(DIRTY, format, on_error="skip").num_rows == 23 - len(bad)
    required = pa.schema([SMALL.field("a"), SMALL.field("flag").with_nullable(False), SMALL.field("b")])
    assert fm.read(DIRTY, fm.Native(required), on_error="null").num_rows == 23 - len(bad)
    with pytest.raises(fm.FormatError, match=r"byte 161.*all bytes of the last record"):
        fm.read(DIRTY, format, columns=["a"])


def test_filters_come_before_checks_of_other_columns():
    format = fm.Native(SMALL)
    rejects: list[pa.Table] = []
    table = fm.read(DIRTY[:-3], format, filters=[("a", "<", 4)], on_error="collect", rejects=rejects)
    assert table["a"].to_pylist() == [0, 1]
    assert rejects[0]["record"].to_pylist() == [2, 3]


def test_values_of_an_array_are_rows():
    rows = [struct.pack("<HBi", i, 1, -i) for i in range(3)]
    parsed = fm.parse_records_with_errors([rows[0], None, rows[1] + b"x", rows[2], b"", rows[0] * 2], fm.Native(SMALL))
    assert parsed.data["a"].to_pylist() == [0, None, None, 2, None, None]
    errors = parsed.errors.to_pylist()
    assert [e is None for e in errors] == [True, True, False, True, True, False]


def test_a_checkpoint_goes_on_inside_a_row():
    format = fm.Native(SMALL)
    data = b"".join(struct.pack("<HBi", i, 1, i) for i in range(5))
    for cut, batches in resumed_at_every_cut(data, format):
        assert [v for b in batches for v in b.data["a"].to_pylist()] == list(range(5)), cut


def test_a_lost_buffer_costs_the_rows_over_it():
    data = b"".join(struct.pack("<HBi", i, 1, i) for i in range(20))
    stream = fm.Stream(fm.Native(SMALL), on_error="collect")
    stream.push(data[:35], sequence=1)
    stream.lost(2)
    stream.push(data[70:], sequence=3)
    stream.finish()
    assert "lost" in stream.rejects()["code"].to_pylist()


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_schema_of_fixed_width_reads_what_struct_packs(data):
    letters = {
        "b": pa.int8(),
        "H": pa.uint16(),
        "i": pa.int32(),
        "q": pa.int64(),
        "d": pa.float64(),
        "Q": pa.uint64(),
        "?": pa.bool_(),
    }
    chosen = data.draw(st.lists(st.sampled_from(sorted(letters)), min_size=1, max_size=6))
    big = data.draw(st.booleans())
    packer = struct.Struct((">" if big else "<") + "".join(chosen))
    limits = {
        "b": (-128, 127),
        "H": (0, 2**16 - 1),
        "i": (-(2**31), 2**31 - 1),
        "q": (-(2**63), 2**63 - 1),
        "Q": (0, 2**64 - 1),
    }
    kinds = {**{k: st.integers(*v) for k, v in limits.items()}, "d": st.floats(allow_nan=False), "?": st.booleans()}
    rows = data.draw(st.lists(st.tuples(*(kinds[c] for c in chosen)), max_size=40))
    schema = pa.schema([(f"f{i}", letters[c]) for i, c in enumerate(chosen)])
    raw = b"".join(packer.pack(*row) for row in rows)
    format = fm.Native(schema, endian="big" if big else "little")
    assert [tuple(r.values()) for r in fm.read(raw, format).to_pylist()] == rows
    size = data.draw(st.integers(1, 30))
    pieces = pieces_of(raw, size)
    order = list(range(len(pieces)))
    random.Random(size).shuffle(order)
    assert departure(streamed(pieces, format, order), whole_read(raw, format), len(pieces)) is None


def test_formats_are_frozen_hashable_and_checked():
    format = fm.Native(SMALL, endian="big")
    assert pickle.loads(pickle.dumps(format)) == format
    assert hash(format) != hash(fm.Native(SMALL))
    with pytest.raises(AttributeError):
        format.endian = "little"
    for schema in (
        pa.schema([("a", pa.string()), ("b", pa.int8())]), pa.schema([("a", pa.list_(pa.int8()))]),
        pa.schema([("a", pa.decimal256(40, 2))]), pa.schema([("a", pa.null())]), pa.schema([]), pa.schema([("a", pa.binary(0))]),
        pa.schema([pa.field("a", pa.binary(2), metadata={b"encoding": b"hex"})]),
    ):  # fmt: skip
        with pytest.raises(fm.SchemaError):
            fm.Native(schema)
    with pytest.raises(fm.OptionError, match="endian"):
        fm.Native(SMALL, endian="middle")
    with pytest.raises(fm.OptionError, match=r"fm\.Framed"):
        fm.read(b"", fm.Native(pa.schema([("a", pa.binary())])))
    with pytest.raises(fm.OptionError, match=r"fm\.Native"):
        fm.read(b"", SMALL)
