"""Values of one's own: a column's texts to an array by registered code, whatever text format they stand in. Some come along."""

from formatter.parsers.per_value import per_value
from formatter.parsers.registry import register_parser

__all__ = ["per_value", "register_parser"]
