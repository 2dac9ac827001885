"""Objects that are what they are in one place: a copy would be a second name for the same engine, or locks that nobody shares.

In: a class, and what to do instead of copying. Out: that, as an error, from `copy` and `pickle`. Refuses to know: what it holds.
"""

from __future__ import annotations

from typing import ClassVar, NoReturn, SupportsIndex


class Uncopied:
    _instead: ClassVar[str]

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        kind = next(each for each in type(self).__mro__ if "_instead" in vars(each))
        raise TypeError(f"{kind.__name__}: it can be neither copied nor pickled; {self._instead}")
