"""Records at an input's end that are none of its table. In: windows of bytes. Out: where the records before them end.

Knows no values: records are counted, by a plan of no columns.
"""

from __future__ import annotations

from typing import Any

from formatter.formats import Csv
from formatter.plans import Format, make_plan


class Footer:
    """The last records of one input, which are not known before its end: each window keeps that many back."""

    def __init__(self, format: Csv) -> None:
        self._plan = make_plan(format, columns=[], on_error="skip")
        self._engine = self._plan.engine
        self._records = format.skip_footer

    def follow_preamble(self, start: Any, whole: bool) -> None:
        """An input begins so: how many fields a record has may be its header's to say."""
        found = self._plan.header(start, whole)
        self._engine = self._plan.ordered(start) if found is None else found[0]

    def begin_in(self, window: memoryview, first_record: int, last: bool) -> int:
        """Where the footer begins in a window, or would if the input ended here."""
        before: int = self._engine.bytes_before_footer(window[first_record:], self._records, input_ends=last)
        return first_record + before


def footer_of(format: Format) -> Footer | None:
    return Footer(format) if isinstance(format, Csv) and format.skip_footer else None
