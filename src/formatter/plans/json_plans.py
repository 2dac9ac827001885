"""A Json format's columns as the engine's nodes, and projections into nested ones.

In: fields, and names like "user.id" or "items[].price". Out: fields with only what is wanted in them, and plain dicts.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa

from formatter import _core, types
from formatter.errors import OptionError, SchemaError, names_shown
from formatter.filters import columns_of
from formatter.formats import Json
from formatter.formats.binary import length_of
from formatter.formats.json import DUPLICATE_KEYS, RECORDS
from formatter.plans.plan_request import EnginePlan, PlanRequest, filterable
from formatter.variants import STORED, is_variant

# The order is that of JsonKind in engine/json/json_format.hpp.
SCALAR, STRUCTURE, LIST, LARGE_LIST, FIXED_LIST, MAP = range(6)
PREFIXED = len(RECORDS)  # the layout of JsonLayout behind those a Json names itself

# What is wanted of a value: all of it, or some of its members (those of a list's items are the list's).
Wanted = dict[str, "Wanted"] | None


def projected_fields(columns: Sequence[str], schema: pa.Schema) -> list[pa.Field]:
    """The output's fields: whole columns by name, or the parts of nested ones that paths name."""
    if isinstance(columns, str):
        raise OptionError(f"columns: expected a list of names, found {columns!r}; write [{columns!r}]")
    wanted = wanted_columns(columns, schema)
    return [_pruned(schema.field(name), wanted[name]) for name in wanted]


def wanted_columns(columns: Sequence[str], schema: pa.Schema) -> dict[str, Wanted]:
    """What of each column the names and paths ask for."""
    wanted: dict[str, Wanted] = {}
    seen: set[str] = set()
    names = dict.fromkeys(schema.names)
    for path in columns:
        if not isinstance(path, str):
            raise SchemaError(f"columns: expected names, found {path!r}")
        if path in seen:
            raise SchemaError(f"columns: {path!r} stands twice")
        seen.add(path)
        name, rest = longest_name(path, names, path)
        wanted[name] = united(wanted.get(name, {}), selection(schema.field(name).type, rest, path))
    return wanted


def longest_name(text: str, names: Collection[str], path: str) -> tuple[str, str]:
    """Names may hold dots themselves, so the longest one that fits counts. `names`: quick to tell whether it holds one."""
    if text in names:
        return text, ""
    for end in range(len(text) - 1, -1, -1):
        if text[end] in ".[" and text[:end] in names:
            return text[:end], text[end:]
    raise SchemaError(f"columns: no column {path!r}; there is {names_shown(tuple(names), text)}")


def selection(kind: pa.DataType, rest: str, path: str) -> Wanted:
    while rest.startswith("[]"):
        if not is_list(kind):
            raise SchemaError(f"columns: {path!r}: {kind} is no list; leave out the []")
        kind, rest = kind.value_type, rest[2:]
    if not rest:
        return None
    if not rest.startswith("."):
        raise SchemaError(f"columns: {path!r}: expected '.name' or '[]' at {rest!r}")
    if not pa.types.is_struct(kind) or is_variant(kind):
        remedy = "; write [] for a list's items" if is_list(kind) else ""
        raise SchemaError(f"columns: {path!r}: {kind} has no members{remedy}")
    name, rest = longest_name(rest[1:], dict.fromkeys(field.name for field in kind), path)
    return {name: selection(kind.field(name).type, rest, path)}


def united(one: Wanted, other: Wanted) -> Wanted:
    if one is None or other is None:
        return None
    return {name: united(one.get(name, {}), other.get(name, {})) for name in {**one, **other}}


def is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _pruned(field: pa.Field, wanted: Wanted) -> pa.Field:
    if wanted is None:
        return field
    kind = field.type
    if pa.types.is_struct(kind):
        members = [_pruned(member, wanted[member.name]) for member in kind if member.name in wanted]
        return field.with_type(pa.struct(members))
    return field.with_type(_list_of(kind, _pruned(kind.value_field, wanted)))


def _list_of(kind: pa.DataType, item: pa.Field) -> pa.DataType:
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(item, kind.list_size)
    return pa.large_list(item) if pa.types.is_large_list(kind) else pa.list_(item)


def stored(kind: pa.DataType) -> pa.DataType:
    """The type that is decoded, at every level; equal to `kind` for most."""
    if is_variant(kind):
        return STORED
    if pa.types.is_struct(kind):
        return pa.struct([member.with_type(stored(member.type)) for member in kind])
    if is_list(kind):
        return _list_of(kind, kind.value_field.with_type(stored(kind.value_type)))
    if pa.types.is_map(kind):
        item = kind.item_field.with_type(stored(kind.item_type))
        return pa.map_(kind.key_field.with_type(stored(kind.key_type)), item, keys_sorted=kind.keys_sorted)
    return types.storage_type(kind)


def node(field: pa.Field, full: pa.DataType, where: str) -> dict[str, Any]:
    """What json_plans.pxi makes a JsonNodeSpec of. `full`: the type in the schema, `field` holds what is wanted of it."""
    kind = field.type
    described: dict[str, Any] = {"list_size": 0, "children": [], "ignored_keys": []}
    if pa.types.is_struct(kind) and not is_variant(kind):
        if len({member.name for member in full}) != len(list(full)):
            raise SchemaError(f"Json: column {where!r}: two members of one name")
        described["kind"] = STRUCTURE
        described["children"] = [node(m, full.field(m.name).type, f"{where}.{m.name}") for m in kind]
        wanted = {member.name for member in kind}
        described["ignored_keys"] = [member.name.encode() for member in full if member.name not in wanted]
    elif is_list(kind):
        fixed = pa.types.is_fixed_size_list(kind)
        described["kind"] = FIXED_LIST if fixed else LARGE_LIST if pa.types.is_large_list(kind) else LIST
        described["list_size"] = kind.list_size if fixed else 0
        described["children"] = [node(kind.value_field, full.value_type, f"{where}[]")]
    elif pa.types.is_map(kind):
        if pa.types.is_nested(kind.key_type) or pa.types.is_null(kind.key_type):
            raise SchemaError(
                f"Json: column {where!r}: the text of a key is one value, found {kind}; use map<string, ...>"
            )
        described["kind"] = MAP
        described["children"] = [
            node(kind.key_field, full.key_type, f"{where}.key"),
            node(kind.item_field, full.item_type, f"{where}.value"),
        ]
    else:
        scalar = types.column_description(field.with_name(where), owner="Json")
        return {**described, "kind": SCALAR, "scalar": {**scalar, "name": field.name}}
    return {**described, "scalar": {"name": field.name, "nullable": field.nullable, "type_name": str(kind)}}


def json_plan(request: PlanRequest) -> EnginePlan:
    format: Json = request.inner
    full = {field.name: field.type for field in format.schema}
    columns: list[dict[str, Any]] = []
    for field in request.decoded:
        path = [token.encode() for token in format.tokens_of(field.name)]
        columns.append({"node": node(field, full[field.name], field.name), "path": path})
    if format.rescue is not None:  # nothing of that name is looked for in a record
        del full[format.rescue]
    kept = {field.name for field in request.decoded}
    wanted = {tokens[0].encode() for tokens in map(format.tokens_of, kept) if tokens}
    known = {tokens[0].encode() for tokens in map(format.tokens_of, full) if tokens}
    if format.rescue in kept and format.unknown != "error":  # what stands beside an unwanted column may have none
        known = {tokens[0].encode() for tokens in map(format.tokens_of, full) if len(tokens) == 1}
    unwanted = [name for name in full if name not in kept]
    filter_names = columns_of(request.clauses)
    options = request.options(filterable(request.decoded, filter_names), format.rescue) | {
        "layout": PREFIXED if format is not request.format else RECORDS.index(format.layout),
        "array_path": [token.encode() for token in format.array_path],
        "length": length_of(request.format),
        "ignored_keys": sorted(known - wanted),
        "whole_records": format.whole_records,
        "validate_full": format.validate == "full",
        "unknown_is_error": format.unknown == "error",
        "duplicates": DUPLICATE_KEYS.index(format.on_duplicate_key),
        "counts_unmatched": format.unmatched == "counted",
        "unwanted_paths": [[token.encode() for token in format.tokens_of(name)] for name in unwanted],
        "replace_surrogates": format.surrogates == "replace",
        "timestamp_formats": [text.encode() for text in format.timestamp_formats],
    }
    return EnginePlan(_core.json_plan(options, columns), [stored(field.type) for field in request.fields])
