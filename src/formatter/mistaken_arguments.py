"""What somebody likely meant by an argument that is none of ours. In: names and values as they were given. Out: what to write
instead, in words; functions and classes whose refusals say it.

Refuses to know: what an option means.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

# By ours: what pandas, pyarrow, polars, DuckDB, Spark and Python's csv module call it, in small letters and without underscores.
ELSEWHERE = {
    "delimiter": "sep separator delim",
    "record_delimiter": "lineterminator lineending linesep eolchar newline",
    "quote": "quotechar",
    "quotes": "quoting",
    "escape": "escapechar",
    "comment": "commentprefix commentchar",
    "header": "hasheader",
    "skip_lines": "skip skiprows",
    "skip_records": "skiprowsafternames skiprowsafterheader",
    "skip_footer": "skipfooter",
    "nulls": "null nullstr nullstrings nullvalue nullvalues navalues",
    "quoted_nulls": "allowquotednulls quotedstringscanbenull",
    "decimal": "decimalcomma decimalpoint decimalseparator",
    "timestamp_formats": "dateformat timeformat timestampformat timestampparsers",
    "trim": "skipinitialspace ignoreleadingwhitespace ignoretrailingwhitespace strip",
    "ragged": "nullpadding truncateraggedlines",
    "encoding": "charset fileencoding",
    "newlines_in_quotes": "multiline newlinesinvalues",
    "records": "lines",
    "unknown": "unexpectedfieldbehavior",
    "endian": "byteorder endianness",
    "schema": "columntypes dtype dtypes names",
    "columns": "includecolumns projection select usecols",
    "filters": "predicate where",
    "threads": "nthreads numthreads usethreads",
    "codec": "compression",
    "on_error": "badlines ignoreerrors mode onbadlines",
    "rejects": "storerejects",
    "max_errors": "rejectslimit",
    "batch": "batchsize blocksize chunksize",
    "max_rows": "batchsize chunksize rows",
    "rows": "inferschemalength samplesize",
    "levels": "delimiter delimiters sep separator separators",
    "separator": "delimiter sep",
}

Taker = TypeVar("Taker", bound=Callable[..., Any])

_takers: dict[str, tuple[str, ...]] = {}  # by public name: what each takes by keyword


def named_options(taker: Taker) -> Taker:
    """The same function or class, whose refusal of an argument by another name says what that is called here."""
    function: Any = taker.__init__ if isinstance(taker, type) else taker  # type: ignore[misc]
    taken = inspect.signature(function).parameters
    names = tuple(name for name in taken if name != "self")
    _takers[taker.__name__] = names
    known = frozenset(names)

    @functools.wraps(function)
    def checked(*values: Any, **options: Any) -> Any:
        if not known.issuperset(options):
            unknown = next(name for name in options if name not in known)
            raise TypeError(
                f"{taker.__name__}() got an unexpected keyword argument {unknown!r}; {_instead_of(unknown, names)}"
            )
        return function(*values, **options)

    if isinstance(taker, type):
        taker.__init__ = checked  # type: ignore[misc]
        taker.__signature__ = inspect.Signature(list(taken.values())[1:])  # type: ignore[attr-defined]
        return taker
    return checked  # type: ignore[return-value]


def called_here(unknown: str, names: tuple[str, ...]) -> str | None:
    """Which of our names somebody means who says that one."""
    from difflib import get_close_matches

    if meant := next((name for name in names if said_elsewhere(unknown, name)), None):
        return meant
    plain = {name.replace("_", ""): name for name in names}
    near = get_close_matches(unknown.lower().replace("_", ""), plain, n=1, cutoff=0.75)
    return plain[near[0]] if near else None


def said_elsewhere(unknown: str, name: str) -> bool:
    return unknown.lower().replace("_", "") in ELSEWHERE.get(name, "").split()


def _instead_of(unknown: str, names: tuple[str, ...]) -> str:
    if meant := called_here(unknown, names):
        return f"it is called {meant!r} here"
    import formatter

    for name in formatter.__all__:  # all that take options have come then
        getattr(formatter, name)
    for meant in (unknown, *(name for name in ELSEWHERE if said_elsewhere(unknown, name))):
        if owners := sorted(f"fm.{owner}" for owner, taken in _takers.items() if meant in taken):
            return f"it is {meant!r} of {', '.join(owners)}"
    return f"there is {', '.join(names)}"


def kind_of(value: object) -> str:
    """What was found in place of something else, in a word or two."""
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def instead_of_format(value: object) -> str:
    """What to write where a format was expected."""
    if isinstance(value, type) and value.__module__.startswith("formatter.formats"):
        return f"make one of a schema: fm.{value.__name__}(schema)"
    if type(value).__name__ == "Schema":
        return "say how its fields are written: fm.Csv(schema), fm.Json(schema), ..."
    return "make one of a schema, as fm.Csv(schema), or let fm.infer(source) propose one"
