"""Delimited: a format that is declared. Frozen, checked when made. No I/O, no parsing, no native code."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import pyarrow as pa

from formatter.errors import OptionError, SchemaError, names_shown
from formatter.formats.checks import as_bytes, check_flags, check_schema, spellings_of
from formatter.formats.csv import Csv
from formatter.formats.frozen import FrozenOptions
from formatter.mistaken_arguments import named_options

MAX_SEPARATOR_BYTES = 8
MAX_LEVELS = 5
MOST = 1 << 31  # a position, an occurrence or a byte of a path is smaller
MAX_DISTINCT_BYTES = 16  # those that separators, marks and escapes begin with: ByteSet::most in kernels/kernel.hpp

Step = str | int | tuple[str, int] | slice
Path = str | tuple[Step, ...]


@named_options
@dataclass(frozen=True, slots=True, repr=False)
class Level(FrozenOptions):
    """How a record, or a part of one, is cut into parts.

    Args:
        separator: What stands between parts: one to eight bytes.
        key: What ends the key that each part begins with: one to eight bytes. None: parts are known by their position.
        collapse: Whether separators in a row count as one, and those at the ends as none.
        marks: Whether the format's marks hide this level's separators. False: here they are text like any other.

    Raises:
        OptionError: A separator of no bytes or too many.

    Example:
        >>> import formatter as fm
        >>> fm.Level(" ", key="=").key
        b'='
    """

    separator: str | bytes
    _: KW_ONLY
    key: str | bytes | None = None
    collapse: bool = False
    marks: bool = True

    def __post_init__(self) -> None:
        self._take(
            separator=_separator(self.separator, "Level: separator"),
            key=None if self.key is None else _separator(self.key, "Level: key"),
            collapse=bool(self.collapse),
            marks=bool(self.marks),
        )


@named_options
@dataclass(frozen=True, slots=True, repr=False)
class Delimited(FrozenOptions):
    """Text that is cut by levels of separators; keys, byte ranges and enclosing marks where it has them.

    Args:
        schema: The columns. Fields of a record that no column asks for need no mention.
        record_end: What ends records, wherever it stands: one to eight bytes; "\\n" takes "\\r\\n", too.
        record_start: What each record begins with. Its values begin behind it.
        levels: How records are cut into parts, these into smaller ones, and so on: up to five `fm.Level`.
        paths: Where a column's value stands: `{"column": path}`. A path is a step a level, as a tuple or, joined by dots,
            as a str: a key, or `key[1]` for its second time (`("key", 1)` in a tuple); or a position from 0, or `7+` for
            everything from position 7 on. Last may come bytes of what was found, `0:8` (a `slice` in a tuple). `()` is
            the record. A column without a path has its name as key, or its place in the schema as position.
        marks: Pairs of marks, as `'""'` or `"[]"`: between them nothing separates. They open where a value may begin.
        kept_marks: Those of `marks` that belong to the value, which is then kept as it is written.
        escapes: `{written: meant}`: what is content wherever it stands, inside marks and outside.
        bare_escapes: Whether they count outside of marks, too. False: what stands there is what is written.
        comment: Records that begin with this are none.
        trim: Whether blanks around keys and values are dropped.
        nulls: What null is written as. What is missing is null in any case.
        true_values: What true is written as.
        false_values: What false is written as.
        decimal: The decimal point: "." or ",".
        timestamp_formats: How times are written, as for `strptime`, beside ISO 8601.
        name: What errors call the format.

    Raises:
        OptionError: An option is out of its range, or a path does not fit the levels.
        SchemaError: A type that no field can have, or a path of no column.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> schema = pa.schema([("level", pa.string()), ("ms", pa.int64())])
        >>> format = fm.Delimited(schema, levels=[fm.Level(" ", key="=")], marks=['""'])
        >>> fm.read(b'level=info msg="a b" ms=12\\nlevel=warn\\n', format).to_pylist()
        [{'level': 'info', 'ms': 12}, {'level': 'warn', 'ms': None}]
    """

    schema: pa.Schema
    _: KW_ONLY
    record_end: str | bytes = b"\n"
    record_start: str | bytes = b""
    levels: Sequence[Level] = ()
    paths: Mapping[str, Path] | tuple[tuple[str, Path], ...] = ()
    marks: Collection[str | bytes] = ()
    kept_marks: Collection[str | bytes] = ()
    escapes: Mapping[Any, str | bytes] | tuple[tuple[Any, str | bytes], ...] = ()
    bare_escapes: bool = True
    comment: str | bytes = b""
    trim: bool = False
    nulls: Sequence[str] = ("",)
    true_values: Sequence[str] = ("true", "1")
    false_values: Sequence[str] = ("false", "0")
    decimal: str = "."
    timestamp_formats: Sequence[str] = ()
    name: str = "delimited"

    def __post_init__(self) -> None:
        check_schema(self.schema, "Delimited")
        written = [tuple(_bytes_of(each, "escapes") for each in pair) for pair in _pairs(self.escapes, "escapes")]
        self._take(
            record_end=_separator(self.record_end, "Delimited: record_end"),
            record_start=_bytes_of(self.record_start, "record_start"),
            levels=_levels(self.levels),
            paths=tuple(sorted(_pairs(self.paths, "paths"), key=lambda pair: str(pair[0]))),
            marks=tuple(_bytes_of(mark, "marks") for mark in self.marks),
            kept_marks=tuple(_bytes_of(mark, "kept_marks") for mark in self.kept_marks),
            escapes=tuple(sorted(written, key=lambda pair: (-len(pair[0]), pair[0]))),
            comment=_bytes_of(self.comment, "comment"),
            **spellings_of(self),
        )
        check_flags(self, "trim", "bare_escapes")
        self._check()

    @property
    def kind(self) -> str:
        """What errors call the format."""
        return self.name

    @property
    def values_as(self) -> Csv:
        """The Csv by which values are read: nothing but records and spellings is left of its dialect."""
        return Csv(
            self.schema,
            delimiter="\x1f" if self.record_end != b"\x1f" else "\x1e",
            record_delimiter=self.record_end,
            quote=None,
            nulls=self.nulls,
            true_values=self.true_values,
            false_values=self.false_values,
            decimal=self.decimal,
            timestamp_formats=self.timestamp_formats,
        )

    def steps_of(self, column: str) -> tuple[list[tuple[bytes, int, bool]], tuple[int, int | None]]:
        """Where `column` stands in a record: (key, position or occurrence, whether to the end) a level, and which bytes."""
        path = dict(self.paths).get(column)
        if path is None and not self.levels:
            raise OptionError(f"Delimited: paths: {column!r} has none, and there are no levels to find it by")
        if path is None:
            path = (column,) if self.levels[0].key else (self.schema.get_field_index(column),)
        return _steps(path, self.levels, column)

    def _check(self) -> None:
        for column in dict(self.paths):
            if not isinstance(column, str) or self.schema.get_field_index(column) < 0:
                raise SchemaError(
                    f"Delimited: paths: no column {column!r}; the schema has {names_shown(self.schema.names, column)}"
                )
        for column in self.schema.names:
            self.steps_of(column)
        for mark in (*self.marks, *self.kept_marks):
            if len(mark) != 2:
                raise OptionError(f"Delimited: marks: expected an opening and a closing byte, found {mark!r}")
        if not set(self.kept_marks) <= set(self.marks):
            raise OptionError(f"Delimited: kept_marks: expected some of marks, found {self.kept_marks!r}")
        opening = [mark[0] for mark in self.marks]
        if len(set(opening)) != len(opening):
            raise OptionError(f"Delimited: marks: two begin alike: {self.marks!r}")
        for written, meant in self.escapes:
            if not written or len(meant) > len(written):
                raise OptionError(f"Delimited: escapes: expected no more bytes meant than written, found {written!r}")
        begins = {
            self.record_end[0],
            *(written[0] for written, _ in self.escapes),
            *b"".join(_bytes_of(mark, "marks") for mark in self.marks),
        }
        begins |= {part[0] for level in self.levels for part in (level.separator, level.key) if part}
        if len(begins) > MAX_DISTINCT_BYTES:
            raise OptionError(
                f"Delimited: separators, marks and escapes begin with {len(begins)} different bytes; "
                f"at most {MAX_DISTINCT_BYTES} can be looked for"
            )

    def __hash__(self) -> int:
        return hash((self.schema, self.record_end, self.levels, repr(self.paths), self.marks, self.escapes, self.nulls))


def _levels(levels: Any) -> tuple[Level, ...]:
    listed: list[Any] = (
        [levels] if isinstance(levels, str | bytes | Level) or not isinstance(levels, Iterable) else [*levels]
    )
    if isinstance(levels, str | bytes | Level) or any(isinstance(each, str | bytes) for each in listed):
        written = ", ".join(f"fm.{each!r}" if isinstance(each, Level) else f"fm.Level({each!r})" for each in listed)
        raise OptionError(f"Delimited: levels: expected several fm.Level, found {levels!r}; write [{written}]")
    if len(listed) > MAX_LEVELS or not all(isinstance(each, Level) for each in listed):
        raise OptionError(f"Delimited: levels: expected up to {MAX_LEVELS} fm.Level, found {levels!r}")
    return tuple(listed)


def _separator(value: str | bytes, owner: str) -> bytes:
    separator = as_bytes(value, owner.split(": ")[1], owner=owner.split(": ")[0])
    if not 1 <= len(separator) <= MAX_SEPARATOR_BYTES:
        raise OptionError(f"{owner}: expected 1 to {MAX_SEPARATOR_BYTES} bytes, found {separator!r}")
    return separator


def _bytes_of(value: Any, name: str) -> bytes:
    return as_bytes(value, name, owner="Delimited")


def _pairs(value: Any, name: str) -> list[tuple[Any, Any]]:
    try:
        return list(dict(value).items())
    except (TypeError, ValueError):
        raise OptionError(f"Delimited: {name}: expected a dict, found {value!r}") from None


_OCCURRENCE = re.compile(r"(.+)\[(\d+)\]")
_RANGE = re.compile(r"(\d*):(\d*)")


def _split_path(path: str, levels: Sequence[Level]) -> tuple[Step, ...]:
    """The steps that a path's text names. Where there is one level with keys, all of it is the key."""
    whole = not path or (len(levels) == 1 and levels[0].key)
    texts = [path] * bool(path) if whole else path.split(".")
    steps: list[Step] = []
    for number, text in enumerate(texts):
        occurrence, span = _OCCURRENCE.fullmatch(text), _RANGE.fullmatch(text)
        if number < len(levels) and levels[number].key:
            steps.append((occurrence[1], int(occurrence[2])) if occurrence else text)
        elif span:
            steps.append(slice(int(span[1] or 0), int(span[2]) if span[2] else None))
        else:
            steps.append(int(text) if text.isdecimal() else text)
    return tuple(steps)


def _steps(
    path: Path, levels: Sequence[Level], column: str
) -> tuple[list[tuple[bytes, int, bool]], tuple[int, int | None]]:
    wrong = OptionError(
        f"Delimited: paths: {column!r}: {path!r} does not fit {len(levels)} levels; see docs/delimited.md"
    )
    if not isinstance(path, str | tuple | list):
        raise OptionError(
            f"Delimited: paths: {column!r}: expected a str, or a tuple of a step a level, found {path!r}; write ({path!r},)"
        )
    taken: list[Any] = list(_split_path(path, levels) if isinstance(path, str) else path)
    span: tuple[int, int | None] = (0, None)
    if taken and isinstance(taken[-1], slice):
        last = taken.pop()
        span = (0 if last.start is None else last.start, last.stop)
        if last.step is not None or not _is_count(span[0]) or not (span[1] is None or _is_count(span[1], span[0])):
            raise wrong
    if len(taken) > len(levels):
        raise wrong
    steps = []
    for number, (step, level) in enumerate(zip(taken, levels[: len(taken)], strict=True)):
        if level.key:
            key, occurrence = step if isinstance(step, tuple) and len(step) == 2 else (step, 0)
            if not isinstance(key, str) or not key or not _is_count(occurrence):
                raise wrong
            steps.append((key.encode(), occurrence, False))
        elif isinstance(step, str) and re.fullmatch(r"[0-9]+\+", step) and number == len(taken) - 1:
            steps.append((b"", int(step[:-1]), True))
        else:
            steps.append((b"", step, False))
        if not _is_count(steps[-1][1]):
            raise wrong
    return steps, span


def _is_count(value: Any, least: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < MOST
