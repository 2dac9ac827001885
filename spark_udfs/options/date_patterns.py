"""Java's date patterns, as Spark takes them, in the strptime-like ones of formatter.

In: "dd/MM/yyyy HH:mm". Out: "%d/%m/%Y %H:%M"; None where ISO 8601 covers the pattern, so that nothing need be said. A
pattern letter without a like is an error that names it.
"""

from __future__ import annotations

import re

ISO = re.compile(
    r"yyyy-MM-dd|(yyyy|uuuu)-MM-dd('T'| )HH:mm(:ss(\.?S{1,6}|\[\.S{1,9}\]|,S{0})?)?(\[?(X{1,3}|x{2,3}|'Z'|Z)\]?)?"
)

# What reads the same texts as runs of one letter.
READS = {
    "%Y": ("yyyy", "uuuu", "y", "u"), "%m": ("MM", "M"), "%b": ("MMM", "LLL"), "%B": ("MMMM", "LLLL"), "%d": ("dd", "d"),
    "%H": ("HH", "H"), "%I": ("hh", "h"), "%M": ("mm", "m"), "%S": ("ss", "s"), "%p": ("a",), "%j": ("D", "DDD"),
    "%z": ("Z", "xx", "xxx", "X", "XX", "XXX"),
}  # fmt: skip
DIRECTIVES = {run: directive for directive, runs in READS.items() for run in runs}
FRACTION = re.compile(r"S{1,9}")
TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']")


def strptime_of(pattern: str) -> str | None:
    """The pattern in ours, or None where ISO 8601, which is always read, has it all; ValueError names what has no like."""
    if ISO.fullmatch(pattern):
        return None
    if "[" in pattern or "]" in pattern:
        raise ValueError("parts in [] that may be missing; give the pattern of your data")
    out, at = "", 0
    while at < len(pattern):
        found = TOKEN.match(pattern, at)
        if found is None:
            raise ValueError("a quote that is not closed")
        token = found[0]
        if token.startswith("'"):
            literal = "'" if token == "''" else found[1].replace("''", "'")
            out += literal.replace("%", "%%")
        elif token in DIRECTIVES:
            out += DIRECTIVES[token]
        elif FRACTION.fullmatch(token):
            out += "%f"
        elif token[0].isalpha():
            raise ValueError(f"{token!r}, which has no like here; read a string and use to_timestamp")
        else:
            out += "%%" if token == "%" else token
        at = found.end()
    return out
