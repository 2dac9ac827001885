"""The exception tree. Imports nothing of ours; every error says what, where, expected, found and the remedy."""

from __future__ import annotations

from typing import Any

FOUND_LIMIT = 80  # quoted data in a message is shortened to this many characters


def shorten(raw: bytes | str, limit: int = FOUND_LIMIT) -> str:
    """Data as it may stand in a message: escaped, quoted, cut."""
    text = raw.decode("utf-8", "backslashreplace") if isinstance(raw, bytes) else raw
    quoted = repr(text)
    return quoted if len(quoted) <= limit else f"{quoted[: limit - 3]}...'"


def shown(value: object, limit: int = FOUND_LIMIT) -> str:
    """An argument as it may stand in a message."""
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


class FormatterError(Exception):
    """Base of all errors of this package."""


class FormatError(FormatterError, ValueError):
    """The data is not what the format says. Positions count from 0 and are absolute in the stream of their origin."""

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


class SchemaError(FormatterError, ValueError):
    """A schema, column or type that this package cannot use that way."""


class OptionError(FormatterError, ValueError):
    """An option outside its range, or options that exclude each other."""


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
    """A buffer's sequence is a duplicate or out of range."""


class BackpressureError(_BufferError, TimeoutError):
    """Waiting for room took too long, or a bound was reached; push the buffers of `not_taken` again."""


class ClosedError(FormatterError, RuntimeError):
    """A stream that takes nothing any more: a call of it ran out of memory, or the process was forked within one."""


class FlowError(FormatterError, ValueError):
    """Barriers, bridges or plans used against their protocol."""
