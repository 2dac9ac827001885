"""What inference decided about an input's dialect, each decision with its reason. In: decisions. Out: the options of fm.Csv."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from formatter.formats import Csv
from formatter.inference.given import Given

_TEXT_OPTIONS = ("delimiter", "record_delimiter", "quote", "escape", "comment")


@dataclass
class Decision:
    """One option, why it was chosen, and where in the sample that shows."""

    option: str
    value: Any
    why: str


@dataclass
class Dialect:
    """Options of fm.Csv beside the schema; those left out have their defaults."""

    decisions: dict[str, Decision] = field(default_factory=dict)

    def decide(self, option: str, value: Any, why: str) -> None:
        self.decisions[option] = Decision(option, value, why)

    def take(self, given: Given) -> None:
        """What the caller knows stands, whatever the sample speaks for."""
        for option, value in given.options.items():
            self.decide(option, value, "given")

    def __getitem__(self, option: str) -> Any:
        return self.decisions[option].value

    def has(self, option: str) -> bool:
        return option in self.decisions

    def csv(self, schema: pa.Schema) -> Csv:
        options = {decision.option: decision.value for decision in self.decisions.values()}
        for option in _TEXT_OPTIONS:
            value = options.get(option)
            if isinstance(value, bytes):
                options[option] = _as_text(value)
        return Csv(schema, **options)


def _as_text(separator: bytes) -> str | bytes:
    try:
        return separator.decode()
    except UnicodeDecodeError:
        return separator
