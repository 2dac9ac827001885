"""The exception tree. Imports nothing of ours; every error says what, where, expected, found and the remedy."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from typing import Any

NAMES_LIMIT = 20
FOUND_LIMIT = 80  # quoted data in a message is shortened to this many characters


def shorten(raw: bytes | str, limit: int = FOUND_LIMIT) -> str:
    """Data as it may stand in a message: escaped, quoted, cut."""
    quoted = repr(raw if isinstance(raw, str) else _as_text(raw))
    return quoted if len(quoted) <= limit else f"{quoted[: limit - 3]}...{quoted[-1]}"


def _as_text(raw: bytes) -> str | bytes:
    """What is no text stays bytes. The last character may be cut."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        pass
    try:
        codecs.getincrementaldecoder("utf-8")().decode(raw)
    except UnicodeDecodeError:
        return raw
    return raw.decode("utf-8", "backslashreplace")


def shown(value: object, limit: int = FOUND_LIMIT) -> str:
    """An argument as it may stand in a message."""
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def names_shown(names: Sequence[str], asked: object) -> str:
    """Those there are, as a message lists them; where they are many, those like the one asked for come first."""
    if len(names) <= NAMES_LIMIT:
        return ", ".join(map(repr, names))
    from difflib import get_close_matches

    near = get_close_matches(str(asked), names, n=5)
    listed = dict.fromkeys([*near, *names])
    return f"{', '.join(map(repr, [*listed][:NAMES_LIMIT]))} and {len(listed) - NAMES_LIMIT} more"


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


class FormatterError(Exception):
    """Base of all errors of this package.

    Example:
        >>> import formatter as fm
        >>> all(issubclass(kind, fm.FormatterError) for kind in (fm.FormatError, fm.SchemaError, fm.FlowError))
        True
    """


class FormatError(FormatterError, ValueError):
    """The data is not what the format says. Positions count from 0 and are absolute in the stream of their origin.

    Attributes:
        code: What is wrong, in one word: "invalid", "too_few_fields", "unterminated_quote", ...
        origin: The input it came from.
        sequence: The buffer, in a stream.
        byte_offset: Where the field or record begins.
        record: Which record.
        column: Which column.
        expected: What should stand there.
        found: What stands there, shortened.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> try:
        ...     fm.read(b"1\\nx\\n", fm.Csv(pa.schema([("id", pa.int64())])))
        ... except fm.FormatError as error:
        ...     print(error.code, error.record, error.byte_offset, error.column, error.found)
        invalid 1 2 id x
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "invalid",
        origin: int | str | None = None,
        sequence: int | None = None,
        byte_offset: int | None = None,
        record: int | None = None,
        column: str | None = None,
        expected: str | None = None,
        found: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.origin = origin
        self.sequence = sequence
        self.byte_offset = byte_offset
        self.record = record
        self.column = column
        self.expected = expected
        self.found = found

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


def _rebuild(kind: type[FormatError], args: tuple[Any, ...], state: dict[str, Any]) -> FormatError:
    error = kind(*args)
    error.__dict__.update(state)
    return error


class TooManyErrors(FormatError):
    """More records were bad than `max_errors` allows. Its position is that of the first of them.

    Attributes:
        counts: How many records were bad, by code.
        records: How many were read until then.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> try:
        ...     fm.read(b"1\\nx\\ny\\n", fm.Csv(pa.schema([("id", pa.int64())])), on_error="skip", max_errors=1)
        ... except fm.TooManyErrors as error:
        ...     print(error.counts, error.records, error.record)
        {'invalid': 2} 3 1
    """

    def __init__(
        self, message: str, *, counts: dict[str, int] | None = None, records: int = 0, **position: Any
    ) -> None:
        super().__init__(message, **position)
        self.counts = counts or {}
        self.records = records


class SchemaError(FormatterError, ValueError):
    """A schema, column or type that this package cannot use that way.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> try:
        ...     fm.read(b"", fm.Csv(pa.schema([("id", pa.int64())])), columns=["name"])
        ... except fm.SchemaError as error:
        ...     print(error)
        columns: no column 'name'; the schema has 'id'
    """


class OptionError(FormatterError, ValueError):
    """An option outside its range, or options that exclude each other.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> try:
        ...     fm.Csv(pa.schema([("id", pa.int64())]), decimal=";")
        ... except fm.OptionError as error:
        ...     print(error)
        Csv: decimal: expected '.' or ',', found ';'
    """


class _BufferError(FormatterError):
    """About a buffer that was handed in. `not_taken`: which buffers of a push_many were not."""

    def __init__(
        self,
        message: str,
        *,
        sequence: int | None = None,
        origin: int | str | None = None,
        not_taken: tuple[int, ...] = (),
    ) -> None:
        super().__init__(message)
        self.sequence = sequence
        self.origin = origin
        self.not_taken = not_taken


class SequenceError(_BufferError, ValueError):
    """A buffer's sequence is a duplicate, out of range, or missing at the end.

    Attributes:
        sequence: Which one.
        origin: Of which input.
        not_taken: The buffers of a `push_many` that were not taken, by index.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> stream = fm.Stream(fm.Csv(pa.schema([("id", pa.int64())])))
        >>> _ = stream.push(b"1\\n", sequence=1)
        >>> try:
        ...     stream.push(b"2\\n", sequence=1)
        ... except fm.SequenceError as error:
        ...     print(error.sequence)
        1
    """


class BackpressureError(_BufferError, TimeoutError):
    """Waiting for room took too long, or a bound was reached. Nothing is lost: push what was not taken again.

    Attributes:
        sequence: The first buffer that was not taken.
        origin: Of which input.
        not_taken: The buffers of a `push_many` that were not taken, by index.
        rest: Of a table or a reader that was sent over a bridge, what was not taken. None: it was one batch, or no bridge.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> stream = fm.Stream(fm.Csv(pa.schema([("id", pa.int64())])), max_pending_bytes=1)
        >>> try:
        ...     stream.push(b"2\\n3", sequence=2)
        ... except fm.BackpressureError as error:
        ...     print(error.sequence)
        2
    """

    rest: Any = None


class ClosedError(FormatterError, RuntimeError):
    """A stream that takes nothing any more: a call of it ran out of memory, or the process was forked within one.

    Example:
        >>> import formatter as fm
        >>> issubclass(fm.ClosedError, RuntimeError)
        True
    """


class FlowError(FormatterError, ValueError):
    """Barriers, bridges or plans used against their protocol.

    Example:
        >>> import formatter as fm
        >>> aligner = fm.BarrierAligner(["left", "right"])
        >>> try:
        ...     aligner.deliver("middle", fm.Barrier("checkpoint", 1))
        ... except fm.FlowError as error:
        ...     print(error)
        aligner: unknown upstream 'middle'; expected one of left, right
    """
