"""A stream whose origins are written in formats of their own, with one schema out.

In: which format an origin has; buffers as fm.Stream takes them. Out: batches, as the streams behind give them, one a format.
Refuses to know: how a buffer is parsed, which stream it goes to.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pyarrow as pa

from formatter.batch import Batch
from formatter.batch_policy import BatchPolicy
from formatter.buffer_arguments import Origin
from formatter.buffer_intake import saved_options
from formatter.checkpoints import unpack_mixed
from formatter.errors import SchemaError
from formatter.kernel import active_kernel
from formatter.origin_lanes import Formats, OriginLanes, shown
from formatter.plans import Format
from formatter.stream import Stream, StreamStats, summed_counts
from formatter.variants import Columns, asked_as
from formatter.weak_methods import weakly

__all__ = ["MixedStream", "Stream"]  # who imports it from here has one that knows several formats


class MixedStream(Stream, mixes_formats=True):
    """What `fm.Stream` is of a dict or a function."""

    def _open(
        self, format: Formats, columns: Columns, rescue: str | None, options: dict[str, Any], policy: BatchPolicy
    ) -> None:
        _, names = asked_as(format, columns)
        self._options = {**options, "columns": None if names is None else list(names), "rescue": rescue}
        self._first: Stream | None = None
        self._lanes: OriginLanes[Stream] = OriginLanes(
            format, self._options, weakly(self._stream_of), weakly(self._keep)
        )

    # -------------------------------------------------------------------------------------------------- properties

    @property
    def format(self) -> Any:
        """What says how the buffers of an origin are written."""
        return self._lanes.formats

    @property
    def schema(self) -> pa.Schema:
        if self._first is None:
            raise SchemaError("Stream: the schema is that of the origins' formats, and none has come yet")
        return self._first.schema

    @property
    def stats(self) -> StreamStats:
        counted = [asdict(stream.stats) for stream in self._lanes.lanes]
        return StreamStats(kernel=active_kernel(), **summed_counts([*counted, self._lanes.waiting_counts()]))

    # ------------------------------------------------------------------------------------------------------ buffers

    def push(self, buffer: Any, *, sequence: int, origin: Origin = 0) -> list[Batch]:
        return self._lanes.push(buffer, sequence=sequence, origin=origin)

    def push_many(self, buffers: Any, *, sequences: Any, origins: Any = None) -> list[Batch]:
        return self._lanes.push_many(buffers, sequences=sequences, origins=origins)

    def append(self, buffer: Any, *, origin: Origin = 0) -> list[Batch]:
        return self._lanes.append(buffer, origin=origin)

    def lost(self, sequence: int, *, origin: Origin = 0) -> list[Batch]:
        return self._lanes.lost(sequence, origin=origin)

    def finish(self, *, origin: Origin = 0, last_sequence: int | None = None) -> list[Batch]:
        return self._lanes.finish(origin=origin, last_sequence=last_sequence)

    def finish_all(self) -> list[Batch]:
        return self._lanes.finish_all()

    def flush(self) -> list[Batch]:
        return self._lanes.flush()

    def rejects(self) -> pa.Table:
        return self._lanes.rejects()

    # -------------------------------------------------------------------------------------------------- checkpoints

    def checkpoint(self) -> bytes:
        return self._lanes.checkpoint({})

    @classmethod
    def restore(cls, format: Any, state: bytes) -> MixedStream:
        head, states = unpack_mixed(state)
        stream = cls(format, **saved_options(head["options"]))
        stream._lanes.resume(head, states)
        return stream

    # ----------------------------------------------------------------------------------------------------- internals

    def _stream_of(self, format: Format) -> Stream:
        made = Stream(format, **saved_options(self._options))
        if self._first is None:
            self._first = made
        elif not made.schema.equals(self._first.schema):
            raise SchemaError(
                f"Stream: expected formats with one schema, found {shown(self._first.schema)} and {shown(made.schema)}"
            )
        return made

    def _numbering(self, origin: Origin) -> Stream:
        return self._lanes.lane_of(origin)

    def _keep(self, batches: list[Batch]) -> None:
        """For the next call: the one that made them raises."""
        if batches and self._first is not None:
            self._first._keep(batches)
