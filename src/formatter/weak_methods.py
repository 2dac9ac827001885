"""Methods that others call without keeping their object alive: no cycle, so that what is let go of is freed at once.

In: a method of an object that outlives every call. Out: a function. Refuses to know: what it does.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Taken = ParamSpec("Taken")
Given = TypeVar("Given")


def weakly(method: Callable[Taken, Given]) -> Callable[Taken, Given]:
    known = weakref.WeakMethod(method)

    def call(*args: Taken.args, **options: Taken.kwargs) -> Given:
        found = known()
        assert found is not None, "only its own object's calls lead here"
        return found(*args, **options)

    return call
