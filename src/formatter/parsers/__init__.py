"""Values of one's own: a column's texts to an array by registered code, whatever text format they stand in. Some come along."""

from formatter.parsers import dates, identifiers, numbers, places
from formatter.parsers.registry import per_value, register_parser

__all__ = ["per_value", "register_parser"]

numbers.register()
identifiers.register()
dates.register()
places.register()
