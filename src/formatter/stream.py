"""The front door for raw buffers: any order, any thread, each record exactly once.

Policy and words live here; which record is whose is decided in the engine (see ARCHITECTURE.md, "Shredding").
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from formatter import _core
from formatter.batch import Batch, NullColumns
from formatter.batch_policy import BatchPolicy
from formatter.buffer_arguments import Origin, checked_sequence
from formatter.buffer_intake import (
    MAX_PENDING_BYTES,
    MAX_RECORD_BYTES,
    BufferIntake,
    SavedStream,
    engine_options,
    stream_options,
    told_to_stream,
    unpacked,
)
from formatter.filters import Filters
from formatter.forked_locks import renewed_in_children
from formatter.formats.csv import check_byte_order, check_streamable, in_stream
from formatter.mistaken_arguments import named_options
from formatter.plans import Format, are_several, make_plan, with_rescue
from formatter.uncopied import Uncopied
from formatter.variants import Columns, asked_as


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


def summed_counts(several: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Counts of several streams as those of one; what `StreamStats` is made of but for the kernel."""
    sums: dict[str, Any] = {name: 0 for name in StreamStats.__slots__ if name not in ("kernel", "values_decoded")}
    decoded: Counter[str] = Counter()
    for counts in several:
        for name in sums:
            sums[name] += counts.get(name, 0)
        decoded.update(counts.get("values_decoded", {}))
    return {**sums, "values_decoded": dict(decoded)}


@named_options
class Stream(Uncopied):
    """Turns the buffers of any number of origins into batches: in any order, each record once, whatever the cuts.

    Every method may be called from any thread.

    Args:
        format: How the buffers are written. Where origins differ, a dict from origin to format, or a function of an origin; one
            of two parameters is given the first bytes of the origin's first buffer, too, for which the others wait. All formats
            must have one schema.
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
        max_errors: How many records may be bad, of all origins together: the call that finds more raises. Or which share of
            them (a float), judged when every origin has ended. None: any number; the call that ends the last origin
            tells by one `fm.RejectsWarning` what "null" or "skip" passed over. Of several formats, each by itself.
        rescue: As for `fm.read`.

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

    _instead = "make one where it is used, or take its checkpoint() there and restore it"
    _of_several: type[Stream]  # is made of this one: mixed_stream.py

    def __new__(cls, format: Any = None, **options: Any) -> Stream:
        return object.__new__(cls._of_several if cls is Stream and are_several(format) else cls)

    def __init_subclass__(cls, *, mixes_formats: bool = False) -> None:
        if mixes_formats:
            Stream._of_several = cls

    def __init__(
        self,
        format: Any,
        *,
        columns: Columns = None,
        filters: Filters = None,
        on_error: str = "raise",
        ordered: bool = False,
        layout: str = "projected",
        batch: BatchPolicy | None = None,
        max_record_bytes: int = MAX_RECORD_BYTES,
        max_pending_bytes: int = MAX_PENDING_BYTES,
        on_duplicate: str = "raise",
        max_sequence: int | None = None,
        max_errors: int | float | None = None,
        rescue: str | None = None,
    ) -> None:
        options, policy = stream_options(
            filters=filters, on_error=on_error, ordered=ordered, layout=layout, batch=batch,
            max_record_bytes=max_record_bytes, max_pending_bytes=max_pending_bytes, on_duplicate=on_duplicate,
            max_sequence=max_sequence, max_errors=max_errors,
        )  # fmt: skip
        self._ordered = ordered
        self._open(format, columns, rescue, options, policy)

    def _open(
        self, format: Any, columns: Columns, rescue: str | None, options: dict[str, Any], policy: BatchPolicy
    ) -> None:
        """`options`: as stream_options() gives them."""
        format, columns = asked_as(with_rescue(format, rescue), columns)
        check_byte_order(format, "Stream")
        check_streamable(format, "Stream")
        options["columns"] = None if columns is None else list(columns)
        self._plan = make_plan(
            in_stream(format, options["max_record_bytes"]),
            columns=columns, filters_wanted=options["filters"], **told_to_stream(options["on_error"]),
        )  # fmt: skip
        self._nulls = NullColumns()
        self._positional = options["layout"] == "positional"
        self._engine = _core.EngineStream(self._plan.engine, **engine_options(options, policy))
        self._intake = BufferIntake(format, options, self._engine, self._plan.engine.column_names)
        self._id = self._intake.id_of
        self._lock = threading.Lock()
        self._undelivered: list[Batch] = []  # finished in a call that raised, or restored
        renewed_in_children(self)

    # -------------------------------------------------------------------------------------------------- properties

    @property
    def format(self) -> Format:
        """How the buffers are written."""
        return self._intake.format

    @property
    def schema(self) -> pa.Schema:
        """Of the batches' data."""
        if not self._positional:
            return self._plan.schema
        empty = pa.RecordBatch.from_pylist([], schema=self._plan.schema)
        return self._nulls.positional(empty, self.format.schema).schema

    @property
    def ordered(self) -> bool:
        """Whether batches leave in the order of their sequences; `Batch.number` tells it to several threads."""
        return self._ordered

    @property
    def stats(self) -> StreamStats:
        """Counts since the start."""
        return StreamStats(kernel=_core.active_kernel(), **self._engine.counts())

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
            TooManyErrors: More records are bad than `max_errors` allows.
            SequenceError: The sequence came before, or is out of range.
            BackpressureError: `max_pending_bytes` is reached; push it again later.
        """
        number = checked_sequence(sequence, origin)
        return self._settle(self._engine.push(buffer, self._id(origin), number), origin, number)

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
        return self._settle(*self._intake.push_many(buffers, sequences, origins))

    def append(self, buffer: Any, *, origin: Origin = 0) -> list[Batch]:
        """Takes the next `buffer` of `origin`: for sources that come in order, the stream numbers them. As `push` else."""
        return self._settle(*self._intake.append(buffer, origin))

    def lost(self, sequence: int, *, origin: Origin = 0) -> list[Batch]:
        """The buffer `sequence` of `origin` will never come: records over its edges become rejects, the rest goes on.

        With on_duplicate="ignore" one that came, or was declared lost before, is counted as a duplicate.

        Returns:
            The batches that are due by the policy, perhaps none.
        """
        return self._settle(*self._intake.lost(sequence, origin))

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
            TooManyErrors: Every origin has ended, and a larger share of the records is bad than `max_errors` allows.
        """
        return self._ended(self._settle(*self._intake.finish(origin, last_sequence)))

    def finish_all(self) -> list[Batch]:
        """finish() for every origin that is still open."""
        batches: list[Batch] = []
        for engine_id in self._engine.open_origins():
            origin = self._intake.origin_of(engine_id)
            try:
                batches += self._settle(self._engine.finish(engine_id, None), origin, 0)
            except Exception:
                self._keep(batches)
                raise
        return self._ended(batches + self._settle(self._engine.flush(True), 0, 0))

    def flush(self) -> list[Batch]:
        """Open batches, whatever the policy says."""
        return self._settle(self._engine.flush(True), 0, 0)

    # ------------------------------------------------------------------------------------------------------- errors

    def rejects(self) -> pa.Table:
        """Records rejected since the last call, with certain positions (on_error="collect"): a table, a row a record."""
        return self._intake.drained_rejects()

    # -------------------------------------------------------------------------------------------------- checkpoints

    def checkpoint(self) -> bytes:
        """Everything needed to go on, as bytes: open rows, fragments, positions. Batches returned before are delivered."""
        self._intake.raise_owed()
        engine_state, result = self._engine.checkpoint()
        finished = self._batches(result[3])
        with self._lock:
            self._undelivered += finished
            waiting = list(self._undelivered)
        return self._intake.packed(engine_state, waiting, self.schema)

    @classmethod
    def restore(cls, format: Any, state: bytes) -> Stream:
        """A stream that goes on where `state` was taken; buffers pushed since then are to be pushed again.

        Args:
            format: The one it was taken with.
            state: What `checkpoint()` gave.

        Returns:
            A new stream.

        Raises:
            CheckpointError: `state` is damaged, or was taken with another format or version.
        """
        if are_several(format):
            return cls._of_several.restore(format, state)
        saved = unpacked(format, state)
        stream = cls(saved.format, **saved.options)
        stream._resume_saved(saved)
        return stream

    # ----------------------------------------------------------------------------------------------------- internals

    def _owe(self, error: BaseException) -> None:
        """Met in a call that had to raise something else: the next call raises it."""
        self._intake.owe(error)

    def _resume(self, state: bytes) -> None:
        self._resume_saved(unpacked(self.format, state))

    def _resume_saved(self, saved: SavedStream) -> None:
        """In a stream just made with what was saved."""
        self._intake.resume(saved)
        self._undelivered = [
            Batch(
                data, about["origin"], tuple((a, b) for a, b in about["spans"]), about["version"], self._plan.columns, number
            )
            for number, (about, data) in enumerate(saved.batches, -len(saved.batches))
        ]  # fmt: skip

    def _keep(self, batches: list[Batch]) -> None:
        """For the next call: the one that made them raises."""
        with self._lock:
            self._undelivered[:0] = batches

    def _numbering(self, origin: Origin) -> Stream:
        """Whose numbers the batches of `origin` have."""
        return self

    def _renew_locks(self) -> None:
        """In the child of a fork, where nobody lets go of those that other threads held."""
        self._lock = threading.Lock()

    def _batches(self, finished: list[Any]) -> list[Batch]:
        projection = self._plan.columns
        batches: list[Batch] = []
        try:
            for engine_id, spans, capsule, number, _marker in finished:
                data = self._plan.batch(capsule)
                if self._positional:
                    data = self._nulls.positional(data, self.format.schema)
                batches.append(Batch(data, self._intake.origin_of(engine_id), spans, 1, projection, number))
        except MemoryError:
            self._engine.close()  # these rows are lost
            raise
        return batches

    def _settle(self, result: Any, origin: Origin, sequence: int) -> list[Batch]:
        """Batches to hand out; raises what is to be raised, keeping the batches for the next call."""
        raised = self._intake.error_of(result, origin, sequence)
        batches = self._batches(result[3])
        if raised is None and not self._undelivered:
            return batches
        return self._handed_out(batches, raised)

    def _ended(self, batches: list[Batch]) -> list[Batch]:
        """Those of a call that may have ended the last origin."""
        raised = self._intake.ended()
        return batches if raised is None else self._handed_out(batches, raised)

    def _handed_out(self, batches: list[Batch], raised: BaseException | None) -> list[Batch]:
        with self._lock:
            if raised is not None:
                self._undelivered += batches
            else:
                batches = self._undelivered + batches
                self._undelivered = []
        if raised is not None:
            raise raised
        return batches
