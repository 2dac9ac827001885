"""Python's JSON libraries in a loop over lines, as people write it: parse a record, keep the wanted members, then columns.

msgspec is told what is wanted and parses only that; orjson and pysimdjson parse the record.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from bench.contestant import Contestant, Declined, Prepared, Task

Loop = Callable[[list[bytes]], list[list[Any]]]


def table(library: str) -> Callable[[Task], Prepared]:
    def prepare(task: Task) -> Prepared:
        source = task.input
        if source.kind != "json":
            raise Declined("reads JSON only")
        lines = source.data.splitlines()
        wanted = task.columns or tuple(source.schema.names)
        loop = {"orjson": _orjson, "msgspec": _msgspec, "pysimdjson": _pysimdjson}[library](task, wanted)
        kinds = [_type_of(source.schema, column) for column in wanted]
        return Prepared(lambda: _table(wanted, kinds, loop(lines)))

    return prepare


def _type_of(schema: pa.Schema, column: str) -> pa.DataType:
    name, *members = column.split(".")
    kind = schema.field(name).type
    for member in members:
        kind = kind.field(member).type
    return kind


def _table(names: tuple[str, ...], kinds: list[pa.DataType], rows: list[list[Any]]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    arrays = []
    for kind, values in zip(kinds, columns, strict=True):
        text = pa.types.is_timestamp(kind) or pa.types.is_date(kind)
        array = pa.array(values, pa.string() if text else kind)
        arrays.append(array.cast(kind) if text else array)
    return pa.table(arrays, names=list(names))


def _paths(wanted: tuple[str, ...]) -> list[list[str]]:
    return [column.split(".") for column in wanted]


def _member(record: Any, path: list[str]) -> Any:
    for name in path:
        record = record.get(name)
        if record is None:
            return None
    return record


def _orjson(task: Task, wanted: tuple[str, ...]) -> Loop:
    import orjson

    paths, loads = _paths(wanted), orjson.loads
    return lambda lines: [[_member(record, path) for path in paths] for record in map(loads, lines)]


def _pysimdjson(task: Task, wanted: tuple[str, ...]) -> Loop:
    import simdjson

    parser, paths = simdjson.Parser(), _paths(wanted)

    def loop(lines: list[bytes]) -> list[list[Any]]:
        rows = []
        for line in lines:
            record = parser.parse(line)
            rows.append([_plain(_member(record, path)) for path in paths])
            del record  # the parser keeps one document
        return rows

    def _plain(value: Any) -> Any:
        return value.as_dict() if hasattr(value, "as_dict") else value.as_list() if hasattr(value, "as_list") else value

    return loop


def _msgspec(task: Task, wanted: tuple[str, ...]) -> Loop:
    import msgspec

    made: dict[str, Any] = {}
    for column in wanted:
        name, *members = column.split(".")
        made.setdefault(name, []).extend(members)
    fields = [
        (f"f{at}", _hint(msgspec, task.input.schema.field(name).type, made[name]), None) for at, name in enumerate(made)
    ]
    names = {f"f{at}": name for at, name in enumerate(made)}
    record = msgspec.defstruct("Record", fields, rename=names.__getitem__)
    decode = msgspec.json.Decoder(record).decode
    places = {name: f"f{at}" for at, name in enumerate(made)}
    paths = [[places[first], *rest] for first, *rest in _paths(wanted)]

    def row(found: Any) -> list[Any]:
        return [_member(getattr(found, first), rest) for first, *rest in paths]

    return lambda lines: [row(decode(line)) for line in lines]


def _hint(msgspec: Any, kind: pa.DataType, members: list[str]) -> Any:
    plain = {pa.int64(): int, pa.int32(): int, pa.float64(): float, pa.string(): str, pa.bool_(): bool}
    return (plain.get(kind) or Any) | None if not members else dict[str, Any] | None


CONTESTANTS = [
    Contestant("orjson", {"table": table("orjson")}, "orjson", handicap="one thread; a Python object for every value"),
    Contestant(
        "msgspec", {"table": table("msgspec")}, "msgspec", handicap="one thread; a Python object for every wanted value"
    ),
    Contestant(
        "pysimdjson",
        {"table": table("pysimdjson")},
        "pysimdjson",
        handicap="one thread; a Python object for every value",
    ),
]
