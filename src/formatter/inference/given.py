"""What a caller knows of a dialect. In: options of fm.Csv by name. Out: the same, checked, and as separators of a reading.

It knows no sample: what is given is never held against one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from formatter.errors import OptionError
from formatter.formats import Csv
from formatter.formats.checks import as_bytes
from formatter.mistaken_arguments import called_here

_TEXTS = {
    "delimiter": "delimiter",
    "record_delimiter": "record_end",
    "quote": "quote",
    "escape": "escape",
    "comment": "comment",
}
MAY_BE_GIVEN = (*_TEXTS, "quotes", "newlines_in_quotes")


@dataclass(frozen=True)
class Given:
    """Options that are not to be inferred. `separators` are those among them that decide where fields and records are, by
    their names in a reading."""

    options: Mapping[str, Any] = field(default_factory=dict)
    separators: Mapping[str, Any] = field(default_factory=dict)


def checked(options: Mapping[str, Any]) -> Given:
    """Raises OptionError for what is no option of a dialect, or out of its range."""
    for name in options:
        if name not in MAY_BE_GIVEN:
            meant = called_here(name, MAY_BE_GIVEN)
            raise OptionError(
                f"infer: expected one of {', '.join(MAY_BE_GIVEN)} beside the source, found {name!r}; "
                + (f"it is called {meant!r} here" if meant else "all else is found, or corrected in what comes")
            )
    Csv(pa.schema([]), **options)
    separators: dict[str, Any] = {
        own: as_bytes(options[name], name) if options[name] else None for name, own in _TEXTS.items() if name in options
    }
    if "quotes" in options:
        separators["sticky"] = options["quotes"] == "sticky"
    if "newlines_in_quotes" in options:
        separators["newlines_in_quotes"] = options["newlines_in_quotes"]
    return Given(options, separators)
