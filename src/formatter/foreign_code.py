"""What code that is not ours raised while the engine ran it: parsers, indexers. In: errors. Out: the same, once the engine has
returned. Refuses to know who raised them."""

from __future__ import annotations

import threading

_kept = threading.local()


def keep(error: BaseException) -> None:
    """Until this thread is back from the engine, which goes on meanwhile with what is not right: the first one counts."""
    if getattr(_kept, "error", None) is None:
        _kept.error = error


def taken() -> BaseException | None:
    """What was kept of this thread; it is then no longer."""
    error: BaseException | None = getattr(_kept, "error", None)
    if error is not None:
        _kept.error = None
    return error


def raise_kept() -> None:
    if (error := taken()) is not None:
        raise error
