"""A Json format from a sample: nested types. In: parts of inputs. Out: a Json, and doubts.

Each record's text is read by Python's json module; what it found is merged path by path, and the format is then proven on those
texts by the parser that will read the rest. Values of kinds that do not merge are kept as text, never dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from formatter.errors import FormatError, shorten
from formatter.formats import Json
from formatter.formats.json import MOST_PATH_KEYS
from formatter.inference.json_records import RAW, JsonSample, layout_of, pointer_to, records_of
from formatter.inference.json_values import MOST_NESTED, Members, Written, kind_of, shown, value_of
from formatter.values import parse_records_with_errors, parse_values

ANY_AS_TEXT = {b"text": b"any"}  # a string's content; of any other value what is written
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
    digits: int = 0  # of integers too long to be compared
    inexact: int = 0  # numbers that no float64 holds
    strings: list[str] = field(default_factory=list)
    members: dict[str, Seen] = field(default_factory=dict)
    items: Seen | None = None
    twice: str | None = None  # a key that an object has twice
    replaced: str | None = None  # a key with half a surrogate pair
    too_deep: bool = False  # nobody has looked into what stands here

    def add(self, value: Any, depth: int = 0) -> None:
        kind = kind_of(value)
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if kind not in self.examples:
            self.examples[kind] = shown(value)
        if kind == "string":
            self.strings.append(value)
        elif isinstance(value, Written):
            if kind == "integer":
                self.digits = max(self.digits, len(value.lstrip("-")))
            self.inexact += kind == "number" and float(value) in (float("inf"), float("-inf"))
        elif kind == "integer":
            self.least, self.most = min(self.least, value), max(self.most, value)
        elif kind in ("object", "array") and depth == MOST_NESTED:
            self.too_deep = True
        elif kind == "object":
            self.replaced = self.replaced if value.replaced is None else value.replaced
            names: set[str] = set()
            for name, member in value.pairs:
                if name in names:
                    self.twice = name
                names.add(name)
                self.members.setdefault(name, Seen()).add(member, depth + 1)
        elif kind == "array":
            self.items = self.items or Seen()
            for item in value:
                self.items.add(item, depth + 1)


def infer_json(samples: Sequence[JsonSample], rows: int) -> tuple[Json, list[str]]:
    """The format, and what was unsure. Each sample gives its share of the rows, those that are left by others included."""
    layout = layout_of(samples[0])
    top = Seen()
    texts: list[list[bytes]] = []
    bad: list[str] = []
    looked_at = 0
    for i, sample in enumerate(samples):
        records = records_of(sample, layout, -(-(rows - looked_at) // (len(samples) - i)))
        looked_at += records.count
        bad += records.bad
        texts.append(records.texts)
        for text in records.texts:
            top.add(value_of(text.decode()))
    size = sum(len(sample.data) for sample in samples)
    if bad and not any(texts):
        raise FormatError(f"infer: expected JSON objects, found none in {size} bytes: {bad[0]}", code="invalid")
    if not looked_at and any(sample.data.strip() and not sample.whole for sample in samples):
        raise FormatError(
            f"infer: expected a record that ends in the sample of {size} bytes, found none", code="invalid"
        )
    doubts = bad[:1]
    if len(bad) > 1:
        doubts.append(f"{len(bad)} of {looked_at} records are no objects")
    doubts += _layout_doubts(samples, layout, texts, bad)
    for name in [name for name in top.members if "\0" in name]:
        doubts.append(f"key {name!r}: no column can have this name, left out")
        del top.members[name]
    names = list(top.members)
    if not names:
        doubts.append(f"no {'key in any object' if any(texts) else 'object'} in {size} bytes, so there are no columns")
    if top.twice is not None:
        doubts.append(f"key {top.twice!r} stands twice in an object; the last one counts")
    fields = [_field(name, top.members[name], name, doubts) for name in names]
    provable = PROVEN_VALUES // sum(_leaf_count(field.type) for field in fields) if fields else looked_at
    most = looked_at if looked_at <= provable else max(1, provable // len(texts))
    if any(most < len(one) for one in texts):
        doubts.append(f"{looked_at} records of {len(names)} different keys: proven on the first {most} of each sample")
    format = Json(pa.schema(fields), records=layout)
    if (key := _replaced_key(top)) is not None:
        doubts.append(f"key {key!r} has half a surrogate pair, which no text holds: read as U+FFFD, in values too")
        format = replace(format, surrogates="replace")
    return _proven(format, [one[:most] for one in texts], doubts), doubts


def _layout_doubts(
    samples: Sequence[JsonSample], layout: str, texts: list[list[bytes]], bad: list[str]
) -> Iterator[str]:
    if layout.startswith("/"):
        yield (
            f"the first document is longer than the sample of {len(samples[0].data)} bytes: its records are taken to be the "
            f"items at {layout!r}, and what stands beside them has no column"
        )
    elif len(samples) == 1 and samples[0].whole and not bad and len(texts[0]) == 1:
        found = _wrapped(value_of(texts[0][0].decode()), [])
        if found is not None:
            count, keys = found
            yield f"one document, with an array of {count} objects in it: records={pointer_to(keys)!r} would read those"


def _wrapped(value: Members, keys: list[str]) -> tuple[int, list[str]] | None:
    """The longest array of objects that keys alone lead to: its length, and the keys."""
    found: list[tuple[int, list[str]]] = []
    for name, member in value.pairs:
        inner = [*keys, name]
        if isinstance(member, Members) and len(inner) < MOST_PATH_KEYS:
            found += filter(None, [_wrapped(member, inner)])
        elif isinstance(member, list) and len(member) > 1 and all(isinstance(item, Members) for item in member):
            found.append((len(member), inner))
    return max(found, key=lambda pair: pair[0], default=None)


def _replaced_key(seen: Seen) -> str | None:
    inside = [*seen.members.values(), *filter(None, [seen.items])]
    return next(filter(None, [seen.replaced, *map(_replaced_key, inside)]), None)


def _leaf_count(kind: pa.DataType) -> int:
    return sum(_leaf_count(kind.field(i).type) for i in range(kind.num_fields)) or 1


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
        if seen.too_deep:
            doubts.append(f"{path}: in more than {MOST_NESTED} brackets, kept as text")
            return None
        if not items.counts:
            doubts.append(f"{path}: only empty arrays in the sample, their items kept as text")
            return pa.list_(pa.field("item", pa.string(), metadata=ANY_AS_TEXT))
        return pa.list_(_field("item", items, f"{path}[]", doubts))
    return _object(seen, path, doubts)


def _number(seen: Seen, path: str, doubts: list[str]) -> pa.DataType | None:
    digits = max(seen.digits, len(str(max(seen.most, -seen.least))))
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
    if not seen.digits and seen.least >= -(2**63) and seen.most < 2**63:
        return pa.int64()
    if not seen.digits and seen.least >= 0 and seen.most < 2**64:
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
    if seen.too_deep:
        doubts.append(f"{path}: in more than {MOST_NESTED} brackets, kept as text")
        return None
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
    into.digits = max(into.digits, other.digits)
    into.inexact += other.inexact
    into.strings += other.strings
    into.twice = into.twice if into.twice is not None else other.twice
    into.too_deep |= other.too_deep
    for name, member in other.members.items():
        _unite(into.members.setdefault(name, Seen()), member)
    if other.items is not None:
        into.items = into.items or Seen()
        _unite(into.items, other.items)


def _proven(format: Json, parts: Sequence[list[bytes]], doubts: list[str]) -> Json:
    """Reads the records by the format; what still fails is kept as text, and what is no text as it is written."""
    records = "lines" if format.records == "lines" else "concatenated"  # each stands for itself here, in no array
    for _ in range(2 * len(format.schema) + 1):
        found: dict[str, FormatError] = {}
        for part in parts:
            for error in parse_records_with_errors(part, replace(format, records=records)).details:
                if error.column is not None:
                    found.setdefault(error.column, error)
        if not found:
            return format
        for name, error in found.items():
            position = format.schema.get_field_index(name)
            is_text = format.schema.field(position).type == pa.string()
            kept = "as it is written (raw)" if is_text else "as text"
            doubts.append(f"{name}: expected {error.expected}, found {shorten(error.found or '')}: kept {kept}")
            new = pa.field(name, pa.string(), metadata=RAW if is_text else ANY_AS_TEXT)
            format = replace(format, schema=format.schema.set(position, new))
    return format
