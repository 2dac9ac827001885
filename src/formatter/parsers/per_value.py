"""A function of one text as one of columns. In: such a function. Out: what parses a column. Refuses to know names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from formatter.errors import OptionError


@dataclass(frozen=True)
class PerValue:
    """A function of one text, for columns of them."""

    function: Callable[[str], Any]

    def values(self, texts: pa.Array, kind: pa.DataType) -> pa.Array:
        return pa.array([None if text is None else self._value(text) for text in texts.to_pylist()], kind)

    def _value(self, text: str) -> Any:
        try:
            return self.function(text)
        except ValueError:
            return None


def per_value(function: Callable[[str], Any]) -> PerValue:
    """A function of one text, as `fm.register_parser` takes it.

    Args:
        function: Takes a str and gives what `pyarrow.array` takes, or None; a `ValueError` is one, too.

    Returns:
        What to register.

    Raises:
        OptionError: What cannot be called.

    Example:
        >>> import fractions, formatter as fm, pyarrow as pa
        >>> fm.register_parser("fraction", pa.float64(), fm.per_value(lambda text: float(fractions.Fraction(text))))
        >>> schema = pa.schema([pa.field("share", pa.float64(), metadata={"parser": "fraction"})])
        >>> fm.read(b"3/4\\nhalf\\n", fm.Csv(schema), on_error="null").to_pylist()
        [{'share': 0.75}, {'share': None}]
    """
    if not callable(function):
        raise OptionError(f"per_value: function: expected a function of one text, found {function!r}")
    return PerValue(function)
