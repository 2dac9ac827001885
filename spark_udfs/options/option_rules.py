"""What each of Spark's csv and json reader options means to us: one rule an option.

In: a Draft with the options given. Out: arguments for fm.Csv or fm.Json in it, and a line that says what was done. A rule
takes a meaning that is the same, or refuses with the reason and the remedy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

import formatter as fm
from spark_udfs.options.date_patterns import strptime_of

UTC_NAMES = ("UTC", "Z", "GMT", "ETC/UTC", "+00:00")


@dataclass(frozen=True)
class Line:
    """One option, as given (None: not given), and what became of it."""

    option: str
    given: str | None
    becomes: str


@dataclass
class Draft:
    kind: str
    given: dict[str, str]
    schema: pa.Schema = field(default_factory=lambda: pa.schema([]))
    format: dict[str, Any] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    header_by_position: bool = False
    name_glob: str | None = None
    use_folders: bool = True
    searches_folders: bool = False

    def text(self, option: str, otherwise: str) -> str:
        return self.given.get(option, otherwise)

    def flag(self, option: str, otherwise: bool = False) -> bool:
        value = self.given.get(option)
        if value is None:
            return otherwise
        if value.lower() not in ("true", "false"):
            raise refused(self.kind, option, value, "it is true or false")
        return value.lower() == "true"

    def note(self, option: str, becomes: str) -> None:
        self.lines.append(Line(option, self.given.get(option), becomes))


Rule = Callable[[Draft], None]


def spelled(value: Any) -> str:
    """As Spark's reader turns option values into text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def refused(kind: str, option: str, value: str, reason: str) -> fm.OptionError:
    return fm.OptionError(f"spark: {kind} option {option}={value!r} is not taken: {reason}")


# ------------------------------------------------------------------------------------------------ kinds of rules


def only(option: str, taken: tuple[str, ...], reason: str, becomes: str = "as it is") -> tuple[str, Rule]:
    """Takes these values (in any case) and refuses the rest."""

    def rule(draft: Draft) -> None:
        value = draft.given.get(option)
        if value is None:
            return
        if value.lower() not in taken:
            raise refused(draft.kind, option, value, reason)
        draft.note(option, becomes)

    return option, rule


def no_effect(option: str, why: str) -> tuple[str, Rule]:
    def rule(draft: Draft) -> None:
        if option in draft.given:
            draft.note(option, f"no effect: {why}")

    return option, rule


def never(option: str, reason: str) -> tuple[str, Rule]:
    return only(option, (), reason)


def handled(option: str) -> tuple[str, Rule]:
    """By another rule, or by format_from_options."""
    return option, lambda draft: None


# ------------------------------------------------------------------------------------------------ csv


def _one_char(draft: Draft, option: str, value: str) -> str | None:
    text = value.replace("\\u0000", "\0").replace("\\t", "\t") if len(value) > 1 else value
    if text in ("", "\0"):
        return None
    if len(text.encode()) != 1:
        raise refused(draft.kind, option, value, "it is one character of ASCII")
    return text


def _sep(draft: Draft) -> None:
    value = draft.text("sep", ",")
    separator = {"\\t": "\t", "\\u0001": "\x01", "\\\\": "\\"}.get(value, value)
    if separator != ",":
        draft.format["delimiter"] = separator
    if "sep" in draft.given:
        draft.note("sep", f"delimiter={separator!r}")


def _quote(draft: Draft) -> None:
    if "quote" in draft.given:
        draft.format["quote"] = _one_char(draft, "quote", draft.given["quote"])
        draft.note("quote", f"quote={draft.format['quote']!r}")


def _escape(draft: Draft) -> None:
    quote = draft.format.get("quote", '"')
    if "escape" not in draft.given:
        draft.note(
            "escape",
            "quotes inside quotes are doubled, as RFC 4180 has them and Spark has with escape='\"' (its default is a "
            "backslash); for data with backslashes give escape='\\\\'",
        )
        return
    escape = _one_char(draft, "escape", draft.given["escape"])
    if escape is None or escape == quote:
        draft.note("escape", "quotes inside quotes are doubled")
        return
    draft.format["escape"] = escape
    draft.note("escape", f"escape={escape!r}; it makes any next byte literal, in Spark only a quote or itself")


def _header(draft: Draft) -> None:
    if not draft.flag("header"):
        if "header" in draft.given:
            draft.note("header", "header=False")
        return
    draft.format["header"] = True
    if draft.flag("enforceSchema", True):
        draft.header_by_position = True
        by_name = "enforceSchema=false, or fm.Csv(..., header=True), finds columns by name"
        draft.note("header", f"the first record of each file is passed over, columns are taken by position; {by_name}")
        if "enforceSchema" in draft.given:
            draft.note("enforceSchema", "columns are taken by position, the header's names do not count")
    else:
        draft.note("header", "header=True: columns are found by name")
        draft.note("enforceSchema", "columns are found by name, in any order; one that lacks is an error")


def _nulls(draft: Draft) -> None:
    token = draft.given.get("nullValue")
    if token:
        draft.format["nulls"] = ("", token)
        draft.note("nullValue", f"nulls={('', token)!r}; in quotes it is text, in Spark null there too")
    elif token == "":
        draft.note("nullValue", "nulls=('',)")


def _trim(draft: Draft) -> None:
    leading, trailing = draft.flag("ignoreLeadingWhiteSpace"), draft.flag("ignoreTrailingWhiteSpace")
    if leading != trailing:
        given = "ignoreLeadingWhiteSpace" if leading else "ignoreTrailingWhiteSpace"
        raise refused(draft.kind, given, "true", "both sides are trimmed or none; give the other one too")
    if leading:
        draft.format["trim"] = True
    for option in ("ignoreLeadingWhiteSpace", "ignoreTrailingWhiteSpace"):
        if option in draft.given:
            draft.note(option, f"trim={leading}")


def _comment(draft: Draft) -> None:
    if "comment" in draft.given:
        draft.format["comment"] = _one_char(draft, "comment", draft.given["comment"])
        draft.note("comment", f"comment={draft.format['comment']!r}")


def _csv_line_sep(draft: Draft) -> None:
    value = draft.given.get("lineSep")
    if value is None:
        return
    ending = {"\\n": "\n", "\\r\\n": "\r\n", "\\r": "\r"}.get(value, value)
    if ending != "\n":
        draft.format["record_delimiter"] = ending
    draft.note("lineSep", f"record_delimiter={ending!r}")


def _encoding(draft: Draft) -> None:
    value = draft.given.get("encoding")
    if value is None:
        return
    try:
        encoding = fm.Csv(pa.schema([("a", pa.string())]), encoding=value).encoding
    except fm.OptionError:
        encoding = None
    if encoding is None or (draft.kind == "json" and encoding != "utf-8"):
        known = "UTF-8, ISO-8859-1 or UTF-16" if draft.kind == "csv" else "UTF-8"
        raise refused(draft.kind, "encoding", value, f"bytes are {known}; convert the files, or use spark.read")
    if encoding != "utf-8":
        draft.format["encoding"] = encoding
    draft.note("encoding", f"encoding={encoding!r}")


def _multi_line(draft: Draft) -> None:
    if "multiLine" in draft.given:
        draft.note("multiLine", "line breaks in quotes are always data, and files are split all the same")


def _times(draft: Draft) -> None:
    patterns = []
    for option in ("timestampFormat", "timestampNTZFormat", "dateFormat"):
        if option not in draft.given:
            continue
        pattern = strptime_of(draft.given[option], draft.kind, option)
        if pattern is None:
            draft.note(option, "ISO 8601, which is always read")
        elif draft.kind == "json":
            raise refused(
                draft.kind, option, draft.given[option], "times in JSON are ISO 8601; read a string and convert"
            )
        else:
            patterns.append(pattern)
            draft.note(option, f"timestamp_formats has {pattern!r}; ISO 8601 is read too")
    if patterns:
        draft.format["timestamp_formats"] = tuple(dict.fromkeys(patterns))


def _time_zone(draft: Draft) -> None:
    value = draft.given.get("timeZone")
    if value is None:
        return
    if value.upper() not in UTC_NAMES:
        raise refused(
            draft.kind, "timeZone", value, "a time without an offset is read as UTC; read TIMESTAMP_NTZ and convert"
        )
    draft.note("timeZone", "as it is: a time without an offset is UTC")


def _max_columns(draft: Draft) -> None:
    if "maxColumns" in draft.given:
        if not draft.given["maxColumns"].isdigit() or int(draft.given["maxColumns"]) < len(draft.schema):
            raise refused(
                draft.kind, "maxColumns", draft.given["maxColumns"], f"the schema has {len(draft.schema)} columns"
            )
        draft.note("maxColumns", "no effect: a record has as many columns as the schema")


def _glob(draft: Draft) -> None:
    if "pathGlobFilter" in draft.given:
        draft.name_glob = draft.given["pathGlobFilter"]
        draft.note("pathGlobFilter", "only files whose names match are read")


def _recursive(draft: Draft) -> None:
    if "recursiveFileLookup" in draft.given:
        draft.searches_folders = draft.flag("recursiveFileLookup")
        draft.use_folders = not draft.searches_folders
        draft.note("recursiveFileLookup", "as it is: true searches all folders and makes no partition columns")


INFERENCE = "nothing is inferred: the schema is given"
LIMITS = "there is no such limit to raise or lower; leave it out"
WRITING = "it concerns writing"

COMMON: tuple[tuple[str, Rule], ...] = (
    handled("mode"),
    handled("columnNameOfCorruptRecord"),
    ("encoding", _encoding),
    ("timestampFormat", _times),
    handled("timestampNTZFormat"),
    handled("dateFormat"),
    ("timeZone", _time_zone),
    only("locale", ("en-us", "en", "en-gb", ""), "names of months are English; read a string and convert"),
    only("enableDateTimeParsingFallback", ("false",), "one way to read a time, no second one"),
    no_effect("inferSchema", INFERENCE),
    no_effect("samplingRatio", INFERENCE),
    no_effect("preferDate", INFERENCE),
    ("pathGlobFilter", _glob),
    ("recursiveFileLookup", _recursive),
    only("ignoreCorruptFiles", ("false",), "a file that cannot be read is an error"),
    only("ignoreMissingFiles", ("false",), "a file that has gone is an error"),
    never("modifiedBefore", "files are not chosen by time; give their paths"),
    never("modifiedAfter", "files are not chosen by time; give their paths"),
    never("compression", f"{WRITING}; how a file is compressed is told by its suffix"),
)

CSV_RULES: dict[str, Rule] = dict(
    (
        *COMMON,
        ("sep", _sep),
        ("quote", _quote),
        ("escape", _escape),
        ("header", _header),
        handled("enforceSchema"),
        ("nullValue", _nulls),
        ("ignoreLeadingWhiteSpace", _trim),
        handled("ignoreTrailingWhiteSpace"),
        ("comment", _comment),
        ("lineSep", _csv_line_sep),
        ("multiLine", _multi_line),
        ("maxColumns", _max_columns),
        only("maxCharsPerColumn", ("-1",), LIMITS),
        no_effect("maxMalformedLogPerPartition", "Spark no longer looks at it either"),
        only("emptyValue", ("",), "a quoted empty field is the empty text; replace it afterwards"),
        only("nanValue", ("nan",), "only NaN, in any case, is one; read a string and convert"),
        only("positiveInf", ("inf", "+inf", "infinity", "+infinity"), "only inf and infinity, in any case, are"),
        only("negativeInf", ("-inf", "-infinity"), "only -inf and -infinity, in any case, are"),
        only("charToEscapeQuoteEscaping", ("\\", "", "\\u0000"), "an escape escapes itself"),
        only("unescapedQuoteHandling", ("raise_error",), "a quote where none belongs makes the record a bad one"),
        never("quoteAll", WRITING),
        never("escapeQuotes", WRITING),
    )
)


def _json_line_sep(draft: Draft) -> None:
    value = draft.given.get("lineSep")
    if value is None:
        return
    if value not in ("\n", "\\n"):
        raise refused(draft.kind, "lineSep", value, "a record of JSON is a line; lines end in \\n or \\r\\n")
    draft.note("lineSep", "as it is")


JSON = "it is no JSON"
JSON_RULES: dict[str, Rule] = dict(
    (
        *COMMON,
        ("lineSep", _json_line_sep),
        only("multiLine", ("false",), "a record is one line; write one document a line first, as with `jq -c`"),
        no_effect("primitivesAsString", f"{INFERENCE}; text columns with metadata raw=1 take any value"),
        no_effect("prefersDecimal", INFERENCE),
        no_effect("dropFieldIfAllNull", INFERENCE),
        only("allowComments", ("false",), JSON),
        only("allowUnquotedFieldNames", ("false",), JSON),
        only("allowSingleQuotes", ("false",), JSON),
        only("allowNumericLeadingZeros", ("false",), JSON),
        only("allowBackslashEscapingAnyCharacter", ("false",), JSON),
        only("allowUnquotedControlChars", ("false",), JSON),
        only("allowNonNumericNumbers", ("false",), JSON),
        never("ignoreNullFields", WRITING),
    )
)
