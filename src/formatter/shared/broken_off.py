"""What consumers hear when the stream they read cannot go on.

In: an error, and those who wait. Out: each raises FlowError behind what it has. Refuses to know: why.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from formatter.errors import FlowError
from formatter.shared.consumer import Consumer

if TYPE_CHECKING:
    from formatter.shared.stream import SharedStream

_Call = TypeVar("_Call", bound=Callable[..., Any])


def tells_consumers(call: _Call) -> _Call:
    """A method in which memory may run out: if the stream is closed for it, those that wait for batches are told."""

    @functools.wraps(call)
    def told(self: SharedStream, /, *args: Any, **options: Any) -> Any:
        try:
            return call(self, *args, **options)
        except MemoryError as error:
            self._broke_off(error)
            raise

    return told  # type: ignore[return-value]


def fail_all(consumers: Iterable[Consumer], error: BaseException) -> None:
    for consumer in consumers:
        failure = FlowError(f"subscription {consumer.name!r}: the stream failed: {error}")
        failure.__cause__ = error
        consumer.close(failure)
