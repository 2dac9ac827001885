"""What consumers hear when the stream they read cannot go on.

In: an error, and those who wait. Out: each raises FlowError behind what it has. Refuses to know: why.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from formatter import _core
from formatter.errors import ClosedError, FlowError
from formatter.shared.consumer import Consumer

if TYPE_CHECKING:
    from formatter.shared.stream import SharedStream

_Class = TypeVar("_Class", bound=type)


def tells_consumers(names: str) -> Callable[[_Class], _Class]:
    """Memory may run out in these methods: if the stream is closed for it, those that wait for batches are told."""

    def telling(stream_class: _Class) -> _Class:
        for name in names.split():
            setattr(stream_class, name, _told(getattr(stream_class, name)))
        return stream_class

    return telling


def _told(call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(call)
    def told(self: SharedStream, *args: Any, **options: Any) -> Any:
        try:
            return call(self, *args, **options)
        except MemoryError as error:
            broke_off(self, error)
            raise

    return told


def broke_off(stream: SharedStream, error: MemoryError) -> None:
    if not any(lane.closed for lane in stream._lanes):
        return  # it goes on
    with stream._control:
        stream._finished = stream._barred = True
        gone = list(stream._live.values())
        stream._live.clear()
    fail_all(gone, error)


def left_to_parent(stream: SharedStream) -> None:
    """In the child of a fork: who pushes and who reads is in the parent, and may hold any lock."""
    stream._control = threading.Lock()
    stream._deadlines.renew_locks()
    for lane in stream._lanes:
        lane.leave_to_parent()
    for consumer in stream._live.values():
        consumer.renew_locks()
    fail_all(stream._live.values(), ClosedError(_core.CLOSED_BY_FORK))


def fail_all(consumers: Iterable[Consumer], error: BaseException) -> None:
    for consumer in consumers:
        failure = FlowError(f"subscription {consumer.name!r}: the stream failed: {error}")
        failure.__cause__ = error
        consumer.close(failure)
