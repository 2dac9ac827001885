"""A plan at work: a thread for each source, each parsing worker and each bridge inside the plan.

In: rewritten nodes. Out: consumers of actions, checkpoint ids with every source's state, errors at every consumer.
Refuses to know: rewriting, and what items mean beyond rows, watermark, checkpoint and end.

An item pushed from stage to stage is a record batch, a Watermark, a Checkpoint or END; a push returns when the item has
reached the next bridge. Stages below one bridge run in their source's thread; a fan-in serialises its upstreams.
"""

from __future__ import annotations

import functools
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from formatter._core import Checkpoint, Consumer, Producer, Rows, Watermark
from formatter.batch import Batch
from formatter.diagnostics import rejects_table
from formatter.errors import FlowError
from formatter.flow.bridge import Bridge, BridgeStats, FanOut
from formatter.flow.fan_in import END, FanIn
from formatter.flow.parsing import ParsingThreads
from formatter.flow.stages import Aligned, Filter, Handover, Map, Merge, Node, Parse, Select, Source
from formatter.row_choice import BatchFilter

Push = Callable[[Any], None]
STOP_S = 5.0  # a source's own iterable may block for ever; its thread is then left behind, as a daemon


@dataclass(frozen=True, slots=True)
class SourceState:
    """Where a source stood at a checkpoint: items taken, its own snapshot if it makes one, its parser's state."""

    position: int
    snapshot: Any = None
    stream: bytes | None = None


LAST_STATE_TIMEOUT_S = 60.0  # far beyond what noting a state takes; a thread that died never notes one


class _Feed:
    """A source's thread reads checkpoint requests here and leaves its states."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.items: Any = source.items
        self.lease: Any = None  # on a shared stream: taken before the run begins, given back with its end
        subscribe = getattr(source.items, "subscribe", None)
        if callable(subscribe):
            taken = source.name in getattr(source.items, "subscriptions", ())
            self.lease = self.items = subscribe(source.schema().names, name=None if taken else source.name)
        self.requests: deque[int] = deque()
        self.position = 0
        self.states: dict[int | None, SourceState] = {}  # by epoch; None: as it ended
        self.parsing: ParsingThreads | None = None
        self.ending = threading.Event()  # its end is on its way: barriers may go on without it
        self.ended = threading.Event()  # its last state is noted

    def note(self, epoch: int | None) -> None:
        snapshot = getattr(self.source.items, "snapshot", None)
        stream = self.parsing.checkpoint() if self.parsing else None
        self.states[epoch] = SourceState(self.position, snapshot() if callable(snapshot) else None, stream)


class Running:
    """Iterate it (one output) or its `consumers` (several, each in its own thread); close it to stop early."""

    def __init__(self, outputs: dict[str, Node]) -> None:
        self._parents: dict[int, list[tuple[Node, int]]] = {}
        self._bridges: dict[int, Bridge] = {}
        self._fan_ins: dict[int, FanIn] = {}
        self._feeds: list[_Feed] = []
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._epoch = 0
        self.error: BaseException | None = None
        nodes: dict[int, Node] = {}
        for node in outputs.values():
            self._link(node, nodes)
        for node in nodes.values():
            if isinstance(node, Handover):
                self._bridges[id(node)] = Bridge(
                    node.inputs[0].schema(), capacity=node.capacity, policy=node.policy,
                    backpressure=node.backpressure, key=node.key,
                )  # fmt: skip
        self.consumers: dict[str, Consumer] = {name: self._bridges[id(node)].consumer for name, node in outputs.items()}
        self._nodes = nodes  # keeps ids alive
        for node in nodes.values():
            if isinstance(node, Source):
                feed = _Feed(node)
                self._feeds.append(feed)
                self._start(f"source {node.name}", partial(self._read, feed, self._out(node, feed)))
            elif isinstance(node, Handover) and id(node) in self._parents:
                self._start("bridge", partial(_pump, self._bridges[id(node)].consumer, self._out(node, None)))
        for thread in self._threads:
            thread.start()

    def __iter__(self) -> Iterator[Any]:
        if len(self.consumers) != 1:
            raise FlowError("pipeline: it has several outputs; iterate each of `consumers` in its own thread")
        (consumer,) = self.consumers.values()
        try:
            yield from consumer
        finally:
            self.close()

    def checkpoint(self) -> int:
        """Cut every source's stream here. Returns the epoch; consumers meet Checkpoint(epoch) when all have come."""
        with self._lock:
            self._epoch += 1
            for feed in self._feeds:
                feed.requests.append(self._epoch)
            return self._epoch

    def state(self, epoch: int) -> dict[str, SourceState]:
        """Every source's state at a checkpoint that a consumer has met. What ended before it gives its last state."""
        found = {}
        for feed in self._feeds:
            if epoch not in feed.states and feed.ending.is_set():
                # Its end let the checkpoint pass; the state behind that end follows at once.
                feed.ended.wait(LAST_STATE_TIMEOUT_S)
            state = feed.states.get(epoch, feed.states.get(None))
            if state is None:
                raise FlowError(f"pipeline: checkpoint {epoch} has not reached source '{feed.source.name}' yet")
            found[feed.source.name] = state
        return found

    def rejects(self) -> pa.Table:
        """Records that the plan's parsers rejected since the last call (on_error="collect"): as `fm.Stream.rejects`."""
        tables = [feed.parsing.rejects() for feed in self._feeds if feed.parsing]
        return pa.concat_tables(tables or [rejects_table(())])

    @property
    def stats(self) -> list[BridgeStats]:
        """Of every bridge, outputs first."""
        return [bridge.stats for bridge in self._bridges.values()]

    def close(self) -> None:
        """Stop early or clean up: consumers close, threads end. Closing again does nothing."""
        self._stopping.set()
        for bridge in self._bridges.values():
            bridge.consumer.close()
        self._stop_stages()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(STOP_S)

    def fail(self, error: BaseException) -> None:
        """A thread's error ends the run: every consumer gets what was sent and then FlowError from it."""
        with self._lock:
            if self.error is not None or self._stopping.is_set():
                return
            self.error = error
        self._stopping.set()
        for bridge in self._bridges.values():
            bridge.producer.fail(error)
        self._stop_stages()

    def _stop_stages(self) -> None:
        for fan_in in self._fan_ins.values():
            fan_in.stop()
        for feed in self._feeds:
            if feed.parsing:
                feed.parsing.stop()
            if feed.lease is not None:
                feed.lease.close()

    # Wiring: what a stage pushes to.

    def _link(self, node: Node, nodes: dict[int, Node]) -> None:
        if id(node) in nodes:
            return
        nodes[id(node)] = node
        for number, each in enumerate(node.inputs):
            self._parents.setdefault(id(each), []).append((node, number))
            self._link(each, nodes)

    def _out(self, node: Node, feed: _Feed | None) -> Push:
        edges = self._parents[id(node)]
        if len(edges) == 1:
            return self._entry(*edges[0], feed)
        return _branching([leaf for edge in edges for leaf in self._leaves(*edge)])

    def _entry(self, node: Node, number: int, feed: _Feed | None) -> Push:
        """The push that feeds one input of a node; made once, for a fan-in is shared by its upstreams."""
        if isinstance(node, Handover):
            return _sender(self._bridges[id(node)].producer)
        if isinstance(node, Aligned):
            if id(node) not in self._fan_ins:
                self._fan_ins[id(node)] = FanIn(
                    node.upstream_count, node.hold_data, node.timeout, self._out(node, None)
                )
            return self._fan_ins[id(node)].entry(number)
        push = self._out(node, feed)
        if isinstance(node, Parse):
            parsing = ParsingThreads(node, push, self.fail)
            self._threads += parsing.threads
            if feed is not None:
                feed.parsing = parsing
            return parsing.push
        change = _row_operator(node)
        return push if change is None else _operating(change, push)

    def _leaves(self, node: Node, number: int) -> list[tuple[list[Callable[[Any], Any]], Producer]]:
        """A shared stage's branches: the row operators on the way, and the bridge at the end."""
        if isinstance(node, Handover):
            return [([], self._bridges[id(node)].producer)]
        change = _row_operator(node)
        return [
            ([*([change] if change else []), *operators], producer)
            for edge in self._parents[id(node)]
            for operators, producer in self._leaves(*edge)
        ]

    # Threads.

    def _start(self, name: str, work: Callable[[], None]) -> None:
        def run() -> None:
            try:
                work()
            except BaseException as error:
                self.fail(error)

        self._threads.append(threading.Thread(target=run, name=f"formatter {name}", daemon=True))

    def _read(self, feed: _Feed, push: Push) -> None:
        columns = feed.source.columns
        for item in feed.items:
            self._serve(feed, push)
            if self._stopping.is_set():
                return
            if isinstance(item, Checkpoint):
                raise FlowError(f"pipeline: source '{feed.source.name}' made {item}; ids are assigned by checkpoint()")
            if isinstance(item, Rows):
                item = item.batch
            elif isinstance(item, Batch):
                item = item.view(feed.source.schema())
            elif columns is not None and isinstance(item, pa.RecordBatch):
                item = item.select(list(columns))
            push(item)
            feed.position += 1
        self._serve(feed, push)
        feed.ending.set()
        push(END)
        feed.note(None)
        feed.ended.set()

    def _serve(self, feed: _Feed, push: Push) -> None:
        while feed.requests:
            epoch = feed.requests.popleft()
            if feed.parsing:
                feed.parsing.settle()
            feed.note(epoch)
            push(Checkpoint(epoch))


def _pump(consumer: Consumer, push: Push) -> None:
    for action in consumer:
        push(action.batch if isinstance(action, Rows) else action)
    push(END)


def _row_operator(node: Node) -> Callable[[Any], Any] | None:
    if isinstance(node, Select):
        names = list(node.columns)
        return lambda batch: batch.select(names)
    if isinstance(node, Filter):
        return BatchFilter(node.filters, node.schema()).kept
    if isinstance(node, Map):
        return node.function
    if isinstance(node, Merge):
        return None
    raise FlowError(f"pipeline: {node.label()} cannot stand here")


def _operating(change: Callable[[Any], Any], push: Push) -> Push:
    def through(item: Any) -> None:
        if isinstance(item, pa.RecordBatch):
            item = change(item)
            if item.num_rows == 0:
                return
        push(item)

    return through


def _sender(producer: Producer) -> Push:
    """Into a bridge. Pushes come one at a time, from whichever thread's turn it is: ownership goes back after each."""

    def send(item: Any) -> None:
        if not _send_control(producer, item):
            producer.send(item)
        if item is not END:
            producer.release()

    return send


def _send_control(target: Producer | FanOut, item: Any) -> bool:
    """Whether the item was a control message; if so it is sent."""
    if item is END:
        target.close()
    elif isinstance(item, Watermark):
        target.watermark(item.ts)
    elif isinstance(item, Checkpoint):
        target.checkpoint(item.epoch)
    else:
        return False
    return True


def _branching(leaves: list[tuple[list[Callable[[Any], Any]], Producer]]) -> Push:
    """Into several bridges: each batch once all of them take it, each control message to all or none."""
    producers = [producer for _, producer in leaves]
    fan_out = FanOut(producers)

    def send(item: Any) -> None:
        if not _send_control(fan_out, item):
            batches = [
                functools.reduce(lambda batch, change: change(batch), operators, item) for operators, _ in leaves
            ]
            for producer, batch in zip(producers, batches, strict=True):
                producer._wait_until_accepting(batch)
            for producer, batch in zip(producers, batches, strict=True):
                producer.send(batch)
        if item is not END:
            for producer in producers:
                producer.release()

    return send
