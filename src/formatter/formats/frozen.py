"""What all formats have in common. In: a dataclass of options. Out: how it shows itself, and how it is pickled.

Refuses to know: what an option means.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

import pyarrow as pa

from formatter.parsers.registry import Parser, carried, unpacked

COLUMNS_SHOWN = 20


class FrozenOptions:
    """A frozen dataclass whose first field says what it reads, and whose others are options by keyword."""

    __slots__ = ()

    def _take(self, **values: Any) -> None:
        """Options as they are kept, of what was given; for `__post_init__`."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def asked(self) -> dict[str, Any]:
        """The options that are not what they are by themselves."""
        options: Any = fields(self)[1:]  # type: ignore[arg-type]
        given = {option.name: (getattr(self, option.name), option.default) for option in options}
        return {name: value for name, (value, usual) in given.items() if usual is MISSING or value != usual}

    def __repr__(self) -> str:
        first: Any = fields(self)[0]  # type: ignore[arg-type]
        read = getattr(self, first.name)
        shown = [_columns(read) if isinstance(read, pa.Schema) else repr(read)]
        shown += [f"{name}={value!r}" for name, value in self.asked.items()]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __reduce__(self) -> tuple[Any, ...]:
        schema: pa.Schema | None = getattr(self, "schema", None)
        values = [getattr(self, option.name) for option in fields(self)]  # type: ignore[arg-type]
        return _rebuilt, (type(self), values, () if schema is None else carried(schema))


def _rebuilt(kind: type, values: list[Any], parsers: tuple[Parser, ...]) -> Any:
    unpacked(parsers)
    names = [option.name for option in fields(kind)]
    return kind(values[0], **dict(zip(names[1:], values[1:], strict=True)))


def _columns(schema: pa.Schema) -> str:
    shown = [f"{field.name!r}: {field.type}{'' if field.nullable else ' not null'}" for field in schema]
    more = [f"{len(shown) - COLUMNS_SHOWN} more"] if len(shown) > COLUMNS_SHOWN else []
    return "{" + ", ".join([*shown[:COLUMNS_SHOWN], *more]) + "}"
