"""Json: frozen options, checked when made. No I/O, no parsing, no native code."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import pyarrow as pa

from formatter.errors import OptionError, SchemaError, names_shown
from formatter.formats.checks import UNMATCHED, check_choices, check_schema, time_patterns_of, with_rescue_column
from formatter.formats.frozen import FrozenOptions
from formatter.mistaken_arguments import named_options
from formatter.variants import is_variant

VALIDATE = ("touched", "full")
DUPLICATE_KEYS = ("last", "first", "error")
UNKNOWN = ("ignore", "error")
SURROGATES = ("error", "replace")
RECORDS = ("lines", "array", "concatenated")  # the order is that of JsonLayout in engine/json_text/json_format.hpp
MOST_PATH_KEYS = 8  # engine/documents/json_wrapper.cpp keeps a bit a key
MOST_KEY_BYTES = 4095  # KeyMatch::most_bytes in engine/documents/json_key_match.hpp

Paths = Mapping[str, str] | Collection[tuple[str, str]]


@named_options
@dataclass(frozen=True, slots=True, repr=False)
class Json(FrozenOptions):
    """JSON objects.

    Args:
        schema: The keys that may be wanted; nested ones as structs, lists and maps.
        paths: Columns that stand elsewhere than under their name: a dict of column to JSON pointer.
        validate: "touched" looks at what is decoded, "full" at every byte of a record.
        on_duplicate_key: Which of two equal keys counts: the "last", the "first", or "error".
        unknown: Whether a key that the schema lacks is to be ignored ("ignore") or an "error".
        records: How objects stand: a line each ("lines"), in one "array", or "concatenated"; or a path to an array of them in
            documents one behind the other: "/Records/*" reads the items of {"Records": [...]}. "/*" is a top-level array.
        surrogates: Whether half a surrogate pair is an "error" or replaced by U+FFFD ("replace").
        timestamp_formats: How times are written, as for `strptime`, beside ISO 8601.
        rescue: Name of a column more, the last: what of a record has no column or does not fit its type, as JSON, or null.
        unmatched: What becomes of records whose bytes show that a filter drops them: they are "checked" like others, or
            only "counted" (docs/needles.md), which is faster.

    Raises:
        OptionError: An option is out of its range.
        SchemaError: A type that no value can have, or a path for a column that is not in the schema.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> format = fm.Json(pa.schema([("id", pa.int64()), ("city", pa.string())]), paths={"city": "/home/city"})
        >>> fm.read(b'{"home": {"city": "Oslo"}, "id": 1}\\n', format).to_pylist()
        [{'id': 1, 'city': 'Oslo'}]
    """

    schema: pa.Schema
    _: KW_ONLY
    paths: Paths = ()
    validate: Literal["touched", "full"] = "touched"
    on_duplicate_key: Literal["last", "first", "error"] = "last"
    unknown: Literal["ignore", "error"] = "ignore"
    records: str = "lines"
    surrogates: Literal["error", "replace"] = "error"
    timestamp_formats: Sequence[str] = ()
    rescue: str | None = None
    unmatched: Literal["checked", "counted"] = "checked"

    kind = "json"

    def __post_init__(self) -> None:
        check_schema(self.schema, "Json", least_columns=0)
        schema = with_rescue_column(self.schema, self.rescue, "Json")
        self._take(
            schema=schema,
            paths=_checked_paths(self.paths, schema),
            records=_checked_records(self.records),
            timestamp_formats=time_patterns_of(self.timestamp_formats, "Json"),
        )
        if self.rescue in dict(self.paths):
            raise SchemaError(f"Json: paths: {self.rescue!r} is the column of what is rescued, which stands nowhere")
        check_choices(
            self,
            validate=VALIDATE,
            on_duplicate_key=DUPLICATE_KEYS,
            unknown=UNKNOWN,
            surrogates=SURROGATES,
            unmatched=UNMATCHED,
        )
        if self.unmatched == "counted" and self.records != "lines":
            raise OptionError(
                f"Json: unmatched: only lines can be counted by their bytes alone, found records={self.records!r}; use "
                "unmatched='checked'"
            )

    @property
    def whole_records(self) -> bool:
        """Whether a record may be any JSON value: all columns are all of it."""
        paths = dict(self.paths)
        return len(self.schema) > 0 and all(
            is_variant(field.type) and paths.get(field.name) == "" for field in self.schema
        )

    @property
    def layout(self) -> str:
        """How records stand to the engine: one of RECORDS."""
        return "array" if self.explodes else self.records

    @property
    def explodes(self) -> bool:
        """Whether `records` is a path: a document holds several records."""
        return self.records.startswith("/")

    @property
    def array_path(self) -> tuple[str, ...]:
        """The keys that lead to the array of records in a document."""
        return _tokens(self.records)[:-1] if self.explodes else ()

    def tokens_of(self, column: str) -> tuple[str, ...]:
        """Where `column` stands in a record: the unescaped tokens of its pointer."""
        pointer = dict(self.paths).get(column)
        return (column,) if pointer is None else _tokens(pointer)


def _tokens(pointer: str) -> tuple[str, ...]:
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:])


def _checked_records(records: Any) -> str:
    if not isinstance(records, str) or (records not in RECORDS and not records.startswith("/")):
        raise OptionError(
            f"Json: records: expected one of {', '.join(RECORDS)}, or a path to an array like '/Records/*', found {records!r}"
        )
    if records in RECORDS:
        return records
    keys = _tokens(records)
    if keys[-1] != "*" or re.search("~(?![01])", records):
        raise OptionError(
            f"Json: records: expected a path that ends in '/*', with '~0' for '~' and '~1' for '/' in its keys, found {records!r}"
        )
    if len(keys) - 1 > MOST_PATH_KEYS or any(len(key.encode()) > MOST_KEY_BYTES for key in keys):
        raise OptionError(
            f"Json: records: expected at most {MOST_PATH_KEYS} keys of {MOST_KEY_BYTES:,} bytes, found {records!r:.200}"
        )
    return records


def _checked_paths(paths: Paths, schema: pa.Schema) -> tuple[tuple[str, str], ...]:
    try:
        pairs = dict(paths)
    except (TypeError, ValueError):
        raise OptionError(f"Json: paths: expected a dict of column to JSON pointer, found {paths!r}") from None
    for column, pointer in pairs.items():
        if not isinstance(column, str) or schema.get_field_index(column) < 0:
            raise SchemaError(f"Json: paths: no column {column!r}; the schema has {names_shown(schema.names, column)}")
        if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
            raise OptionError(f"Json: paths: {column!r}: expected a JSON pointer like '/user/id', found {pointer!r}")
        if re.search("~(?![01])", pointer):
            raise OptionError(
                f"Json: paths: {column!r}: expected '~0' for '~' and '~1' for '/' in a JSON pointer, found {pointer!r}"
            )
    return tuple(sorted(pairs.items()))
