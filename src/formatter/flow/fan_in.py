"""A fan-in at work: upstream threads push, one at a time, and what the aligner lets pass goes on.

In: items of numbered upstreams. Out: rows, checkpoints all upstreams have delivered, the watermark
they have all reached.
Refuses to know: threads' names, bridges.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from formatter._core import Checkpoint, Watermark
from formatter.errors import BackpressureError, FlowError
from formatter.flow.barriers import Barrier, BarrierAligner, Cancelled

RETRY_S = 0.05  # how long an upstream with too many held rows sleeps before it looks at stop()


class _End:
    def __repr__(self) -> str:
        return "END"


END = _End()


@dataclass(frozen=True, slots=True)
class _Reached:
    """An upstream's watermark or end, in its place among that upstream's rows."""

    upstream: str
    watermark: Watermark | None  # None: its end
    num_rows: int = 0


class FanIn:
    def __init__(
        self, upstream_count: int, hold_data: bool, timeout: float | None, push: Callable[[Any], None]
    ) -> None:
        names = [str(number) for number in range(upstream_count)]
        self._aligner = BarrierAligner(names, hold_data=hold_data, timeout=timeout)
        self._push = push
        self._turn = threading.Condition()
        self._reached: dict[str, Any] = dict.fromkeys(names)  # open upstreams and their watermark
        self._passed: Any = None
        self._stopped = False
        self.cancelled: list[Cancelled] = []

    def entry(self, number: int) -> Callable[[Any], None]:
        upstream = str(number)
        return lambda item: self._take(upstream, item)

    def stop(self) -> None:
        """The run is over: whoever waits here gives up."""
        self._stopped = True

    def _take(self, upstream: str, item: Any) -> None:
        if isinstance(item, Checkpoint):
            item = Barrier("checkpoint", item.epoch)
        elif isinstance(item, Watermark):
            item = _Reached(upstream, item)
        with self._turn:
            if item is END:
                self._deliver(upstream, _Reached(upstream, None))
                self._pass_on(self._aligner.close(upstream))
                if self._aligner.finished:
                    self._push(END)
            else:
                self._deliver(upstream, item)
            self._turn.notify_all()

    def _deliver(self, upstream: str, item: Any) -> None:
        while True:
            if self._stopped:
                raise FlowError("pipeline: stopped")
            try:
                passing = self._aligner.deliver(upstream, item)
            except BackpressureError:  # too much is held: let the upstreams that lag behind catch up
                self._turn.wait(RETRY_S)
                continue
            self._pass_on(passing)
            return

    def _pass_on(self, passing: list[Any]) -> None:
        for item in passing:
            if isinstance(item, Barrier):
                self._push(Checkpoint(item.id))
            elif isinstance(item, Cancelled):
                self.cancelled.append(item)
            elif isinstance(item, _Reached):
                self._advance(item)
            else:
                self._push(item)

    def _advance(self, item: _Reached) -> None:
        """The joint watermark is the least of all open upstreams' and waits for one of each."""
        if item.watermark is None:
            del self._reached[item.upstream]
        else:
            self._reached[item.upstream] = item.watermark.ts
        if not self._reached or any(ts is None for ts in self._reached.values()):
            return
        joint = min(self._reached.values())
        if self._passed is None or joint > self._passed:
            self._passed = joint
            self._push(Watermark(joint))
