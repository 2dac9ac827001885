"""The front door for raw buffers: any order, any thread, each record exactly once.

Policy and words live here; which record is whose is decided in the engine (see ARCHITECTURE.md, "Shredding").
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pyarrow as pa

from formatter import _core, checkpoints, diagnostics
from formatter.batch import Batch, NullColumns
from formatter.buffer_arguments import (
    Numbers,
    Origin,
    as_arrow,
    checked_sequence,
    checked_sequences,
    refusal,
)
from formatter.buffers import addresses_of
from formatter.checkpoints import CheckpointError
from formatter.errors import FormatError, OptionError
from formatter.filters import Clause, Filters, normalized
from formatter.flow.policy import BatchPolicy
from formatter.formats.csv import check_byte_order, check_unbounded
from formatter.parsers.registry import raise_what_parsers_raised
from formatter.plans import Format, make_plan

MAX_RECORD_BYTES = 64 << 20
MAX_PENDING_BYTES = 1 << 30
_NAMED_ORIGIN = 1 << 63  # native ids from here on stand for origins that are no small whole numbers


@dataclass(frozen=True, slots=True)
class StreamStats:
    """Counts since the start.

    Attributes:
        buffers: Taken.
        bytes: Of them.
        records: Rows, rejects and filtered.
        rows: Of the batches.
        spanning: Records that begin in one buffer and end in a later one.
        rejects: Records that were wrong.
        filtered: Records that the filters dropped.
        nulled: Values that were made null (on_error="null").
        duplicates: Buffers that came again (on_duplicate="ignore").
        lost: Buffers that will never come.
        pending_buffers: Kept, because something in front of them is missing.
        pending_bytes: Of them.
        origins: Known.
        open_batches: That have rows and have not left.
        kernel: What parses.
        values_decoded: Per column, what was really parsed.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> stream = fm.Stream(fm.Csv(pa.schema([("id", pa.int64()), ("text", pa.string())])), columns=["id"])
        >>> _ = stream.push(b"1,a\\n2,b", sequence=1), stream.finish()
        >>> stream.stats.rows, stream.stats.values_decoded
        (2, {'id': 2})
    """

    buffers: int
    bytes: int
    records: int
    rows: int
    spanning: int
    rejects: int
    filtered: int
    nulled: int
    duplicates: int
    lost: int
    pending_buffers: int
    pending_bytes: int
    origins: int
    open_batches: int
    kernel: str
    values_decoded: dict[str, int] = field(default_factory=dict)


class Stream:
    """Turns the buffers of any number of origins into batches: in any order, each record once, whatever the cuts.

    Every method may be called from any thread.

    Args:
        format: How the buffers are written.
        columns: Names of the columns wanted; only these are parsed. None: all of the schema.
        filters: Rows to keep, as for `fm.read`.
        on_error: What a bad value or record does, as for `fm.read`; "collect" keeps them for `rejects()`.
        ordered: Whether batches leave in the order of their sequences, origin by origin.
        layout: "projected": batches have the columns wanted; "positional": the full schema, others null.
        batch: When rows leave as a batch. None: `fm.BatchPolicy()`.
        max_record_bytes: No record may be larger.
        max_pending_bytes: Buffers that wait for others may take no more; beyond, `push` raises.
        on_duplicate: A sequence that comes again: "raise", or "ignore" it.
        max_sequence: The number after which sequences begin again at 1. None: they never do.

    Raises:
        OptionError: An option is out of its range.
        SchemaError: A column that the schema does not have, or a type that cannot be used that way.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> stream = fm.Stream(fm.Csv(pa.schema([("id", pa.int64()), ("city", pa.string())])))
        >>> batches = stream.push(b"slo\\n2,Rome\\n", sequence=2)  # came first
        >>> batches += stream.push(b"1,O", sequence=1)
        >>> batches += stream.finish()
        >>> sorted(city for batch in batches for city in batch.column("city").to_pylist())
        ['Oslo', 'Rome']
    """

    def __init__(
        self,
        format: Format,
        *,
        columns: Sequence[str] | None = None,
        filters: Filters = None,
        on_error: str = "raise",
        ordered: bool = False,
        layout: str = "projected",
        batch: BatchPolicy | None = None,
        max_record_bytes: int = MAX_RECORD_BYTES,
        max_pending_bytes: int = MAX_PENDING_BYTES,
        on_duplicate: str = "raise",
        max_sequence: int | None = None,
    ) -> None:
        policy = batch if batch is not None else BatchPolicy()
        self._options: dict[str, Any] = {
            "columns": None if columns is None else list(columns),
            "filters": normalized(filters),
            "on_error": on_error,
            "ordered": ordered,
            "layout": layout,
            "max_record_bytes": max_record_bytes,
            "max_pending_bytes": max_pending_bytes,
            "on_duplicate": on_duplicate,
            "max_sequence": max_sequence,
            "batch": {
                "max_rows": policy.max_rows,
                "max_bytes": policy.max_bytes,
                "max_latency_ms": policy.max_latency_ms,
                "flush_on_watermark": policy.flush_on_watermark,
            },
        }
        _check_options(self._options, policy)
        check_byte_order(format, "Stream")
        check_unbounded(format, "Stream")
        self._plan = make_plan(format, columns=columns, filters_wanted=self._options["filters"], on_error=on_error)
        self._nulls = NullColumns()
        self._positional = layout == "positional"
        self._native = self._native_stream(policy)
        self._lock = threading.Lock()
        self._names: dict[Origin, int] = {}  # origins that are no small whole numbers, and their native ids
        self._origins: dict[int, Origin] = {}
        self._undelivered: list[Batch] = []  # finished in a call that raised, or restored
        self._rejects: list[tuple[FormatError, bytes]] = []

    def _native_stream(self, policy: BatchPolicy) -> _core.NativeStream:
        return _core.NativeStream(self._plan.native, **native_options(self._options, policy))

    # -------------------------------------------------------------------------------------------------- properties

    @property
    def format(self) -> Format:
        """How the buffers are written."""
        return self._plan.format

    @property
    def schema(self) -> pa.Schema:
        """Of the batches' data."""
        if not self._positional:
            return self._plan.schema
        empty = pa.RecordBatch.from_pylist([], schema=self._plan.schema)
        return self._nulls.positional(empty, self.format.schema).schema

    @property
    def stats(self) -> StreamStats:
        """Counts since the start."""
        return StreamStats(kernel=_core.active_kernel(), **self._native.counts())

    # ------------------------------------------------------------------------------------------------------ buffers

    def push(self, buffer: Any, *, sequence: int, origin: Origin = 0) -> list[Batch]:
        """Takes one buffer; its bytes are free when this returns.

        Args:
            buffer: A bytes-like object.
            sequence: Its place in its origin, from 1.
            origin: Which input it belongs to: a number or a name.

        Returns:
            The batches that are due by the policy, perhaps none.

        Raises:
            FormatError: A record is not what the format says (on_error="raise").
            SequenceError: The sequence came before, or is out of range.
            BackpressureError: `max_pending_bytes` is reached; push it again later.
        """
        number = checked_sequence(sequence, origin)
        return self._settle(self._native.push(buffer, self._id(origin), number), origin, number)

    def push_many(self, buffers: Any, *, sequences: Any, origins: Any = None) -> list[Batch]:
        """Takes many buffers, in the order of their sequences. If one is refused, those before it were taken.

        Args:
            buffers: An Arrow binary array, or a list of bytes-like objects.
            sequences: Their places, one a buffer.
            origins: Their inputs, one a buffer, or one for all. None: 0.

        Returns:
            The batches that are due by the policy, perhaps none.

        Raises:
            FormatError: A record is not what the format says (on_error="raise").
            SequenceError: A sequence came before, or is out of range; `not_taken` has the indices left.
            BackpressureError: `max_pending_bytes` is reached; `not_taken` has the indices left.
        """
        array = as_arrow(buffers)
        listed = [] if array is not None else list(buffers)
        count = len(listed) if array is None else len(array)
        numbers = checked_sequences(sequences, count)
        ids = self._ids(origins, count)
        if array is not None:
            addresses, sizes, _, _ = addresses_of(array)
            result = self._native.push_many(
                addresses, sizes, np.zeros(count, np.uint64) if ids is None else ids, numbers
            )
        else:
            result = self._native.push_list(listed, ids, numbers)
        if result[0] == "ok":
            return self._settle(result, 0, 0)
        refused = result[1][0]
        return self._settle(result, 0 if ids is None else self._origin(int(ids[refused])), int(numbers[refused]))

    def append(self, buffer: Any, *, origin: Origin = 0) -> list[Batch]:
        """Takes the next `buffer` of `origin`: for sources that come in order, the stream numbers them. As `push` else."""
        result = self._native.push(buffer, self._id(origin), 0, True)
        return self._settle(result, origin, result[2])

    def lost(self, sequence: int, *, origin: Origin = 0) -> list[Batch]:
        """The buffer `sequence` of `origin` will never come: records over its edges become rejects, the rest goes on.

        Returns:
            The batches that are due by the policy, perhaps none.
        """
        number = checked_sequence(sequence, origin)
        return self._settle(self._native.lost(self._id(origin), number), origin, number)

    def finish(self, *, origin: Origin = 0, last_sequence: int | None = None) -> list[Batch]:
        """The end of `origin`: its unterminated record and its open batch come out.

        Args:
            origin: Which input ends.
            last_sequence: Its last buffer, if that is known. None: the highest that came.

        Returns:
            The batches left.

        Raises:
            SequenceError: A buffer in front of the end is missing.
            FormatError: The last record is not what the format says (on_error="raise").
        """
        if last_sequence is not None and last_sequence != 0:
            last_sequence = checked_sequence(last_sequence, origin)
        return self._settle(self._native.finish(self._id(origin), last_sequence), origin, last_sequence or 0)

    def finish_all(self) -> list[Batch]:
        """finish() for every origin that is still open."""
        batches: list[Batch] = []
        for native in self._native.open_origins():
            origin = self._origin(native)
            try:
                batches += self._settle(self._native.finish(native, None), origin, 0)
            except Exception:
                self._undelivered[:0] = batches
                raise
        return batches + self._settle(self._native.flush(True), 0, 0)

    def flush(self) -> list[Batch]:
        """Open batches, whatever the policy says."""
        return self._settle(self._native.flush(True), 0, 0)

    # ------------------------------------------------------------------------------------------------------- errors

    def rejects(self) -> pa.Table:
        """Records rejected since the last call, with certain positions (on_error="collect"): a table, a row a record."""
        with self._lock:
            drained, self._rejects = self._rejects, []
        return diagnostics.rejects_table(drained)

    # -------------------------------------------------------------------------------------------------- checkpoints

    def checkpoint(self) -> bytes:
        """Everything needed to go on, as bytes: open rows, fragments, positions. Batches returned before are delivered."""
        native, result = self._native.checkpoint()
        finished = self._batches(result[3])
        with self._lock:
            self._undelivered += finished
            waiting = list(self._undelivered)
        return self._packed(native, waiting)

    def _packed(self, native: bytes, waiting: list[Batch]) -> bytes:
        with self._lock:
            options = {
                **self._options,
                "names": [[name, number] for name, number in self._names.items()],
                "rejects": [[_error_state(error), raw] for error, raw in self._rejects],
                "schema": self.format.schema.serialize().to_pybytes(),
                "dialect": _dialect_state(self.format),
            }
        return checkpoints.pack(options, native, waiting, self.schema)

    @classmethod
    def restore(cls, format: Format, state: bytes) -> Stream:
        """A stream that goes on where `state` was taken; buffers pushed since then are to be pushed again.

        Args:
            format: The one it was taken with.
            state: What `checkpoint()` gave.

        Returns:
            A new stream.

        Raises:
            CheckpointError: `state` is damaged, or was taken with another format or version.
        """
        options, native, batches = checkpoints.unpack(state)
        names = options.pop("names")
        rejects, schema, dialect = options.pop("rejects"), options.pop("schema"), options.pop("dialect")
        if not pa.ipc.read_schema(pa.py_buffer(schema)).equals(format.schema, check_metadata=True):
            raise CheckpointError(
                "checkpoint: it was taken with another schema; restore with the format it was made with"
            )
        for name, value in _dialect_state(format).items():
            if dialect.get(name) != value:
                raise CheckpointError(f"checkpoint: its {name} was {dialect.get(name)}, here it is {value}")
        options["batch"] = BatchPolicy(**options["batch"])
        options["filters"] = _as_tuples(options["filters"])
        stream = cls(format, **options)
        if not stream._native.restore(native):
            raise CheckpointError(
                "checkpoint: its native state cannot be read; it is of another version of this package"
            )
        for name, number in names:
            stream._names[name] = number
            stream._origins[number] = name
        stream._rejects = [(_error_of_state(values), raw) for values, raw in rejects]
        projection = stream._plan.columns
        stream._undelivered = [
            Batch(data, about["origin"], tuple((a, b) for a, b in about["spans"]), about["version"], projection)
            for about, data in batches
        ]
        return stream

    # ----------------------------------------------------------------------------------------------------- internals

    def _id(self, origin: Origin) -> int:
        if isinstance(origin, int) and not isinstance(origin, bool) and 0 <= origin < _NAMED_ORIGIN:
            return origin
        known = self._names.get(origin)
        if known is not None:
            return known
        if isinstance(origin, bool) or not isinstance(origin, int | str):
            raise OptionError(f"origin: expected an int or str, found {origin!r}")
        with self._lock:
            number = self._names.setdefault(origin, _NAMED_ORIGIN + len(self._names))
            self._origins[number] = origin
        return number

    def _origin(self, native: int) -> Origin:
        return native if native < _NAMED_ORIGIN else self._origins[native]

    def _ids(self, origins: Any, count: int) -> Numbers | None:
        if origins is None:
            return None
        if isinstance(origins, int | str):
            return np.full(count, self._id(origins), np.uint64)
        if hasattr(origins, "to_pylist"):
            origins = origins.to_pylist()
        ids = np.fromiter((self._id(o if isinstance(o, str) else int(o)) for o in origins), np.uint64)
        if len(ids) != count:
            raise OptionError(f"push_many: expected {count} origins, one a buffer, found {len(ids)}")
        return ids

    def _batches(self, finished: list[Any]) -> list[Batch]:
        projection = self._plan.columns
        batches: list[Batch] = []
        for native, spans, capsule, _number, _marker in finished:
            data = self._plan.batch(capsule)
            if self._positional:
                data = self._nulls.positional(data, self.format.schema)
            batches.append(Batch(data, self._origin(native), spans, 1, projection))
        return batches

    def _settle(self, result: Any, origin: Origin, sequence: int) -> list[Batch]:
        """Batches to hand out; raises what is to be raised, keeping the batches for the next call."""
        status, not_taken, _appended, finished, findings, holes = result
        raise_what_parsers_raised()
        batches = self._batches(finished)
        raised = self._note(findings) if findings else None
        if raised is None and status == "ok" and not self._undelivered:
            return batches
        with self._lock:
            if raised is not None or status != "ok":
                self._undelivered += batches
            else:
                batches = self._undelivered + batches
                self._undelivered = []
        if status != "ok":
            raise refusal(status, origin, sequence, holes, self._options, not_taken)
        if raised is not None:
            raise raised
        return batches

    def _column_names(self) -> tuple[str, ...]:
        """What findings count columns by."""
        names: tuple[str, ...] = self._plan.native.column_names
        return names

    def _note(self, findings: list[tuple[int, _core.Finding]]) -> FormatError | None:
        names = self._column_names()
        found = [(self._described(self._origin(o), finding, names), finding.raw) for o, finding in findings]
        for error, _ in found:
            if self._plan.on_error == "raise" or diagnostics.always_raised(error.code):
                return error
        if self._plan.on_error == "collect":
            with self._lock:
                self._rejects += found
        return None

    def _described(self, origin: Origin, finding: _core.Finding, names: tuple[str, ...]) -> FormatError:
        place = f"origin {origin!r}, sequence {finding.sequence}" if finding.sequence else f"origin {origin!r}"
        return diagnostics.describe(finding, self.format, names, origin=origin, place=place)


def native_options(options: dict[str, Any], policy: BatchPolicy) -> dict[str, Any]:
    """What the engine's stream is opened with."""
    return {
        "ordered": options["ordered"],
        "ignore_duplicates": options["on_duplicate"] == "ignore",
        "max_sequence": options["max_sequence"] or 0,
        "max_record_bytes": options["max_record_bytes"],
        "max_pending_bytes": options["max_pending_bytes"],
        "max_rows": policy.max_rows,
        "max_batch_bytes": policy.max_bytes,
        "max_latency_ns": -1 if policy.max_latency_ms is None else int(policy.max_latency_ms * 1_000_000),
    }


def _check_options(options: dict[str, Any], policy: BatchPolicy) -> None:
    if not isinstance(policy, BatchPolicy):
        raise OptionError(f"Stream: batch: expected fm.BatchPolicy(...), found {type(policy).__name__}")
    choices = {"layout": ("projected", "positional"), "on_duplicate": ("raise", "ignore"), "ordered": (True, False)}
    for name, allowed in choices.items():
        if options[name] not in allowed:
            raise OptionError(
                f"Stream: {name}: expected one of {', '.join(map(repr, allowed))}, found {options[name]!r}"
            )
    for name in ("max_record_bytes", "max_pending_bytes", "max_sequence"):
        value = options[name]
        if value is None and name == "max_sequence":
            continue
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**63:
            raise OptionError(f"Stream: {name}: expected a whole number from 1, found {value!r}")


_ERROR_FIELDS = ("code", "origin", "sequence", "byte_offset", "record", "column", "expected", "found")


def _error_state(error: FormatError) -> dict[str, Any]:
    return {"message": str(error), **{name: getattr(error, name) for name in _ERROR_FIELDS}}


def _error_of_state(values: dict[str, Any]) -> FormatError:
    return FormatError(values.pop("message"), **values)


def _dialect_state(format: Format) -> dict[str, str]:
    return {f.name: repr(getattr(format, f.name)) for f in fields(format) if f.name != "schema"}


def _as_tuples(filters: list[list[Any]] | None) -> list[list[Clause]]:
    """JSON made lists of the clauses' tuples."""
    return [[tuple(clause) for clause in conjunction] for conjunction in filters or []]
