"""Buffers on their way into the engine, for fm.Stream and fm.SharedStream alike.

In: buffers, sequences and origins as users have them; the engine's findings. Out: the engine's results; errors in words,
rejects; the state of a stream as bytes and back. Refuses to know: what becomes of batches.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Set
from dataclasses import fields
from typing import Any, NamedTuple, get_args

import numpy as np
import pyarrow as pa

from formatter import _core, checkpoints, diagnostics
from formatter.batch import Batch
from formatter.batch_policy import BatchPolicy
from formatter.buffer_arguments import (
    Numbers,
    Origin,
    as_arrow,
    checked_origin,
    checked_origins,
    checked_sequence,
    checked_sequences,
    refusal,
)
from formatter.buffers import addresses_of
from formatter.checkpoints import CheckpointError
from formatter.errors import FormatError, OptionError, TooManyErrors
from formatter.filters import Clause, Filters, normalized
from formatter.foreign_code import taken
from formatter.forked_locks import renewed_in_children
from formatter.formats.checks import check_on_error
from formatter.plans import Format, check_format, rescue_of, with_rescue
from formatter.tolerance import PLACES_SHOWN, Tolerance

MAX_RECORD_BYTES = 64 << 20
MAX_PENDING_BYTES = 1 << 30
_NAMED_ORIGIN = 1 << 63  # ids in the engine from here on stand for origins that are no small whole numbers

# What the engine says, and of which origin and sequence, should it be a refusal.
Answer = tuple[Any, Origin, int]


class SavedStream(NamedTuple):
    """A checkpoint, read. `options`: as the stream was made with. `batches`: what had not been handed out."""

    format: Format
    options: dict[str, Any]
    engine: bytes
    names: list[tuple[Origin, int]]
    rejects: list[tuple[FormatError, bytes]]
    batches: list[tuple[dict[str, Any], pa.RecordBatch]]
    passed_over: tuple[dict[str, int], list[dict[str, Any]]]  # counts by code, the first errors


class BufferIntake:
    """`options`: as stream_options() gives them. `columns`: the names that findings count columns by."""

    def __init__(
        self, format: Format, options: dict[str, Any], engine: _core.EngineStream, columns: tuple[str, ...]
    ) -> None:
        self.format = format
        self.engine = engine
        self._options = options
        self._describer = diagnostics.Describer(format, columns)
        self._lock = threading.Lock()
        self._names: dict[Origin, int] = {}  # origins that are no small whole numbers, and their ids in the engine
        self._origins: dict[int, Origin] = {}
        self._rejects: list[tuple[FormatError, bytes]] = []
        self._tolerance = tolerance_of(options)
        self._owed: BaseException | None = (
            None  # met in a call that was refused for something else; the next one raises it
        )
        renewed_in_children(self)

    def _renew_locks(self) -> None:
        self._lock = threading.Lock()

    # ------------------------------------------------------------------------------------------------------ buffers

    def push_many(self, buffers: Any, sequences: Any, origins: Any) -> Answer:
        array = as_arrow(buffers)
        listed = [] if array is not None else list(buffers)
        count = len(listed) if array is None else len(array)
        numbers = checked_sequences(sequences, count)
        ids = self._ids(origins, count)
        if array is not None:
            addresses, sizes, _, _ = addresses_of(array)
            result = self.engine.push_many(
                addresses, sizes, np.zeros(count, np.uint64) if ids is None else ids, numbers
            )
        else:
            result = self.engine.push_list(listed, ids, numbers)
        if result[0] == "ok":
            return result, 0, 0
        refused = result[1][0]
        return result, 0 if ids is None else self.origin_of(int(ids[refused])), int(numbers[refused])

    def append(self, buffer: Any, origin: Origin) -> Answer:
        result = self.engine.push(buffer, self.id_of(origin), 0, True)
        return result, origin, result[2]

    def lost(self, sequence: int, origin: Origin) -> Answer:
        number = checked_sequence(sequence, origin)
        return self.engine.lost(self.id_of(origin), number), origin, number

    def finish(self, origin: Origin, last_sequence: int | None) -> Answer:
        if last_sequence is not None and last_sequence != 0:
            last_sequence = checked_sequence(last_sequence, origin)
        return self.engine.finish(self.id_of(origin), last_sequence), origin, last_sequence or 0

    def id_of(self, origin: Origin) -> int:
        if isinstance(origin, int) and not isinstance(origin, bool) and 0 <= origin < _NAMED_ORIGIN:
            return origin
        if not isinstance(origin, str):
            origin = checked_origin(origin)
            if isinstance(origin, int) and 0 <= origin < _NAMED_ORIGIN:
                return origin
        known = self._names.get(origin)
        if known is not None:
            return known
        with self._lock:
            number = self._names.get(origin, _NAMED_ORIGIN + len(self._names))
            self._origins[number] = origin  # before anybody can be given the number
            self._names[origin] = number
        return number

    def origin_of(self, engine_id: int) -> Origin:
        return engine_id if engine_id < _NAMED_ORIGIN else self._origins[engine_id]

    def _ids(self, origins: Any, count: int) -> Numbers | None:
        if origins is None:
            return None
        if isinstance(origins, int | str):
            return np.full(count, self.id_of(origins), np.uint64)
        return np.fromiter(map(self.id_of, checked_origins(origins, count)), np.uint64, count)

    # ------------------------------------------------------------------------------------------------------- errors

    def error_of(self, result: Any, origin: Origin, sequence: int) -> BaseException | None:
        """What is to be raised of the engine's result; findings that are not are kept as rejects, or counted only."""
        status, not_taken, _appended, _finished, findings, holes, counts = result
        found = taken()
        if counts:
            noted = self._note(findings, counts)
            found = noted if found is None else found
        if status == "ok":
            return found if self._owed is None else self._no_longer_owed()
        if found is not None:
            self.owe(found)
        return refusal(status, origin, sequence, holes, self._options, not_taken)

    def raise_owed(self) -> None:
        """Before a state is saved, which has no place for it."""
        if self._owed is not None:
            raise self._no_longer_owed()

    def owe(self, error: BaseException) -> None:
        """The next call raises it."""
        self._owed = error if self._owed is None else self._owed

    def _no_longer_owed(self) -> BaseException:
        owed, self._owed = self._owed, None
        assert owed is not None
        return owed

    def _note(self, findings: list[tuple[int, _core.Finding]], counts: dict[str, int]) -> FormatError | None:
        on_error = self._options["on_error"]
        found = [(self._described(self.origin_of(o), finding), finding.raw) for o, finding in findings]
        for error, _ in found:
            if on_error == "raise" or diagnostics.always_raised(error.code):
                return error
        with self._lock:
            if on_error == "collect":
                self._rejects += found
            self._count_records()
            try:
                self._tolerance.add(0, counts, [error for error, _ in found])
            except TooManyErrors as error:
                return error
        return None

    def ended(self) -> FormatError | None:
        """If every origin has ended, what was passed over is told, once; or is too much."""
        if self.engine.progress()[1]:
            return None
        with self._lock:
            self._count_records()
            try:
                self._tolerance.end()
            except TooManyErrors as error:
                return error
            self._tolerance.begin_anew()
        return None

    def _count_records(self) -> None:
        """So many there are until now, where a share of them may be bad."""
        if self._tolerance.most is not None:
            self._tolerance.records = self.engine.counts()["records"]

    def _described(self, origin: Origin, finding: _core.Finding) -> FormatError:
        place = f"origin {origin!r}, sequence {finding.sequence}" if finding.sequence else f"origin {origin!r}"
        return self._describer.describe(finding, origin=origin, place=place)

    def drained_rejects(self) -> pa.Table:
        with self._lock:
            drained, self._rejects = self._rejects, []
        return diagnostics.rejects_table(drained)

    # -------------------------------------------------------------------------------------------------- checkpoints

    def packed(self, engine: bytes | None, waiting: list[Batch], schema: pa.Schema) -> bytes:
        with self._lock:
            options = {
                **self._options,
                "names": [[name, number] for name, number in self._names.items()],
                "rejects": [[_error_state(error), raw] for error, raw in self._rejects],
                "passed_over": [self._tolerance.counts, [_error_state(error) for error in self._tolerance.first]],
                "schema": self.format.schema.serialize().to_pybytes(),
                "dialect": _dialect_state(self.format),
                "rescue": rescue_of(self.format),
            }
        return checkpoints.pack(options, engine, waiting, schema)

    def resume(self, saved: SavedStream) -> None:
        if not self.engine.restore(saved.engine):
            raise CheckpointError(
                "checkpoint: its engine state cannot be read; it is of another version of this package"
            )
        for name, number in saved.names:
            self._names[name] = number
            self._origins[number] = name
        self._rejects = saved.rejects
        counts, first = saved.passed_over
        self._tolerance.counts = Counter(counts)
        self._tolerance.first = [_error_of_state(values) for values in first]


def unpacked(format: Format, state: bytes, *, shared: bool = False) -> SavedStream:
    """A checkpoint that was taken with this format."""
    check_format(format)
    options, engine, batches = checkpoints.unpack(state)
    options = saved_options(options, shared=shared)
    names = options.pop("names")
    format = with_rescue(format, options.pop("rescue", None))
    rejects, schema, dialect = options.pop("rejects"), options.pop("schema"), options.pop("dialect")
    passed_over = options.pop("passed_over", ({}, []))
    here = _dialect_state(format)
    if dialect.keys() != here.keys():
        kind = next((kind.__name__ for kind in get_args(Format) if _options_of(kind) == dialect.keys()), None)
        was = f"fm.{kind}" if kind else "a format of another version of this package"
        raise CheckpointError(
            f"checkpoint: it was taken with {was}, here it is fm.{type(format).__name__}; restore with the format it was "
            "made with"
        )
    if not pa.ipc.read_schema(pa.py_buffer(schema)).equals(format.schema, check_metadata=True):
        raise CheckpointError("checkpoint: it was taken with another schema; restore with the format it was made with")
    for name, value in here.items():
        if dialect[name] != value:
            raise CheckpointError(f"checkpoint: its {name} was {dialect[name]}, here it is {value}")
    return SavedStream(
        format,
        options,
        engine,
        names,
        [(_error_of_state(v), raw) for v, raw in rejects],
        batches,
        passed_over,
    )


def saved_options(options: dict[str, Any], *, shared: bool = False) -> dict[str, Any]:
    """As a stream is made with, of what its checkpoint kept; for a shared stream, if it was one."""
    if (was_shared := "idle" in options) != shared:
        kind = "SharedStream" if was_shared else "Stream"
        raise CheckpointError(f"checkpoint: it was taken of a fm.{kind}; restore it by fm.{kind}.restore")
    batch, filters = BatchPolicy(**options["batch"]), _as_tuples(options["filters"])
    return {**options, "batch": batch, "filters": filters}


def stream_options(
    *,
    filters: Filters,
    on_error: str,
    ordered: bool,
    layout: str,
    batch: BatchPolicy | None,
    max_record_bytes: int,
    max_pending_bytes: int,
    on_duplicate: str,
    max_sequence: int | None,
    max_errors: int | float | None,
) -> tuple[dict[str, Any], BatchPolicy]:
    """What streams of both kinds are asked for, checked, as checkpoints keep it; and when rows leave."""
    policy = batch if batch is not None else BatchPolicy()
    options: dict[str, Any] = {
        "filters": normalized(filters),
        "on_error": on_error,
        "ordered": ordered,
        "layout": layout,
        "max_record_bytes": max_record_bytes,
        "max_pending_bytes": max_pending_bytes,
        "on_duplicate": on_duplicate,
        "max_sequence": max_sequence,
        "max_errors": max_errors,
    }
    check_on_error(on_error)
    tolerance_of(options)
    _check_options(options, policy)
    options["batch"] = {
        name: getattr(policy, name) for name in ("max_rows", "max_bytes", "max_latency_ms", "flush_on_watermark")
    }
    return options, policy


def tolerance_of(options: dict[str, Any]) -> Tolerance:
    """What a stream of these options bears; it keeps rejects for whoever asks, so that these are told."""
    return Tolerance(options["on_error"], options["max_errors"], told=options["on_error"] in ("raise", "collect"))


def told_to_stream(on_error: str) -> dict[str, Any]:
    """What plans are made with, for the engine to tell of records that are passed over, too: they are counted."""
    return {"on_error": "collect" if on_error == "skip" else on_error, "note_nulled": on_error == "null"}


def engine_options(options: dict[str, Any], policy: BatchPolicy) -> dict[str, Any]:
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
        "told": PLACES_SHOWN if options["on_error"] in ("skip", "null") else -1,
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
    return {name: repr(getattr(format, name)) for name in _options_of(type(format))}


def _options_of(kind: type[Format]) -> Set[str]:
    return {field.name: None for field in fields(kind) if field.name != "schema"}.keys()


def _as_tuples(filters: list[list[Any]] | None) -> list[list[Clause]]:
    """JSON made lists of the clauses' tuples."""
    return [[tuple(clause) for clause in conjunction] for conjunction in filters or []]
