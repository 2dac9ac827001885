"""Locks in the child of a fork, where nobody lets go of those that other threads held.

In: objects that have locks. Out: each is asked for new ones in every child. Refuses to know: what they guard.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class HasLocks(Protocol):
    def _renew_locks(self) -> None: ...


_holders: weakref.WeakSet[HasLocks] = weakref.WeakSet()


def renewed_in_children(holder: HasLocks) -> None:
    """For as long as it lives."""
    _holders.add(holder)


def _renew_all() -> None:
    for holder in tuple(_holders):
        holder._renew_locks()


os.register_at_fork(after_in_child=_renew_all)
