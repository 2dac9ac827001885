"""Text in columns of fixed width. In: widths, or where columns begin and end. Out: a declared format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate, pairwise
from typing import Any

import pyarrow as pa

from formatter.errors import OptionError
from formatter.formats import Delimited
from formatter.formats.checks import check_schema


def fixed_width(
    schema: pa.Schema, columns: Iterable[int] | Mapping[str, tuple[int, int | None]], **options: Any
) -> Delimited:
    """Text whose values stand at the same bytes of every line, blanks around them.

    Args:
        schema: The columns.
        columns: How wide each is, in order; or `{"column": (begin, end)}` in bytes from 0, where an end of None is the
            line's.
        options: Of `fm.Delimited`: `nulls`, `comment`, `record_end` and others.

    Returns:
        `fm.Delimited`.

    Raises:
        OptionError: Another number of widths than of columns, or what is no width or place.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> schema = pa.schema([("id", pa.int64()), ("city", pa.string())])
        >>> fm.read(b"  7Oslo  \\n 12Rome  \\n", fm.declared.fixed_width(schema, [3, 6])).to_pylist()
        [{'id': 7, 'city': 'Oslo'}, {'id': 12, 'city': 'Rome'}]
    """
    check_schema(schema, "fixed_width")
    if isinstance(columns, Mapping):
        spans: dict[str, tuple[int, int | None]] = dict(columns)
        if wrong := [span for span in spans.values() if not isinstance(span, tuple | list) or len(span) != 2]:
            raise OptionError(f"fixed_width: columns: expected (begin, end) in bytes, found {wrong[0]!r}")
    else:
        widths = list(columns) if isinstance(columns, Iterable) else [columns]
        if unfit := [width for width in widths if isinstance(width, bool) or not isinstance(width, int) or width < 0]:
            raise OptionError(f"fixed_width: columns: expected widths in bytes, found {unfit[0]!r}")
        if len(widths) != len(schema):
            raise OptionError(f"fixed_width: columns: expected {len(schema)} widths, found {len(widths)}")
        spans = dict(zip(schema.names, pairwise(accumulate(widths, initial=0)), strict=True))
    missing = [name for name in schema.names if name not in spans]
    if missing:
        raise OptionError(f"fixed_width: columns: no place for {', '.join(map(repr, missing))}")
    declared: dict[str, Any] = {"trim": True, "name": "fixed_width"}
    return Delimited(schema, **declared | {"paths": {name: (slice(*spans[name]),) for name in schema.names}} | options)
