"""A Json format from a sample: where documents stand, nested types. In: parts of inputs. Out: a Json, and doubts.

Python's json module reads the samples; what it found is merged path by path, and the format is then proven on them by
the parser that will read the rest. Values of kinds that do not merge are kept as text, never dropped.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pyarrow as pa

from formatter.errors import FormatError, shorten
from formatter.formats import Json
from formatter.readers import read
from formatter.values import parse_values

ANY_AS_TEXT = {b"text": b"any"}  # a string's content; of any other value what is written
RAW = {b"raw": b"1"}  # what is written of strings too: of those that no text holds, as half a surrogate pair
MAP_KEYS = 100  # more different keys than this are no members of a structure but the keys of a map
PROVEN_VALUES = 4 << 20  # objects of other keys each time are records of nulls, mostly: all of them would be too many
FEW = 3  # values: too few to be sure of what they all look like
_DATE = re.compile(r"\d{4}-\d\d-\d\d\Z")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_ZONE = re.compile(r"(Z|[+-]\d\d(:?\d\d)?)\Z")


@dataclass
class Seen:
    """What stood at one path."""

    counts: dict[str, int] = field(default_factory=dict)  # by kind
    examples: dict[str, str] = field(default_factory=dict)
    least: int = 0
    most: int = 0
    inexact: int = 0  # numbers that no float64 holds
    strings: list[str] = field(default_factory=list)
    members: dict[str, Seen] = field(default_factory=dict)
    items: Seen | None = None
    twice: str | None = None  # a key that an object has twice

    def add(self, value: Any) -> None:
        kind = _kind(value)
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if kind not in self.examples:
            self.examples[kind] = _shown(value)
        if kind == "string":
            self.strings.append(value)
        elif kind == "integer":
            self.least, self.most = min(self.least, value), max(self.most, value)
        elif kind == "number":
            self.inexact += value.is_finite() and float(value) in (float("inf"), float("-inf"))
        elif kind == "object":
            names: set[str] = set()
            for name, member in value.pairs:
                if name in names:
                    self.twice = name
                names.add(name)
                self.members.setdefault(name, Seen()).add(member)
        elif kind == "array":
            self.items = self.items or Seen()
            for item in value:
                self.items.add(item)


@dataclass
class _Object:
    pairs: list[tuple[str, Any]]


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    names = {int: "integer", Decimal: "number", str: "string", list: "array", _Object: "object"}
    return names[type(value)]


def _shown(value: Any) -> str:
    if isinstance(value, _Object):
        return "{" + ", ".join(f"{name!r}: ..." for name, _ in value.pairs[:3]) + "}"
    if isinstance(value, list):
        return f"[{len(value)} items]"
    return shorten(str(value), 40) if isinstance(value, str) else shorten(str(value), 40)[1:-1]


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def _object_of(pairs: list[tuple[str, Any]]) -> _Object:
    for name, _ in pairs:
        name.encode()  # half a surrogate pair names no column: a ValueError, as of what is no JSON
    return _Object(pairs)


_DECODER = json.JSONDecoder(object_pairs_hook=_object_of, parse_float=Decimal, parse_constant=_refused)


@dataclass(frozen=True)
class JsonSample:
    """Bytes that begin with a record. `whole`: the input ends with them. `name`: of the input, where there are several."""

    data: bytes
    whole: bool
    name: str = ""
    offset: int = 0  # of these bytes in the input


@dataclass(frozen=True)
class _Looked:
    """What was looked at of a sample."""

    data: bytes
    ends: list[int]  # of its records
    end: bytes  # to put behind it
    cut_end: bytes  # to put behind less of it

    def first(self, count: int) -> bytes:
        return self.data + self.end if count >= len(self.ends) else self.data[: self.ends[count - 1]] + self.cut_end


def infer_json(samples: Sequence[JsonSample], rows: int) -> tuple[Json, list[str]]:
    """The format, and what was unsure. Each sample gives its share of the rows, those that are left by others included."""
    doubts: list[str] = []
    bodies = [sample.data.removeprefix(BOM_UTF8) for sample in samples]
    records = layout_of(samples[0].data)
    top = Seen()
    count, bad = 0, 0
    looked: list[_Looked] = []
    for i, (sample, body) in enumerate(zip(samples, bodies, strict=True)):
        share = -(-(rows - count - bad) // (len(samples) - i))
        before, mark = count + bad, len(sample.data) - len(body)
        ends: list[int] = []
        for value, at, end in _documents(body, records, sample.whole):
            if count + bad - before == share:
                break
            ends.append(end + mark)
            if not isinstance(value, _Object):
                bad += 1
                if bad == 1:
                    found = value if isinstance(value, Exception) else f"found {_kind(value)} {_shown(value)}"
                    where = f"{sample.name}: " if sample.name else ""
                    doubts.append(f"{where}byte {sample.offset + at + mark} begins no object ({found})")
                continue
            count += 1
            top.add(value)
        cut_end = b"]" if records == "array" else b""
        last_end = b"" if sample.whole and len(ends) < share else cut_end
        looked.append(_Looked(sample.data[: ends[-1] if ends else mark], ends, last_end, cut_end))
    if bad > 1:
        doubts.append(f"{bad} of {count + bad} records are no objects")
    if not count:
        size = sum(len(sample.data) for sample in samples)
        raise FormatError(f"infer: expected JSON objects, found none in {size} bytes", code="invalid")
    for name in [name for name in top.members if "\0" in name]:
        doubts.append(f"key {name!r}: no column can have this name, left out")
        del top.members[name]
    names = list(top.members)
    if not names:
        raise FormatError("infer: expected objects with members, found empty ones only", code="invalid")
    if top.twice is not None:
        doubts.append(f"key {top.twice!r} stands twice in an object; the last one counts")
    fields = [_field(name, top.members[name], name, doubts) for name in names]
    provable = PROVEN_VALUES // sum(_leaf_count(field.type) for field in fields)
    most = count + bad if count + bad <= provable else max(1, provable // len(looked))
    if any(most < len(one.ends) for one in looked):
        doubts.append(
            f"{count + bad} records of {len(names)} different keys: proven on the first {most} of each sample"
        )
    return _proven(Json(pa.schema(fields), records=records), [one.first(most) for one in looked], doubts), doubts


def _leaf_count(kind: pa.DataType) -> int:
    return sum(_leaf_count(kind.field(i).type) for i in range(kind.num_fields)) or 1


def layout_of(sample: bytes) -> Any:
    text = sample.removeprefix(BOM_UTF8).lstrip()
    if text.startswith(b"["):
        return "array"
    line = text.split(b"\n", 1)[0]
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        pass
    else:
        return "lines"
    try:  # more than a line, or several documents on one
        _DECODER.raw_decode(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return "lines"
    return "concatenated"


def _documents(body: bytes, records: str, whole: bool) -> Iterator[tuple[Any, int, int]]:
    """(value or what is wrong, first byte, byte behind it); a last one that the sample cuts is left out."""
    if records == "lines":
        at = 0
        while at < len(body):
            end = body.find(b"\n", at)
            if end < 0 and not whole and at:
                return
            end = len(body) if end < 0 else end
            line = body[at:end]
            if line.strip():
                yield _decoded(line), at, end
            at = end + 1
        return
    text = body.decode("utf-8", "surrogateescape")
    at = behind = 0

    def offset(position: int) -> int:
        nonlocal at, behind
        behind += len(text[at:position].encode("utf-8", "surrogateescape"))
        at = position
        return behind

    space = re.compile(r"[\s,]*" if records == "array" else r"\s*")
    position = text.index("[") + 1 if records == "array" else 0
    while True:
        position = space.match(text, position).end()  # type: ignore[union-attr]
        if position >= len(text) or (records == "array" and text[position] == "]"):
            return
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            if whole:
                yield error, offset(position), len(body)
            return
        first = offset(position)
        yield value, first, offset(end)
        position = end


def _decoded(line: bytes) -> Any:
    try:
        return _DECODER.decode(line.decode())
    except (ValueError, RecursionError) as error:
        return error


def _field(name: str, seen: Seen, path: str, doubts: list[str]) -> pa.Field:
    kind = _type(seen, path, doubts)
    return pa.field(name, pa.string(), metadata=ANY_AS_TEXT) if kind is None else pa.field(name, kind)


def _type(seen: Seen, path: str, doubts: list[str]) -> pa.DataType | None:
    """The type that holds every value seen there; None: only their text does."""
    kinds = {kind for kind in seen.counts if kind != "null"}
    if not kinds:
        doubts.append(f"{path}: no value but null in the sample, kept as text")
        return None
    if kinds <= {"integer", "number"}:
        return _number(seen, path, doubts)
    if len(kinds) > 1:
        found = ", ".join(f"{kind} ({seen.counts[kind]} times, as {seen.examples[kind]})" for kind in sorted(kinds))
        doubts.append(f"{path}: {found}: kept as text")
        return None
    if kinds == {"boolean"}:
        return pa.bool_()
    if kinds == {"string"}:
        return _string(seen.strings, path, doubts)
    if kinds == {"array"}:
        items = seen.items or Seen()
        if not items.counts:
            doubts.append(f"{path}: only empty arrays in the sample, their items kept as text")
            return pa.list_(pa.field("item", pa.string(), metadata=ANY_AS_TEXT))
        return pa.list_(_field("item", items, f"{path}[]", doubts))
    return _object(seen, path, doubts)


def _number(seen: Seen, path: str, doubts: list[str]) -> pa.DataType | None:
    digits = len(str(max(seen.most, -seen.least)))
    if "number" in seen.counts:
        if seen.inexact or digits > 308:
            doubts.append(f"{path}: numbers beyond float64, kept as text")
            return None
        if max(seen.most, -seen.least) > 2**53:
            large = seen.most if seen.most > 2**53 else seen.least
            doubts.append(
                f"{path}: fractions ({seen.examples['number']}) and integers beyond 2**53 ({large}): float64 rounds"
            )
        return pa.float64()
    if seen.least >= -(2**63) and seen.most < 2**63:
        return pa.int64()
    if seen.least >= 0 and seen.most < 2**64:
        return pa.uint64()
    if digits <= 38:
        doubts.append(f"{path}: integers of {digits} digits, taken as decimal")
        return pa.decimal128(38, 0)
    doubts.append(f"{path}: integers of {digits} digits, kept as text")
    return None


def _string(strings: list[str], path: str, doubts: list[str]) -> pa.DataType:
    """Dates and timestamps where every value is one; a few could look so by chance, which is told."""
    kind: pa.DataType | None = None
    if all(map(_DATE.match, strings)):
        kind = _first_that_fits(strings, (pa.date32(),))
    elif all(map(_TIME.match, strings)):
        zones = sum(_ZONE.search(text, 16) is not None for text in strings)
        zone = "UTC" if zones else None
        kind = _first_that_fits(strings, (pa.timestamp("us", zone), pa.timestamp("ns", zone)))
        if kind is not None and 0 < zones < len(strings):
            doubts.append(f"{path}: {zones} of {len(strings)} times have an offset, the others are taken as UTC")
    if kind is None:
        return pa.string()
    if len(strings) < FEW:
        doubts.append(f"{path}: taken as {kind} for {len(strings)} values, like {shorten(strings[0], 40)}")
    return kind


def _first_that_fits(strings: list[str], kinds: tuple[pa.DataType, ...]) -> pa.DataType | None:
    for kind in kinds:
        try:
            parse_values(pa.array(strings), kind)
        except FormatError:
            continue
        return kind
    return None


def _object(seen: Seen, path: str, doubts: list[str]) -> pa.DataType | None:
    if not seen.members:
        doubts.append(f"{path}: only empty objects in the sample, kept as text")
        return None
    if seen.twice is not None:
        doubts.append(f"{path}: key {seen.twice!r} stands twice in an object; the last one counts")
    if len(seen.members) > MAP_KEYS and len(seen.members) > 4 * sum(_presence(seen)) / seen.counts["object"]:
        together = Seen()
        for member in seen.members.values():
            _unite(together, member)
        unsure: list[str] = []
        values = _field("value", together, f"{path}{{}}", unsure)
        if values.metadata is None:
            doubts.append(f"{path}: {len(seen.members)} different keys, taken as a map")
            return pa.map_(pa.string(), values)
    odd = next((name for name in seen.members if "\0" in name), None)
    if odd is not None:
        doubts.append(f"{path}: no member can have the name {odd!r}, kept as text")
        return None
    return pa.struct([_field(name, member, f"{path}.{name}", doubts) for name, member in seen.members.items()])


def _presence(seen: Seen) -> Iterator[int]:
    return (sum(member.counts.values()) for member in seen.members.values())


def _unite(into: Seen, other: Seen) -> None:
    for kind, count in other.counts.items():
        into.counts[kind] = into.counts.get(kind, 0) + count
        into.examples.setdefault(kind, other.examples[kind])
    into.least, into.most = min(into.least, other.least), max(into.most, other.most)
    into.inexact += other.inexact
    into.strings += other.strings
    into.twice = into.twice if into.twice is not None else other.twice
    for name, member in other.members.items():
        _unite(into.members.setdefault(name, Seen()), member)
    if other.items is not None:
        into.items = into.items or Seen()
        _unite(into.items, other.items)


def _proven(format: Json, parts: Sequence[bytes], doubts: list[str]) -> Json:
    """Reads the samples by the format; what still fails is kept as text, and what is no text as it is written."""
    for _ in range(2 * len(format.schema) + 1):
        found: list[dict[str, Any]] = []
        for part in parts:
            rejects: list[pa.Table] = []
            read(part, format, on_error="collect", threads=1, rejects=rejects)
            found += [row for row in rejects[0].to_pylist() if row["column"] is not None]
        if not found:
            return format
        for name in dict.fromkeys(row["column"] for row in found):
            first = next(row for row in found if row["column"] == name)
            position = format.schema.get_field_index(name)
            failed = format.schema.field(position)
            is_text = failed.type == pa.string()
            doubts.append(f"{name}: kept {'as it is written (raw)' if is_text else 'as text'}, for {first['message']}")
            kept = pa.field(name, pa.string(), metadata=RAW if is_text else ANY_AS_TEXT)
            format = Json(format.schema.set(position, kept), records=format.records)
    return format
