"""Where streams join: a barrier passes once, when every named upstream has delivered it.

In: what each upstream delivers, in its own order: barriers, instants, data. Out: what may pass now, in order.
Refuses to know: threads (one lock makes calls safe, order is the callers'), queues, what a barrier triggers.

The rules. Ids are assigned by the head and grow per upstream and channel. The data and the control channel are aligned
apart. With `hold_data` whatever follows an arrived barrier on the data channel waits until that barrier has passed, so
what passed before it is a consistent cut. A barrier nobody can complete any more is an error, or is cancelled in band.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal

from formatter.batch_policy import check_timeout
from formatter.errors import BackpressureError, FlowError, OptionError
from formatter.uncopied import Uncopied

TERMINAL_KINDS = frozenset({"end", "stop", "shutdown"})  # nothing follows them
MAX_HELD_ROWS = 1 << 20  # a few batches per upstream; more means an upstream is stuck, and its peers should pause

Channel = Literal["data", "control"]
CHANNELS: tuple[Channel, Channel] = ("data", "control")


@dataclass(frozen=True, slots=True)
class Barrier:
    """A signal that passes once every upstream has delivered it. The head of the pipeline assigns growing ids.

    Args:
        kind: What it is for; after "end", "stop" and "shutdown" nothing follows.
        id: Its number.

    Raises:
        OptionError: `kind` is empty, or `id` is no whole number.

    Example:
        >>> import formatter as fm
        >>> fm.Barrier("end", 3).terminal
        True
    """

    kind: str
    id: int

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or not self.kind:
            raise OptionError(f"Barrier: kind: expected a name, found {self.kind!r}")
        if isinstance(self.id, bool) or not isinstance(self.id, int):
            raise OptionError(f"Barrier: id: expected an int, found {self.id!r}")

    @property
    def terminal(self) -> bool:
        """Whether nothing may follow it."""
        return self.kind in TERMINAL_KINDS


@dataclass(frozen=True, slots=True)
class Instant:
    """A signal that passes at once, before anything that waits.

    Args:
        kind: What it is for.

    Example:
        >>> import formatter as fm
        >>> fm.BarrierAligner(["left", "right"]).deliver("left", fm.Instant("flush"))
        [Instant(kind='flush')]
    """

    kind: str


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Stands in the output where a barrier would have: it will not complete, and what it held back follows.

    Attributes:
        barrier: Which one.
        missing: The upstreams that never delivered it.
        channel: "data" or "control".

    Example:
        >>> import formatter as fm
        >>> aligner = fm.BarrierAligner(["left", "right"], timeout=0)
        >>> aligner.deliver("left", fm.Barrier("checkpoint", 1)) + aligner.poll()
        [Cancelled(barrier=Barrier(kind='checkpoint', id=1), missing=('right',), channel='data')]
    """

    barrier: Barrier
    missing: tuple[str, ...]
    channel: Channel = "data"


@dataclass(slots=True)
class _Upstream:
    name: str
    open: bool = True
    ended: bool = False  # delivered a terminal barrier on the data channel
    last: dict[str, int | None] = field(default_factory=lambda: dict.fromkeys(CHANNELS))
    held: deque[Any] = field(default_factory=deque)  # what follows the barrier it waits behind


@dataclass(slots=True)
class _Pending:
    barrier: Barrier
    delivered: set[str] = field(default_factory=set)  # arrived or held behind an earlier barrier
    arrived: set[str] = field(default_factory=set)
    deadline: float = float("inf")


class BarrierAligner(Uncopied):
    """Where streams join: a barrier passes once, when every named upstream has delivered it.

    Args:
        upstreams: Their names.
        hold_data: Whether what follows an arrived barrier waits until it has passed: what passed before it is then a
            consistent cut.
        timeout: Seconds after which a barrier that some have delivered is cancelled. None: never.
        on_close: What a barrier does whose upstream has closed: go on without it ("shrink"), or "fail".
        max_held_rows: Rows that may wait behind a barrier.
        clock: What tells seconds.

    Raises:
        OptionError: An option is out of its range.

    Example:
        >>> import formatter as fm
        >>> aligner = fm.BarrierAligner(["left", "right"])
        >>> aligner.deliver("left", fm.Barrier("checkpoint", 1))
        []
        >>> aligner.deliver("right", fm.Barrier("checkpoint", 1))
        [Barrier(kind='checkpoint', id=1)]
    """

    _instead = "one aligner sees what all upstreams deliver; its lock makes it safe for their threads"

    def __init__(
        self,
        upstreams: Iterable[str],
        *,
        hold_data: bool = False,
        timeout: float | None = None,
        on_close: Literal["shrink", "fail"] = "shrink",
        max_held_rows: int = MAX_HELD_ROWS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        names = list(upstreams)
        if not names or isinstance(upstreams, str) or len(set(names)) < len(names):
            raise OptionError(f"BarrierAligner: upstreams: expected different names, found {upstreams!r}")
        check_timeout("BarrierAligner", timeout)
        if on_close not in ("shrink", "fail"):
            raise OptionError(f"BarrierAligner: on_close: expected 'shrink' or 'fail', found {on_close!r}")
        self._upstreams = {name: _Upstream(name) for name in names}
        self._pending: dict[str, dict[int, _Pending]] = {channel: {} for channel in CHANNELS}
        self._cancelled: dict[str, set[int]] = {channel: set() for channel in CHANNELS}
        self._hold_data = hold_data
        self._timeout = timeout
        self._on_close = on_close
        self._max_held_rows = max_held_rows
        self._held_rows = 0
        self._clock = clock
        self._passed: list[Any] = []  # survives an error raised by the call that produced it
        self._withheld: Barrier | None = None  # a terminal control barrier waiting for held data
        self._failure: str | None = None
        self._lock = Lock()

    def deliver(self, upstream: str, item: Any, *, channel: Channel = "data") -> list[Any]:
        """Takes one item of one upstream.

        Args:
            upstream: Its name.
            item: A batch, a `fm.Barrier` or a `fm.Instant`.
            channel: "data", or "control", which is aligned apart from it.

        Returns:
            What may pass now, in order.

        Raises:
            FlowError: Against the protocol; the item was not taken.
            BackpressureError: `max_held_rows` would be passed; deliver the item again later.
        """
        with self._lock:
            self._expire()
            source = self._check_source(upstream, channel)
            if isinstance(item, Instant):
                return [*self._take_passed(), item]
            if isinstance(item, Barrier):
                self._check_order(source, item, channel)
                if item.id in self._cancelled[channel]:  # came after its timeout
                    source.last[channel] = item.id
                    self._forget_cancelled(channel)
                    return self._take_passed()
                self._note(source, item, channel)
            elif channel == "control":
                raise FlowError(f"aligner: upstream {upstream!r}: data on the control channel; deliver it on 'data'")
            elif item is None:
                raise FlowError(
                    f"aligner: upstream {upstream!r}: expected a Barrier, an Instant or a batch, found None"
                )
            if channel == "data" and self._hold_data and self._is_blocked(source):
                self._hold(source, item)
            else:
                self._pass_on(source, item, channel)
            self._settle()
            return self._take_passed()

    def close(self, upstream: str) -> list[Any]:
        """`upstream` delivers nothing more. What it still holds counts; then barriers go on without it, or fail."""
        with self._lock:
            self._expire()
            source = self._known(upstream)
            if not source.open:
                return self._take_passed()
            source.open = False
            lacking = [entry.barrier for channel in CHANNELS for entry in self._pending[channel].values()
                       if upstream not in entry.delivered]  # fmt: skip
            if self._on_close == "fail" and lacking and not source.ended:
                self._fail(f"aligner: upstream {upstream!r} closed before it delivered {lacking[0]}")
            self._settle()
            return self._take_passed()

    def poll(self) -> list[Any]:
        """Cancel what is overdue; return that and what it held back."""
        with self._lock:
            self._expire()
            return self._take_passed()

    def missing(self, barrier_id: int, *, channel: Channel = "data") -> tuple[str, ...]:
        """The upstreams that the barrier `barrier_id` of `channel` waits for; empty when none is pending under that id."""
        with self._lock:
            entry = self._pending[channel].get(barrier_id)
            return self._missing(entry) if entry else ()

    @property
    def pending(self) -> tuple[Barrier, ...]:
        """The barriers that wait."""
        with self._lock:
            return tuple(entry.barrier for channel in CHANNELS for entry in self._pending[channel].values())

    @property
    def held_rows(self) -> int:
        """Rows that wait behind a barrier."""
        return self._held_rows

    @property
    def finished(self) -> bool:
        """Every upstream has closed and nothing waits."""
        with self._lock:
            return not any(source.open or source.held for source in self._upstreams.values())

    # Checks: nothing is changed before they have passed.

    def _known(self, upstream: str) -> _Upstream:
        if self._failure is not None:
            raise FlowError(self._failure)
        if upstream not in self._upstreams:
            raise FlowError(f"aligner: unknown upstream {upstream!r}; expected one of {', '.join(self._upstreams)}")
        return self._upstreams[upstream]

    def _check_source(self, upstream: str, channel: str) -> _Upstream:
        source = self._known(upstream)
        if channel not in CHANNELS:
            raise FlowError(f"aligner: unknown channel {channel!r}; expected 'data' or 'control'")
        if not source.open:
            raise FlowError(f"aligner: upstream {upstream!r} is closed; it cannot deliver anything more")
        if source.ended and channel == "data":
            raise FlowError(f"aligner: upstream {upstream!r} has delivered its terminal barrier; nothing may follow it")
        return source

    def _check_order(self, source: _Upstream, barrier: Barrier, channel: Channel) -> None:
        last = source.last[channel]
        if last is not None and barrier.id <= last:
            what = "a duplicate" if barrier.id == last else f"a regression, it has delivered {last}"
            raise FlowError(f"aligner: upstream {source.name!r}, {barrier}: {what}; ids grow per upstream")
        waiting = self._pending[channel]
        entry = waiting.get(barrier.id)
        if entry is not None and entry.barrier.kind != barrier.kind:
            others = ", ".join(sorted(entry.delivered))
            raise FlowError(f"aligner: upstream {source.name!r}, {barrier}: {others} delivered {entry.barrier}")
        for earlier in waiting.values():
            if earlier.barrier.id < barrier.id and source.name not in earlier.delivered:
                raise FlowError(
                    f"aligner: upstream {source.name!r} goes on to {barrier} and never delivered {earlier.barrier}, "
                    "which can then never complete"
                )
        if entry is None and barrier.id not in self._cancelled[channel]:
            for other in self._upstreams.values():
                reached = other.last[channel]
                if other is not source and other.open and reached is not None and reached > barrier.id:
                    raise FlowError(
                        f"aligner: upstream {source.name!r}, {barrier}: can never complete, for {other.name!r} "
                        f"is at {reached} and has not delivered it"
                    )
        gone = [each.name for each in self._upstreams.values() if not each.open and not each.ended]
        if self._on_close == "fail" and gone:
            self._fail(f"aligner: upstream {source.name!r}, {barrier}: can never complete, for {gone[0]!r} has closed")

    def _fail(self, message: str) -> None:
        self._failure = message
        raise FlowError(message)

    # Changes.

    def _note(self, source: _Upstream, barrier: Barrier, channel: Channel) -> None:
        source.last[channel] = barrier.id
        source.ended = source.ended or (barrier.terminal and channel == "data")
        entry = self._pending[channel].setdefault(barrier.id, _Pending(barrier))
        entry.delivered.add(source.name)

    def _hold(self, source: _Upstream, item: Any) -> None:
        rows = _row_count(item)
        if self._held_rows + rows > self._max_held_rows:
            raise BackpressureError(
                f"aligner: upstream {source.name!r}: {rows} more rows would pass the bound of {self._max_held_rows} "
                f"rows held behind a barrier; the item was not taken: deliver it again once the others have caught up"
            )
        self._held_rows += rows
        source.held.append(item)

    def _pass_on(self, source: _Upstream, item: Any, channel: Channel) -> None:
        """What stands first in its upstream: data passes, a barrier arrives."""
        if not isinstance(item, Barrier):
            self._passed.append(item)
            return
        entry = self._pending[channel].get(item.id)
        if entry is None:
            return  # cancelled while it was held
        entry.arrived.add(source.name)
        if self._timeout is not None and len(entry.arrived) == 1:
            entry.deadline = self._clock() + self._timeout

    def _settle(self) -> None:
        """Let complete barriers pass and what they held back follow, until nothing moves."""
        moved = True
        while moved:
            moved = False
            for channel in CHANNELS:
                for number in sorted(self._pending[channel]):  # a closed upstream may have begun a later one
                    entry = self._pending[channel][number]
                    if not self._missing(entry):
                        del self._pending[channel][number]
                        self._emit(entry.barrier, channel)
                        moved = True
                        break  # what it held back may complete the next one
            for source in self._upstreams.values():
                while source.held and not self._is_blocked(source):
                    item = source.held.popleft()
                    self._held_rows -= _row_count(item)
                    self._pass_on(source, item, "data")
                    moved = True
        if self._withheld is not None and not self._data_waits():
            self._passed.append(self._withheld)
            self._withheld = None

    def _emit(self, barrier: Barrier, channel: Channel) -> None:
        if channel == "control" and barrier.terminal and self._data_waits():
            self._withheld = barrier
        else:
            self._passed.append(barrier)

    def _data_waits(self) -> bool:
        return bool(self._pending["data"]) or any(source.held for source in self._upstreams.values())

    def _missing(self, entry: _Pending) -> tuple[str, ...]:
        """Those yet to arrive: the open ones, and closed ones that hold it behind an earlier barrier."""
        return tuple(
            source.name
            for source in self._upstreams.values()
            if source.name not in entry.arrived and (source.open or source.name in entry.delivered)
        )

    def _is_blocked(self, source: _Upstream) -> bool:
        return self._hold_data and any(source.name in entry.arrived for entry in self._pending["data"].values())

    def _expire(self) -> None:
        if self._timeout is None:
            return
        now = self._clock()
        for channel in CHANNELS:
            while overdue := [each for each in self._pending[channel].values() if each.deadline <= now]:
                entry = min(overdue, key=lambda each: each.barrier.id)
                del self._pending[channel][entry.barrier.id]
                self._cancelled[channel].add(entry.barrier.id)
                self._passed.append(Cancelled(entry.barrier, self._missing(entry), channel))
                self._settle()
            self._forget_cancelled(channel)

    def _forget_cancelled(self, channel: Channel) -> None:
        """A cancelled id that every open upstream has passed cannot come any more."""
        reached = [source.last[channel] for source in self._upstreams.values() if source.open]
        self._cancelled[channel] = {
            number for number in self._cancelled[channel] if any(last is None or last < number for last in reached)
        }

    def _take_passed(self) -> list[Any]:
        passed, self._passed = self._passed, []
        return passed


def _row_count(item: Any) -> int:
    if isinstance(item, Barrier):
        return 0
    return int(getattr(item, "num_rows", 1))
