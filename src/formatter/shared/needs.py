"""What a consumer needs of a schema, and what several need together.

In: names, paths into nested columns, or ALL. Out: needs that unite, compare and print as paths, in schema order.
Refuses to know: who needs it, how it is decoded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from formatter.errors import OptionError, SchemaError
from formatter.formats import Framed, Json
from formatter.plans import Format, projected_names
from formatter.plans.json_plans import Wanted, is_list, united, wanted_columns

# Per column of the schema: all of it (None), or some of its members. A column that is not needed is not in it.
Needs = dict[str, Wanted]


class _All:
    """Every column of the schema, whatever it is: nothing and everything are never written the same way.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> shared = fm.SharedStream(fm.Csv(pa.schema([("id", pa.int64()), ("city", pa.string())])))
        >>> shared.subscribe(fm.ALL).columns
        ('id', 'city')
    """

    def __repr__(self) -> str:
        return "fm.ALL"

    def __reduce__(self) -> str:
        return "ALL"


ALL = _All()


def needs_of(columns: Sequence[str] | _All, schema: pa.Schema, formats: Sequence[Format]) -> Needs:
    """Of a schema's columns, which these formats read: paths into nested ones are for those that can read parts."""
    if isinstance(columns, _All):
        return dict.fromkeys(schema.names)
    if columns is None:
        raise OptionError("subscribe: columns: None could mean all or none; write fm.ALL or []")
    if isinstance(columns, str):
        raise OptionError(f"subscribe: columns: expected a list of names, found {columns!r}; write [{columns!r}]")
    names = list(columns)
    if all(isinstance(format.inner if isinstance(format, Framed) else format, Json) for format in formats):
        return in_order([wanted_columns(names, schema)], schema)
    for name in names:
        if not isinstance(name, str):
            raise SchemaError(f"columns: expected names, found {name!r}")
    return in_order([dict.fromkeys(projected_names(names, schema))], schema)


def in_order(several: Iterable[Needs], schema: pa.Schema) -> Needs:
    """Their union by column index; a nested column of which every member is needed is needed as a whole."""
    union: Needs = {}
    for needs in several:
        for name, wanted in needs.items():
            union[name] = united(union.get(name, {}), wanted)
    nested = {name: _simplest(schema.field(name).type, wanted) for name, wanted in union.items() if wanted is not None}
    return {name: nested.get(name) for name in schema.names if name in union}


def _simplest(kind: pa.DataType, wanted: Wanted) -> Wanted:
    if wanted is None:
        return None
    while is_list(kind):
        kind = kind.value_type
    simple = {member.name: _simplest(member.type, wanted[member.name]) for member in kind if member.name in wanted}
    return None if len(simple) == kind.num_fields and not any(simple.values()) else simple


def paths(needs: Needs, schema: pa.Schema) -> tuple[str, ...]:
    """As they are written: "user.name", "items[].price"."""
    found: list[str] = []
    for name, wanted in needs.items():
        found += [name] if wanted is None else _paths(name, schema.field(name).type, wanted)
    return tuple(found)


def _paths(prefix: str, kind: pa.DataType, wanted: Wanted) -> list[str]:
    if wanted is None:
        return [prefix]
    while is_list(kind):
        prefix, kind = f"{prefix}[]", kind.value_type
    return [path for name in wanted for path in _paths(f"{prefix}.{name}", kind.field(name).type, wanted[name])]


def covers(applied: Wanted, wanted: Wanted) -> bool:
    """Whether what is decoded has all that is wanted."""
    if applied is None:
        return True
    return wanted is not None and all(name in applied and covers(applied[name], wanted[name]) for name in wanted)
