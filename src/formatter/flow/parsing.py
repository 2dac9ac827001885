"""Raw buffers through an fm.Stream, pushed from several threads at once.

In: (sequence, buffer) or (sequence, buffer, origin). Out: record batches, and the stream's state between buffers.
Refuses to know: how buffers are parsed, who asked for the state.
"""

from __future__ import annotations

import heapq
import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import Empty, Queue
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from formatter._core import Checkpoint, Watermark
from formatter.errors import FlowError, OptionError, shown
from formatter.flow.fan_in import END
from formatter.flow.stages import Parse

if TYPE_CHECKING:
    from formatter.batch import Batch
    from formatter.stream import Stream

LOOK_AROUND_S = 0.05  # how soon an idle thread notices the end
BUFFERS_A_THREAD = 4  # waiting; enough to keep a thread busy while its neighbour has the lock


@dataclass(slots=True)
class _Turns:
    """Of batches that are numbered together: which one is next, and those that came before their turn."""

    next: int = 0
    early: list[tuple[int, Batch]] = field(default_factory=list)


class ParsingThreads:
    def __init__(self, node: Parse, push: Callable[[Any], None], fail: Callable[[BaseException], None]) -> None:
        self._stream = _stream(node)
        self._push = push
        self._fail = fail
        self._failed = self._ended = False
        self._queue: Queue[Any] = Queue(node.threads * BUFFERS_A_THREAD)
        self._one_pushes = threading.Lock()
        self._turns = defaultdict[Any, _Turns](_Turns) if self._stream.ordered else None
        self._has_saved = node.state is not None  # batches, perhaps, that come before all others
        self.threads = [
            threading.Thread(target=self._work, name=f"formatter parsing {number}", daemon=True)
            for number in range(node.threads)
        ]

    def push(self, item: Any) -> None:
        """Called by one thread, the source's."""
        if self._failed:
            raise FlowError("pipeline: parsing has stopped")
        if item is END:
            self.settle()
            self._pass_on(self._stream.finish_all())
            self._ended = True
            self._push(END)
        elif isinstance(item, Watermark | Checkpoint):
            self.settle()
            if isinstance(item, Watermark):
                self._pass_on(self._stream.flush())  # rows the stream still gathers are older than the watermark
            self._push(item)
        else:
            if self._has_saved:
                self._has_saved = False
                self._pass_on(self._stream.flush())
            self._queue.put(item)

    def settle(self) -> None:
        """Wait until every buffer handed in has been pushed and its batches have gone on."""
        for _ in range(2):
            if self._failed:
                raise FlowError("pipeline: parsing has stopped")
            self._queue.join()

    def stop(self) -> None:
        """The run is over: what still waits is not parsed, and the threads end."""
        self._failed = self._ended = True

    def checkpoint(self) -> bytes:
        return self._stream.checkpoint()

    def rejects(self) -> pa.Table:
        return self._stream.rejects()

    def _work(self) -> None:
        while True:
            try:
                item = self._queue.get(timeout=LOOK_AROUND_S)
            except Empty:
                if self._ended:
                    return
                continue
            try:
                if not self._failed:
                    sequence, buffer, *origin = _numbered(item)
                    batches = self._stream.push(buffer, sequence=sequence, origin=origin[0] if origin else 0)
                    if batches:
                        self._pass_on(batches)
            except BaseException as error:
                self._failed = True
                self._fail(error)
            finally:
                self._queue.task_done()

    def _pass_on(self, batches: list[Any]) -> None:
        with self._one_pushes:
            for batch in batches if self._turns is None else self._in_turn(batches):
                self._push(batch.data)

    def _in_turn(self, batches: list[Batch]) -> list[Batch]:
        """Of these and those that came too early, the ones whose turn it is: a call may overtake another one."""
        assert self._turns is not None
        due: list[Batch] = []
        for batch in batches:
            if batch.number < 0:
                due.append(batch)
                continue
            turns = self._turns[self._stream._numbering(batch.origin)]
            heapq.heappush(turns.early, (batch.number, batch))
            while turns.early and turns.early[0][0] == turns.next:
                due.append(heapq.heappop(turns.early)[1])
                turns.next += 1
        return due


def check_options(format: Any, options: dict[str, Any]) -> None:
    """An error for those that a stream does not have, or that are out of their range."""
    from formatter.mixed_stream import Stream

    Stream(format, **options)


def _numbered(item: Any) -> tuple[Any, ...]:
    if not isinstance(item, tuple | list) or len(item) not in (2, 3):
        raise OptionError(
            f"pipeline: parse: expected items (sequence, buffer) or (sequence, buffer, origin), found {shown(item)}"
        )
    return tuple(item)


def _stream(node: Parse) -> Stream:
    from formatter.mixed_stream import Stream  # which knows streams of several formats; it imports the batch policy

    if node.state is not None:
        return Stream.restore(node.format, node.state)
    columns = None if node.columns is None else list(node.columns)
    return Stream(node.format, columns=columns, filters=node.filters or None, **node.options)
