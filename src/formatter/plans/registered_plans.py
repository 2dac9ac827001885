"""A registered format as the engine reads it. In: a request; an indexer in Python, or behind a capsule. Out: a plan; what an
indexer in Python returns, as plain bytes, or in words what is wrong with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from formatter import _core
from formatter.errors import OptionError
from formatter.foreign_code import keep
from formatter.formats.registered import Registered, RegisteredIndexer
from formatter.plans.csv_plans import csv_dialect
from formatter.plans.plan_request import EnginePlan, PlanRequest

RECORD_KINDS = 3


class IndexerCalls:
    """An indexer in Python as the engine calls it, for the fields that a plan wants."""

    def __init__(self, registered: RegisteredIndexer, fields: tuple[int, ...]) -> None:
        self._registered = registered
        self._fields = np.array(fields, np.int64)

    def keep(self, error: BaseException) -> None:
        keep(error)

    def records(self, data: bytes) -> tuple[bytes, bytes, bytes | None] | bytes:
        """Ends, spans and kinds as the engine takes them; or what is wrong, in UTF-8."""
        try:
            found = self._registered.indexer(np.frombuffer(data, np.uint8), self._fields)
        except Exception as error:
            error.add_note(f"in the indexer of {self._registered.name!r}, which was given {len(data)} bytes")
            keep(error)
            return f"{type(error).__name__}: {error}".encode()
        try:
            return self._as_bytes(*found)
        except (TypeError, ValueError) as error:
            return f"not (ends, begins, stops) as integer arrays: {error}".encode()

    def _as_bytes(self, ends: Any, begins: Any, stops: Any, kinds: Any = None) -> tuple[bytes, bytes, bytes | None]:
        ends, begins, stops = (self._integers(part) for part in (ends, begins, stops))
        if ends.ndim != 1:
            raise ValueError(f"ends have {ends.ndim} dimensions")
        spans = np.empty((len(ends), len(self._fields), 2), np.uint32)
        spans[:, :, 0] = begins.reshape(len(ends), len(self._fields))
        spans[:, :, 1] = stops.reshape(len(ends), len(self._fields))
        if kinds is not None:
            kinds = self._integers(kinds)
            if kinds.shape != ends.shape or (kinds.size and not 0 <= kinds.min() <= kinds.max() < RECORD_KINDS):
                raise ValueError(f"{len(ends)} kinds from 0 to 2 are expected")
            kinds = kinds.astype(np.uint8).tobytes()
        return ends.astype(np.uint32).tobytes(), spans.tobytes(), kinds

    @staticmethod
    def _integers(values: Any) -> np.ndarray[Any, Any]:
        array = np.asarray(values)
        if array.size and array.dtype.kind not in "iu":
            raise TypeError(f"an array of {array.dtype}")
        return array

    def ends(self, data: bytes, state: int) -> tuple[int | None, int | None, int] | None:
        """The first and the last record end, and the state behind the bytes; None: what was raised is kept."""
        scan = self._registered.scan
        assert scan is not None
        try:
            found, state = scan(np.frombuffer(data, np.uint8), state)
            ends = self._integers(found)
            if not isinstance(state, int | np.integer) or not 0 <= state < 1 << 64:
                raise OptionError(f"scan of {self._registered.name!r}: expected a state below 2**64, found {state!r}")
            if ends.size and not 0 < ends[0] <= ends[-1] <= len(data):
                raise OptionError(f"scan of {self._registered.name!r}: expected ends within the bytes, found {ends!r}")
        except Exception as error:
            error.add_note(f"in scan of {self._registered.name!r}, which was given {len(data)} bytes")
            keep(error)
            return None
        return (int(ends[0]), int(ends[-1]), int(state)) if ends.size else (None, None, int(state))


def registered_plan(request: PlanRequest) -> EnginePlan:
    format: Registered = request.format
    columns = request.text_columns({name: place for place, name in enumerate(format.schema.names)})
    capsule = format.registered.capsule()
    calls = None
    if capsule is None:
        calls = IndexerCalls(format.registered, tuple(column["field"] for column in columns))
    elif not format.record_end and not _core.native_indexer_scans(capsule):
        raise OptionError(f"{format.kind}: record_end is None, and the native indexer has no scan")
    dialect = csv_dialect(format.values_as) | request.options(columns)
    return EnginePlan(_core.indexed_plan(calls, capsule, dialect, columns, not format.record_end), request.laid_out)
