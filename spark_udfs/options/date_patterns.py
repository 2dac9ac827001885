"""Java's date patterns, as Spark takes them, in the strptime-like ones of formatter.

In: "dd/MM/yyyy HH:mm". Out: "%d/%m/%Y %H:%M"; None where ISO 8601 covers the pattern, so that nothing need be said. A
pattern letter without a like is refused with its name.
"""

from __future__ import annotations

import re

import formatter as fm

ISO = re.compile(
    r"yyyy-MM-dd|(yyyy|uuuu)-MM-dd('T'| )HH:mm(:ss(\.?S{1,6}|\[\.S{1,9}\]|,S{0})?)?(\[?(X{1,3}|x{2,3}|'Z'|Z)\]?)?"
)

# Runs of one letter and what reads the same texts.
DIRECTIVES = {
    "yyyy": "%Y",
    "uuuu": "%Y",
    "MM": "%m",
    "M": "%m",
    "MMM": "%b",
    "LLL": "%b",
    "MMMM": "%B",
    "LLLL": "%B",
    "dd": "%d",
    "d": "%d",
    "HH": "%H",
    "H": "%H",
    "hh": "%I",
    "h": "%I",
    "mm": "%M",
    "m": "%M",
    "ss": "%S",
    "s": "%S",
    "a": "%p",
    "D": "%j",
    "DDD": "%j",
    "Z": "%z",
    "xx": "%z",
    "xxx": "%z",
    "X": "%z",
    "XX": "%z",
    "XXX": "%z",
    "y": "%Y",
    "u": "%Y",
}
FRACTION = re.compile(r"S{1,9}")
TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']")


def strptime_of(pattern: str, kind: str, option: str) -> str | None:
    """The pattern in ours, or None where ISO 8601, which is always read, has it all."""
    if ISO.fullmatch(pattern):
        return None
    if "[" in pattern or "]" in pattern:
        raise _refused(kind, option, pattern, "parts in [] that may be missing; give the pattern of your data")
    out, at = "", 0
    while at < len(pattern):
        found = TOKEN.match(pattern, at)
        if found is None:
            raise _refused(kind, option, pattern, "a quote that is not closed")
        token = found[0]
        if token.startswith("'"):
            literal = "'" if token == "''" else found[1].replace("''", "'")
            out += literal.replace("%", "%%")
        elif token in DIRECTIVES:
            out += DIRECTIVES[token]
        elif FRACTION.fullmatch(token):
            out += "%f"
        elif token[0].isalpha():
            raise _refused(
                kind, option, pattern, f"{token!r}, which has no like here; read a string and use to_timestamp"
            )
        else:
            out += "%%" if token == "%" else token
        at = found.end()
    return out


def _refused(kind: str, option: str, pattern: str, what: str) -> fm.OptionError:
    return fm.OptionError(f"spark: {kind} option {option}={pattern!r} is not taken: it has {what}")
