"""What comes out, value by value, beside our slow oracles: CSV by any dialect, any declaration, frames, single values.

In: bytes. Out: nothing, or AssertionError. Refuses to know: who makes the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

import pyarrow as pa
from fuzz_choices import Choices, ChosenRandom, pieces_of
from kernel_choice import under_kernel
from oracle import delimited_oracle
from oracle.csv_oracle import Dialect, parse
from oracle.csv_runs import cut_every, difference, through_read, through_stream
from oracle.csv_values import Bad, decode_value
from oracle.random_declarations import declaration
from oracle.stream_runs import departure, multiset, row_tuples, streamed, whole_read

import formatter as fm
from formatter import register_format
from formatter.raw_values import keeps_any_byte

HEX, BASE64 = {b"encoding": b"hex"}, {b"encoding": b"base64"}
PLAIN = Dialect(pa.schema([]))
CSV_TYPES = [
    pa.int64(), pa.string(), pa.float64(), pa.timestamp("us"), pa.bool_(), pa.decimal128(9, 2), pa.binary(), pa.int8(),
    pa.uint64(), pa.float32(), pa.date32(), pa.timestamp("s"), pa.timestamp("ns"), pa.decimal128(38, 10), pa.large_string(),
    pa.dictionary(pa.int32(), pa.string()), pa.uint16(),
]  # fmt: skip


def _as_many_bits_kept(array: pa.Array) -> list[Any]:
    """Floats by their repr, so that NaN and -0.0 compare; times as numbers, since Python has no nanoseconds."""
    if pa.types.is_timestamp(array.type) or pa.types.is_date32(array.type):
        array = array.cast(pa.int32() if pa.types.is_date32(array.type) else pa.int64())
    return [repr(value) if isinstance(value, float) else value for value in array.to_pylist()]


# ------------------------------------------------------------------------------------------------------------ CSV


def csv_values(data: bytes) -> None:
    """Any bytes by any dialect: rows, rejects and errors are the oracle's, whole and in pieces."""
    choices = Choices(data)
    ways: dict[str, Callable[[], Any]] = {
        "delimiter": lambda: choices.one_of([";", "||", "\t", "é"]),
        "record_delimiter": lambda: choices.one_of(["\r\n", "a", "\n\n", ";\n"]),
        "quote": lambda: choices.one_of([None, "x"]),
        "quotes": lambda: choices.one_of(["lenient", "sticky"]),
        "newlines_in_quotes": lambda: False,
        "max_quoted_lines": lambda: 1 + choices.below(3),
        "max_quoted_bytes": lambda: 1 + choices.below(80),
        "escape": lambda: "\\",
        "nulls": lambda: choices.one_of([(), ("NA",), ("NA", "")]),
        "quoted_nulls": lambda: choices.one_of([True, "everywhere"]),
        "true_values": lambda: ("yes", "é"),
        "decimal": lambda: ",",
        "trim": lambda: choices.one_of([True, "left", "right"]),
        "comment": lambda: choices.one_of(["#", "--"]),
        "ragged": lambda: choices.one_of(["pad", "truncate", "fit"]),
    }
    options = {name: ways[name]() for name in choices.some_of(list(ways), 4)}
    if options.get("newlines_in_quotes") is False or options.get("quote", '"') is None:
        for bound in ("max_quoted_lines", "max_quoted_bytes"):
            options.pop(bound, None)
    columns = []
    for i in range(1 + choices.below(4)):
        kind = choices.one_of(CSV_TYPES)
        metadata = choices.one_of([None, HEX, BASE64]) if pa.types.is_binary(kind) else None
        columns.append(pa.field(f"c{i}", kind, nullable=choices.below(8) != 7, metadata=metadata))
    dialect = Dialect(pa.schema(columns), **options)
    on_error = choices.one_of(["collect", "null", "raise", "skip"])
    with under_kernel(choices.one_of(fm.kernels())):
        cuts, seed = Choices(choices.bytes(4)), choices.below(256)
        text = choices.rest()
        outcome = parse(text, dialect, on_error=on_error)
        where = f"{dialect}, {on_error}, {text!r}"
        different = difference(through_read(text, dialect, on_error, threads=1), outcome, on_error)
        assert different is None, f"{where}: {different}"
        positions = sorted({cuts.below(256) * len(text) // 256 for _ in range(4)} - {0, len(text)})
        if seed % 8 == 7:
            positions = cut_every(1 + seed // 8, len(text))
        shuffle = None if on_error == "raise" or seed % 2 else seed
        run = through_stream(text, dialect, on_error, positions, shuffle=shuffle)
        different = difference(run, outcome, on_error)
        assert different is None, f"{where}, cut at {positions}, {shuffle}: {different}"


# ---------------------------------------------------------------------------------------------- declared, framed


def declared(data: bytes) -> None:
    """Any declaration reads any bytes as the oracle says, and in pieces as the whole."""
    choices = Choices(data)
    format = declaration(ChosenRandom(choices))
    with under_kernel(choices.one_of(fm.kernels())):
        cuts = Choices(choices.bytes(14))
        text = choices.rest()
        rows, _ = delimited_oracle.read(text, format, "skip")
        whole = whole_read(text, format, "collect")
        assert whole.rows == multiset(rows), f"{format}, {text!r}: {whole.rows} instead of {rows}"
        pieces, order = pieces_of(cuts, text)
        different = departure(streamed(pieces, format, order, "collect"), whole, len(pieces))
        assert different is None, f"{format}, {pieces}, {order}: {different}"


FRAMED_JSON = pa.schema([("a", pa.int64()), ("b", pa.string()), ("o", pa.struct([("a", pa.float64())]))])
LENGTHS = ["u8", "u16le", "u16be", "u32le", "u32be", "u64le", "u64be", "varint"]


def _width_and_order(length: str) -> tuple[int, Literal["big", "little"]]:
    """Of a length that is no varint."""
    return int(re.sub(r"\D", "", length)) // 8, "big" if length.endswith("be") else "little"


def _frames(data: bytes, length: str) -> tuple[list[bytes], bool]:
    """Records behind their lengths, and whether all of the input is theirs."""
    at, found = 0, []
    while at < len(data):
        if length == "varint":
            size = shift = 0
            while True:
                if at >= len(data) or shift > 63:
                    return found, False
                size |= (data[at] & 127) << shift
                shift, at = shift + 7, at + 1
                if data[at - 1] < 128:
                    break
        else:
            width, order = _width_and_order(length)
            if at + width > len(data):
                return found, False
            size = int.from_bytes(data[at : at + width], order)
            at += width
        if at + size > len(data):
            return found, False
        found.append(data[at : at + size])
        at += size
    return found, True


def _rows_of(record: bytes, format: Any) -> list[tuple[Any, ...]]:
    try:
        return row_tuples([fm.parse_records(pa.array([record], pa.binary()), format, on_error="raise")])
    except fm.FormatError:
        return []


def framed(data: bytes) -> None:
    """Frames of any length: their records are those of the frames one by one, whole and in pieces."""
    choices = Choices(data)
    length = choices.one_of(LENGTHS)
    native = fm.Native(
        pa.schema([("i", pa.int32()), ("t", pa.bool_()), ("u", pa.uint16()), ("s", pa.string())]),
        endian=choices.one_of(["little", "big"]),
    )
    inner = native if choices.below(2) else fm.Json(FRAMED_JSON)
    format = fm.Framed(inner, length=length)
    with under_kernel(choices.one_of(fm.kernels())):
        cuts, frames_are_made = Choices(choices.bytes(14)), choices.below(2)
        text = choices.rest()
        if frames_are_made and length != "varint":
            width, order = _width_and_order(length)
            text = b"".join(len(part).to_bytes(width, order) + part for part in text.split(b"\xff") if len(part) < 256)
        frames, complete = _frames(text, length)
        whole = whole_read(text, format, "collect")
        expected = multiset(row for frame in frames for row in _rows_of(frame, inner))
        blank = any(not frame.strip(b" \t\r\n") for frame in frames)  # which is no record where it is a value
        assert whole.rows == expected or blank, f"{format}, {text!r}: {whole.rows} instead of {expected}"
        assert complete or whole.rejects, f"{format}, {text!r}: a cut frame is not told"
        pieces, order = pieces_of(cuts, text)
        different = departure(streamed(pieces, format, order, "collect"), whole, len(pieces))
        assert different is None, f"{format}, {pieces}, {order}: {different}"


# ---------------------------------------------------------------------------------------------------------- values


def _never_asked(data: Any, fields: Any) -> Any:
    raise AssertionError("values are read without their indexer")


def values(data: bytes) -> None:
    """A field a value: what the oracle makes of each, by itself and among others; text is what Python decodes."""
    choices = Choices(data)
    kind = choices.one_of([*CSV_TYPES, pa.string(), pa.string()])
    column = pa.field("x", kind)
    register_format("never asked", _never_asked)
    format = choices.one_of([None, fm.Registered(pa.schema([column]), "never asked")])
    as_it_is = format is None and not pa.types.is_dictionary(kind) and isinstance(decode_one(b"x", column), str | bytes)
    with under_kernel(choices.one_of(fm.kernels())):
        fields = choices.rest().split(b"\0\0")
        if not keeps_any_byte(kind):  # a line end behind a number is not the number's
            fields = [content.rstrip(b"\r\n") for content in fields]
        expected = [decode_one(content, column) if content or as_it_is else None for content in fields]
        good = [at for at, value in enumerate(expected) if not isinstance(value, Bad)]
        kept = fm.parse_values(pa.array([fields[at] for at in good], pa.binary()), kind, format=format)
        want = [repr(expected[at]) if isinstance(expected[at], float) else expected[at] for at in good]
        if pa.types.is_dictionary(kept.type):
            kept = kept.dictionary_decode()
        where = f"{kind}, {format}, {[fields[at] for at in good]}"
        assert _as_many_bits_kept(kept) == want, f"{where}: {kept} instead of {want}"
        for content, value in zip(fields, expected, strict=True):
            if isinstance(value, Bad):
                try:
                    fm.parse_values(pa.array([content], pa.binary()), kind, format=format)
                except fm.FormatError:
                    continue
                raise AssertionError(f"{kind}, {format}, {content!r}: read, expected {value.code}")


def decode_one(content: bytes, column: pa.Field) -> Any:
    try:
        return decode_value(content, column, PLAIN)
    except Bad as bad:
        return bad
