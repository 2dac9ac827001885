"""Formats of one's own in code: who finds their records, by name, and a schema over them. Frozen, checked when made. No I/O, no
parsing, no native code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import pyarrow as pa

from formatter.errors import OptionError
from formatter.formats.checks import as_bytes, check_schema, spellings_of
from formatter.formats.csv import Csv
from formatter.formats.frozen import FrozenOptions
from formatter.mistaken_arguments import named_options

MAX_RECORD_END_BYTES = 8


@dataclass(frozen=True)
class RegisteredIndexer:
    """What `fm.register_format` was given."""

    name: str
    indexer: Any = field(repr=False)  # what a checkpoint says of a format must be the same in the next process
    record_end: bytes  # empty: `scan`, or the native indexer, finds record ends
    scan: Callable[[Any, int], Any] | None = field(repr=False)

    def capsule(self) -> object:
        """Of a native indexer; None: it is in Python."""
        made = getattr(self.indexer, "__formatter_indexer__", None)
        return None if made is None else made()


_registered: dict[str, RegisteredIndexer] = {}


def register_format(
    name: str,
    indexer: Any,
    *,
    record_end: str | bytes | None = "\n",
    scan: Callable[[Any, int], Any] | None = None,
) -> None:
    """Makes a format of one's own: code that finds records and fields. `fm.Registered` reads with it, Spark by its name.

    Args:
        name: What the format is called. A name that is taken is taken over, for formats made from then on.
        indexer: Takes bytes that begin at a record, as a `numpy.ndarray` of uint8, and an integer array of positions: those of
            the fields wanted. With `record_end` the bytes are whole records, one or more. Returns (ends, begins, stops),
            integer arrays: the position behind each whole record of the bytes, and where its wanted fields begin and end, a
            row a record; a begin of -1 is a field that the record lacks. A fourth array may give each record's kind: 0, or 1
            for what is no record, or 2 for one that cannot be read. It is called by any thread and depends on nothing but
            what it is given. Or an object with a method `__formatter_indexer__`, for one in C (`fm.get_include`).
        record_end: What ends records wherever it stands: then buffers and parts of files are read in any order if it is one
            byte. None: `scan` says where records end, and an input is followed in order.
        scan: Takes bytes, which may begin anywhere, and the state they begin in, 0 where a record does. Returns (ends, state):
            the positions behind the record ends in the bytes, and the state at their end, below 2**64.

    Returns:
        Nothing.

    Raises:
        OptionError: A name that is none, what cannot be called, or a `record_end` of no or more than eight bytes, or one that
            ends as it begins.

    Example:
        >>> import formatter as fm, numpy as np, pyarrow as pa
        >>> def words(data, fields):
        ...     cuts = np.flatnonzero((data == ord(" ")) | (data == ord("\\n"))).reshape(-1, 2)
        ...     begins = np.concatenate([[0], cuts.ravel()[:-1] + 1]).reshape(-1, 2)
        ...     return cuts[:, 1] + 1, begins[:, fields], cuts[:, fields]
        >>> fm.register_format("two words", words)
        >>> format = fm.Registered(pa.schema([("name", pa.string()), ("n", pa.int64())]), "two words")
        >>> fm.read(b"one 1\\ntwo 2\\n", format).to_pylist()
        [{'name': 'one', 'n': 1}, {'name': 'two', 'n': 2}]
    """
    if not isinstance(name, str) or not name or name in ("csv", "json"):
        raise OptionError(f"register_format: name: expected a name that is none of ours, found {name!r}")
    if not callable(indexer) and not hasattr(indexer, "__formatter_indexer__"):
        raise OptionError(f"register_format: indexer: expected a function of bytes and fields, found {indexer!r}")
    ending = b"" if record_end is None else as_bytes(record_end, "record_end", owner="register_format")
    if record_end is not None and not 1 <= len(ending) <= MAX_RECORD_END_BYTES:
        raise OptionError(f"register_format: record_end: expected 1 to {MAX_RECORD_END_BYTES} bytes, found {ending!r}")
    if any(ending[:n] == ending[-n:] for n in range(1, len(ending))):
        raise OptionError(f"register_format: record_end: expected one that does not end as it begins, found {ending!r}")
    if ending and scan is not None:
        raise OptionError("register_format: scan: record_end says where records end already; give record_end=None")
    if not ending and scan is None and callable(indexer):
        raise OptionError("register_format: scan: expected a function of bytes and state where record_end is None")
    if scan is not None and not callable(scan):
        raise OptionError(f"register_format: scan: expected a function of bytes and state, found {scan!r}")
    _registered[name] = RegisteredIndexer(name, indexer, ending, scan)


def is_registered(name: str) -> bool:
    return name in _registered


def registered_indexers() -> dict[str, RegisteredIndexer]:
    """All of them, for a process that is to know them, too."""
    return dict(_registered)


def know_indexer(indexer: RegisteredIndexer) -> None:
    """One of another process, where its name is not taken here."""
    _registered.setdefault(indexer.name, indexer)


@named_options
@dataclass(frozen=True, slots=True, repr=False)
class Registered(FrozenOptions):
    """Records that code of one's own finds: `fm.register_format`.

    Args:
        schema: The columns: the first is a record's field 0, the next its field 1, and so on.
        indexer: The name it is registered by.
        nulls: What null is written as. A field that a record lacks is null in any case.
        true_values: What true is written as.
        false_values: What false is written as.
        decimal: The decimal point: "." or ",".
        timestamp_formats: How times are written, as for `strptime`, beside ISO 8601.

    Raises:
        OptionError: Nothing is registered by that name, or an option is out of its range.
        SchemaError: A type that no field can have.

    Example:
        >>> import formatter as fm, numpy as np, pyarrow as pa
        >>> def lines(data, fields):
        ...     stops = np.flatnonzero(data == ord("\\n"))
        ...     begins = np.concatenate([[0], stops + 1])[:-1]
        ...     return stops + 1, np.stack([begins] * len(fields), 1), np.stack([stops] * len(fields), 1)
        >>> fm.register_format("lines", lines)
        >>> fm.read(b"one, two\\n3\\n", fm.Registered(pa.schema([("line", pa.string())]), "lines")).to_pylist()
        [{'line': 'one, two'}, {'line': '3'}]
    """

    schema: pa.Schema
    indexer: str | RegisteredIndexer
    _: KW_ONLY
    nulls: Sequence[str] = ("",)
    true_values: Sequence[str] = ("true", "1")
    false_values: Sequence[str] = ("false", "0")
    decimal: str = "."
    timestamp_formats: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_schema(self.schema, "Registered")
        found = _registered.get(self.indexer) if isinstance(self.indexer, str) else self.indexer
        if not isinstance(found, RegisteredIndexer):
            known = ", ".join(map(repr, sorted(_registered))) or "none"
            raise OptionError(
                f"Registered: indexer: nothing is registered by the name {self.indexer!r}; there is {known}; "
                "fm.register_format makes one"
            )
        know_indexer(found)
        self._take(indexer=found, **spellings_of(self))

    @property
    def registered(self) -> RegisteredIndexer:
        """What is registered by the indexer's name."""
        assert isinstance(self.indexer, RegisteredIndexer)
        return self.indexer

    @property
    def kind(self) -> str:
        """What errors call the format."""
        return self.registered.name

    @property
    def record_end(self) -> bytes:
        """What ends records; empty: the indexer says where they end."""
        return self.registered.record_end

    @property
    def values_as(self) -> Csv:
        """The Csv by which values are read: nothing but records and spellings is left of its dialect."""
        ending = self.record_end or b"\n"
        return Csv(
            self.schema, delimiter="\x1f" if ending != b"\x1f" else "\x1e", record_delimiter=ending, quote=None,
            nulls=self.nulls, true_values=self.true_values, false_values=self.false_values, decimal=self.decimal,
            timestamp_formats=self.timestamp_formats,
        )  # fmt: skip
