"""What stands behind an input's table: its last records, or other tables. In: windows of bytes. Out: where the table ends.

Knows no values: records are counted, by a plan of no columns.
"""

from __future__ import annotations

from typing import Any

from formatter import _core
from formatter.formats import Csv
from formatter.formats.csv import TABLE_ENDS
from formatter.plans import Format, make_plan


class Footer:
    """The last records of one input, which are not known before its end: each window keeps that many back."""

    ended = False  # there is no end before that of all

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


class OtherTables:
    """What begins where the first table of one input ends, and goes on to the end of all."""

    def __init__(self, format: Csv) -> None:
        self._search = _core.TableEndSearch(
            make_plan(format, columns=[]).engine, TABLE_ENDS.index(str(format.table_end))
        )

    def follow_preamble(self, start: Any, whole: bool) -> None:
        self._search.begin(start, whole)

    def begin_in(self, window: memoryview, first_record: int, last: bool) -> int:
        return first_record + self._search.find(window[first_record:], input_ends=last)

    @property
    def ended(self) -> bool:
        """Whether the table is over, whatever comes."""
        return self._search.ended


def footer_of(format: Format) -> Footer | OtherTables | None:
    if not isinstance(format, Csv):
        return None
    return Footer(format) if format.skip_footer else OtherTables(format) if format.table_end else None
