"""Lines of JSON beside what Python's json makes of them, value by value, and pysimdjson's verdict. In: bytes. Out: nothing, or
AssertionError. Refuses to know: who makes the bytes.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import simdjson
from fuzz_choices import Choices
from kernel_choice import under_kernel
from oracle.csv_oracle import Dialect
from oracle.csv_values import Bad, decode_value

import formatter as fm

PLAIN = Dialect(pa.schema([]))


class Written(str):
    """A number as it stands in the text."""


class Unsure(Exception):
    """What Python's json makes of the line says nothing about a value of it."""


JSON_SCHEMA = pa.schema(
    [
        ("a", pa.int64()),
        ("b", pa.string()),
        ("c", pa.float64()),
        ("d", pa.bool_()),
        ("e", pa.decimal128(20, 4)),
        ("f", pa.float32()),
        ("l", pa.list_(pa.int8())),
        ("o", pa.struct([("a", pa.uint64()), ("s", pa.string()), ("t", pa.timestamp("us"))])),
        ("m", pa.map_(pa.string(), pa.float64())),
    ]
)
WHITE = " \t\r"
DEEPEST = 1000
BROKEN = {"malformed", "not_an_object", "trailing_data", "unterminated_quote"}


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Unsure  # which of them counts, and whether a bad one that does not is looked at, is ours to say
    return found


def _no_constant(name: str) -> None:
    raise ValueError(name)


def by_python(line: bytes) -> Any:
    """ValueError: no JSON."""
    text = line.decode("utf-8")
    if text.count("[") + text.count("{") > DEEPEST // 2:
        raise Unsure
    return json.loads(
        text, parse_float=Written, parse_int=Written, parse_constant=_no_constant, object_pairs_hook=_pairs
    )


def _number(value: Any, kind: pa.DataType) -> Any:
    if not isinstance(value, Written):
        if isinstance(value, str) and pa.types.is_decimal(kind):
            raise Unsure  # strings of numbers are taken
        raise Bad("wrong_type")
    exponent = re.search(r"[eE]([+-]?\d+)$", value)
    if exponent and abs(int(exponent[1])) > 5000:
        raise Unsure
    if pa.types.is_floating(kind):
        return decode_value(value.encode(), pa.field("x", kind), PLAIN)
    exact = Fraction(value)
    if pa.types.is_decimal(kind):
        scaled = exact * 10**kind.scale
        if scaled.denominator != 1:
            raise Bad("precision")
        if abs(scaled) >= 10**kind.precision:
            raise Bad("overflow")
        return Decimal(scaled.numerator).scaleb(-kind.scale)
    if exact.denominator != 1:
        raise Bad("precision")
    return decode_value(str(exact.numerator).encode(), pa.field("x", kind), PLAIN)


def json_value(value: Any, kind: pa.DataType) -> Any:
    """As to_pylist() gives it; Bad if it is none of the type."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        _must_be(value, dict)
        return {member.name: json_value(value.get(member.name), member.type) for member in kind}
    if pa.types.is_map(kind):
        _must_be(value, dict)
        return [(_text(key), json_value(item, kind.item_type)) for key, item in value.items()]
    if pa.types.is_list(kind):
        _must_be(value, list)
        return [json_value(item, kind.value_type) for item in value]
    if pa.types.is_boolean(kind):
        _must_be(value, bool)
        return value
    if pa.types.is_string(kind):
        return _text(value)
    if pa.types.is_timestamp(kind):
        return decode_value(_text(value).encode(), pa.field("x", kind), PLAIN)
    return _number(value, kind)


def _must_be(value: Any, kind: type) -> None:
    if not isinstance(value, kind):
        raise Bad("wrong_type")


def _text(value: Any) -> str:
    if isinstance(value, Written):
        raise Bad("wrong_type")
    _must_be(value, str)
    if any(0xD800 <= ord(letter) < 0xE000 for letter in value):
        raise Bad("bad_utf8")
    return str(value)


def _plain(value: Any) -> Any:
    """Floats by their repr."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return repr(value) if isinstance(value, float) else value


def _times_as_numbers(table: pa.Table) -> pa.Table:
    """Python's datetime ends with the year 9999, as ours does, but has no year 0."""
    plain = pa.struct([("a", pa.uint64()), ("s", pa.string()), ("t", pa.int64())])
    where = table.schema.names.index("o") if "o" in table.schema.names else None
    return table if where is None else table.set_column(where, "o", table["o"].cast(plain))


def json_values(data: bytes) -> None:
    """Lines one by one by Python's json, and what it makes of their values; pysimdjson where we find no JSON at all."""
    choices = Choices(data)
    validate = choices.one_of(["full", "touched"])
    names = [name for name in JSON_SCHEMA.names if choices.below(8) < 7] or ["a"]
    with under_kernel(choices.one_of(fm.kernels())):
        text = choices.rest().removeprefix(b"\xef\xbb\xbf")
        rejects: list[pa.Table] = []
        format = fm.Json(JSON_SCHEMA, validate=validate)
        table = fm.read(text, format, columns=names, on_error="collect", rejects=rejects, threads=1)
    table.validate(full=True)
    codes = {row["record"]: row["code"] for part in rejects for row in part.to_pylist()}
    rows = iter(_times_as_numbers(table).to_pylist())
    lines = [line for line in text.split(b"\n") if line.strip(WHITE.encode())]
    assert table.num_rows + len(codes) == len(lines), f"{text!r}: {table.num_rows} rows, {codes}"
    for number, line in enumerate(lines):
        code = codes.get(number)
        found = None if code else next(rows)
        expected, bad = None, None
        try:
            record = by_python(line)
            _must_be(record, dict)
            expected = {name: json_value(record.get(name), JSON_SCHEMA.field(name).type) for name in names}
        except (Unsure, RecursionError):
            continue
        except (ValueError, Bad) as error:
            bad = error
        if code == "bad_utf8" and re.search(rb"\\u[dD][89a-fA-F]", line):
            continue  # half a surrogate pair, anywhere
        if code in BROKEN:
            assert not _is_object_to_simdjson(line), f"{line!r}: {code}, pysimdjson takes it"
        if bad is not None:
            is_grammar = isinstance(bad, ValueError)  # what is not touched is not looked at
            assert code or (is_grammar and validate == "touched"), f"{line!r}: read, Python says {bad!r}"
        else:
            assert code is None, f"{line!r}: {code}, Python reads it"
            assert _plain(found) == _plain(expected), f"{line!r}: {found} instead of {expected}"


def _is_object_to_simdjson(line: bytes) -> bool:
    try:
        return isinstance(simdjson.Parser().parse(line), simdjson.Object)
    except (ValueError, RuntimeError):
        return False
