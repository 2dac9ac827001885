"""How much of an input may be bad. In: what was wrong with its records, range by range. Out: counts by code with the first
places, in one warning; an error where they are more than the caller bears. Knows no bytes and no formats.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from typing import Any

from formatter.errors import FormatError, OptionError, TooManyErrors, counted

PLACES_SHOWN = 3
_MEANT = {
    "collect": "rejected",
    "skip": "dropped (on_error='skip')",
    "null": "not read in full: what is bad in them is null (on_error='null')",
}


class RejectsWarning(UserWarning):
    """Records were passed over, or values made null, and nobody asked to see them: one warning a reading, with the
    counts by code and the first places. It is quiet where `max_errors=` is given, or `rejects=` to receive what "collect"
    rejects: there somebody takes care.

    Example:
        >>> import warnings, formatter as fm, pyarrow as pa
        >>> with warnings.catch_warnings(record=True) as seen:
        ...     warnings.simplefilter("always")
        ...     _ = fm.read(b"1\\nx\\n", fm.Csv(pa.schema([("id", pa.int64())])), on_error="skip")
        >>> print(str(seen[0].message).partition(", the first")[0])
        1 record dropped (on_error='skip')
    """


class Tolerance:
    """The bad records of one reading, of however many inputs. `most`: how many are borne, or which share of all."""

    def __init__(self, on_error: str, most: int | float | None, *, told: bool) -> None:
        _check(on_error, most)
        self.on_error = on_error
        self.most = most
        self.told = told  # the caller sees each of them
        self.records = 0
        self.counts: Counter[str] = Counter()
        self.first: list[FormatError] = []

    @property
    def wanted(self) -> int | None:
        """How many findings of a range have to be told in full; None: all."""
        return None if self.told or self.on_error == "raise" else PLACES_SHOWN

    def add(self, records: int, counts: dict[str, int], errors: list[FormatError]) -> None:
        """Those of one range, in order."""
        self.records += records
        self.counts.update(counts)
        self.first += errors[: PLACES_SHOWN - len(self.first)]
        if isinstance(self.most, int) and self.counts.total() > self.most:
            raise self._too_many(f"at most {counted(self.most, 'record')}")

    def end(self) -> None:
        """All inputs are read."""
        bad = self.counts.total()
        if isinstance(self.most, float) and bad > self.most * self.records:
            raise self._too_many(f"at most {self.most:.4g} of the records")
        if bad and not self.told and self.most is None:
            more = "; pass rejects=[] to receive them" if self.on_error == "collect" else ""
            records = counted(bad, "record")
            warnings.warn(
                f"{records} {_MEANT[self.on_error]}, {self._shown()}{more}", RejectsWarning, stacklevel=steps_out()
            )

    def begin_anew(self) -> None:
        """What has been told is not told again."""
        if self.most is None:
            self.counts.clear()
            self.first.clear()

    def _too_many(self, allowed: str) -> TooManyErrors:
        bad = self.counts.total()
        message = f"max_errors: expected {allowed} to be bad, found {bad} of {self.records}, {self._shown()}"
        return TooManyErrors(message, counts=dict(self.counts), records=self.records, **vars(self.first[0]))

    def _shown(self) -> str:
        places = "; ".join(map(str, self.first))
        return f"the first: {places}; by code: {', '.join(f'{n} {code}' for code, n in self.counts.most_common())}"


OURS = ("formatter.", "spark_udfs.")


def steps_out() -> int:
    """How many calls up from the one that warns somebody else's code stands, whom the warning is for."""
    frame: Any = sys._getframe(1)
    steps = 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(OURS):
        frame, steps = frame.f_back, steps + 1
    return steps


def _check(on_error: str, most: object) -> None:
    if most is None:
        return
    if (
        isinstance(most, bool)
        or not isinstance(most, int | float)
        or most < 0
        or (isinstance(most, float) and not most <= 1)
    ):
        raise OptionError(f"max_errors: expected a whole number from 0, or a share from 0.0 to 1.0, found {most!r}")
    if on_error == "raise":
        raise OptionError(
            "max_errors: expected on_error='null', 'skip' or 'collect'; with 'raise' the first error ends it"
        )
