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
from formatter.variants import is_variant
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
    """`format`: arguments for fm.Csv or fm.Json. `reading`: what of Reading is not the format's."""

    kind: str
    given: dict[str, str]
    schema: pa.Schema = field(default_factory=lambda: pa.schema([]))
    format: dict[str, Any] = field(default_factory=dict)
    reading: dict[str, Any] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)

    def flag(self, option: str, otherwise: bool = False) -> bool:
        value = self.given.get(option, spelled(otherwise)).lower()
        if value not in ("true", "false"):
            raise self.refused(option, "it is true or false")
        return value == "true"

    def note(self, option: str, becomes: str) -> None:
        self.lines.append(Line(option, self.given.get(option), becomes))

    def refused(self, option: str, reason: str) -> RefusedOption:
        return RefusedOption(option, f"{self.kind} option {option}={self.given[option]!r} is not taken: {reason}")


class RefusedOption(fm.OptionError):
    """`option`: the name of the one that is refused."""

    def __init__(self, option: str, why: str) -> None:
        super().__init__(f"spark: {why}")
        self.option = option

    def __reduce__(self) -> tuple[Any, ...]:
        return RefusedOption, (self.option, str(self).removeprefix("spark: "))


Rule = Callable[[Draft, str, str], None]  # the draft, the option's name and its value: asked for options that are given


def spelled(value: Any) -> str:
    """As Spark's reader turns option values into text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


# ------------------------------------------------------------------------------------------------ kinds of rules


def only(taken: tuple[str, ...], reason: str) -> Rule:
    """Takes these values (in any case) and refuses the rest."""

    def rule(draft: Draft, option: str, value: str) -> None:
        if value.lower() not in taken:
            raise draft.refused(option, reason)
        draft.note(option, "as it is")

    return rule


def never(reason: str) -> Rule:
    return only((), reason)


def noted(becomes: str) -> Rule:
    return lambda draft, option, value: draft.note(option, becomes)


def no_effect(why: str) -> Rule:
    return noted(f"no effect: {why}")


def text_of(argument: str, spellings: dict[str, str]) -> Rule:
    """What the argument of fm.Csv is, as it stands or in one of these spellings."""

    def rule(draft: Draft, option: str, value: str) -> None:
        draft.format[argument] = spellings.get(value, value)
        draft.note(option, f"{argument}={draft.format[argument]!r}")

    return rule


def handled(draft: Draft, option: str, value: str) -> None:
    """By another rule, or by format_from_options."""


# ------------------------------------------------------------------------------------------------ csv


def _one_char(draft: Draft, option: str, value: str) -> str | None:
    text = value.replace("\\u0000", "\0").replace("\\t", "\t") if len(value) > 1 else value
    if text in ("", "\0"):
        return None
    if len(text.encode()) != 1:
        raise draft.refused(option, "it is one character of ASCII")
    return text


def _char(draft: Draft, option: str, value: str) -> None:
    """Quote and comment are called the same here."""
    draft.format[option] = _one_char(draft, option, value)
    draft.note(option, f"{option}={draft.format[option]!r}")


def _escape(draft: Draft, option: str, value: str) -> None:
    escape = _one_char(draft, option, value)
    if escape is None or escape == draft.format.get("quote", '"'):
        draft.note(option, "quotes inside quotes are doubled")
        return
    draft.format["escape"] = escape
    draft.note(option, f"escape={escape!r}; it makes any next byte literal, in Spark only a quote or itself")


def no_escape(draft: Draft) -> None:
    draft.note(
        "escape",
        "quotes inside quotes are doubled, as RFC 4180 has them and Spark has with escape='\"' (its default is a "
        "backslash); for data with backslashes give escape='\\\\'",
    )


def _header(draft: Draft, option: str, value: str) -> None:
    if not draft.flag(option):
        draft.note(option, "header=False")
        return
    draft.format["header"] = True
    if draft.flag("enforceSchema", True):
        draft.reading["header_by_position"] = True
        by_name = "enforceSchema=false, or fm.Csv(..., header=True), finds columns by name"
        draft.note(option, f"the first record of each file is passed over, columns are taken by position; {by_name}")
        if "enforceSchema" in draft.given:
            draft.note("enforceSchema", "columns are taken by position, the header's names do not count")
    else:
        names = draft.schema.names
        draft.format["names_in_any_case"] = len({name.lower() for name in names}) == len(names)
        draft.format["missing_columns"] = "null"
        draft.note(option, "header=True: columns are found by name")
        draft.note(
            "enforceSchema",
            "columns are found by name, in any order and in large or small letters; one that a header lacks is null, others "
            "are left out (in Spark both are errors)",
        )


def _nulls(draft: Draft, option: str, value: str) -> None:
    draft.format["nulls"] = ("", value) if value else ("",)
    draft.note(option, f"nulls={draft.format['nulls']!r}, in quotes too")


def _trim(draft: Draft, option: str, value: str) -> None:
    leading, trailing = (draft.flag(f"ignore{side}WhiteSpace") for side in ("Leading", "Trailing"))
    draft.format["trim"] = leading if leading == trailing else "left" if leading else "right"
    draft.note(option, f"trim={draft.format['trim']!r}")


def _multi_line(draft: Draft, option: str, value: str) -> None:
    draft.format["newlines_in_quotes"] = draft.flag(option)
    draft.note(option, "as it is: without it a record ends with its line; with it files are split all the same")


def _stray_quotes(draft: Draft, option: str, value: str) -> None:
    rules = {"stop_at_delimiter": "lenient", "stop_at_closing_quote": "sticky", "raise_error": "strict"}
    if value.lower() not in rules:
        raise draft.refused(option, "it is STOP_AT_DELIMITER, STOP_AT_CLOSING_QUOTE or RAISE_ERROR")
    draft.format["quotes"] = rules[value.lower()]
    draft.note(option, f"quotes={draft.format['quotes']!r}")


def _max_columns(draft: Draft, option: str, value: str) -> None:
    if not value.isdigit() or int(value) < len(draft.schema):
        raise draft.refused(option, f"the schema has {len(draft.schema)} columns")
    draft.note(option, "no effect: a record has as many columns as the schema")


# ------------------------------------------------------------------------------------------------ csv and json


def _encoding(draft: Draft, option: str, value: str) -> None:
    try:
        encoding = fm.Csv(pa.schema([("a", pa.string())]), encoding=value).encoding
    except fm.OptionError:
        encoding = None
    if encoding is None or (draft.kind == "json" and encoding != "utf-8"):
        known = "UTF-8, ISO-8859-1, windows-1252 or UTF-16" if draft.kind == "csv" else "UTF-8"
        raise draft.refused(option, f"bytes are {known}; convert the files, or use spark.read")
    if draft.kind == "csv":
        draft.format["encoding"] = encoding
    draft.note(option, f"encoding={encoding!r}")


def _times(draft: Draft, option: str, value: str) -> None:
    try:
        pattern = strptime_of(value)
    except ValueError as error:
        raise draft.refused(option, f"it has {error}") from None
    if pattern is None:
        draft.note(option, "ISO 8601, which is always read")
        return
    draft.format["timestamp_formats"] = tuple(dict.fromkeys((*draft.format.get("timestamp_formats", ()), pattern)))
    draft.note(option, f"timestamp_formats has {pattern!r}; ISO 8601 is read too")


def _time_zone(draft: Draft, option: str, value: str) -> None:
    if value.upper() not in UTC_NAMES:
        raise draft.refused(option, "a time without an offset is read as UTC; read TIMESTAMP_NTZ and convert")
    draft.reading["zone_open"] = False
    draft.note(option, "as it is: a time without an offset is UTC")


def _glob(draft: Draft, option: str, value: str) -> None:
    draft.reading["name_glob"] = value
    draft.note(option, "only files whose names match are read")


def _base_path(draft: Draft, option: str, value: str) -> None:
    draft.reading["base_path"] = value
    draft.note(option, "as it is: where partition folders begin")


def _documents(draft: Draft, option: str, value: str) -> None:
    if draft.flag(option):
        draft.format["records"] = "concatenated"
        draft.reading["documents"] = True
    draft.note(option, "as it is: true reads a file as one object, or as an array of them, and in one task")


def _single_variant(draft: Draft, option: str, value: str) -> None:
    if draft.schema.names not in ([], [value]) or not all(map(is_variant, draft.schema.types)):
        raise fm.SchemaError(
            f"spark: option singleVariantColumn={value!r}: expected no schema, or one of the column {value!r} VARIANT and the "
            f"corrupt-record column alone, found {', '.join(draft.schema.names)}"
        )
    if draft.given.get("multiLine", "false").lower() != "false":
        raise draft.refused(option, "with multiLine; a record is a line")
    draft.schema = pa.schema([pa.field(value, fm.variant())])
    draft.format["paths"] = {value: ""}
    draft.note(option, "as it is: each line is one VARIANT, whatever JSON it is")


def _recursive(draft: Draft, option: str, value: str) -> None:
    searches = draft.flag(option)
    draft.reading |= {"searches_folders": searches, "use_folders": not searches}
    draft.note(option, "as it is: true searches all folders and makes no partition columns")


INFERENCE = no_effect("nothing is inferred: the schema is given")
WRITING = "it concerns writing"
BY_TIME = never("files are not chosen by time; give their paths")

COMMON: dict[str, Rule] = {
    "mode": handled,
    "columnNameOfCorruptRecord": handled,
    "encoding": _encoding,
    "timestampFormat": _times,
    "timestampNTZFormat": _times,
    "dateFormat": _times,
    "timeZone": _time_zone,
    "locale": only(("en-us", "en", "en-gb", ""), "names of months are English; read a string and convert"),
    "enableDateTimeParsingFallback": only(("false",), "one way to read a time, no second one"),
    "inferSchema": INFERENCE,
    "samplingRatio": INFERENCE,
    "preferDate": INFERENCE,
    "pathGlobFilter": _glob,
    "recursiveFileLookup": _recursive,
    "basePath": _base_path,
    "ignoreCorruptFiles": only(("false",), "a file that cannot be read is an error"),
    "ignoreMissingFiles": only(("false",), "a file that has gone is an error"),
    "modifiedBefore": BY_TIME,
    "modifiedAfter": BY_TIME,
    "compression": never(f"{WRITING}; how a file is compressed is told by its suffix"),
}

CSV_RULES: dict[str, Rule] = COMMON | {
    "sep": text_of("delimiter", {"\\t": "\t", "\\u0001": "\x01", "\\\\": "\\"}),
    "quote": _char,
    "escape": _escape,
    "header": _header,
    "enforceSchema": handled,
    "nullValue": _nulls,
    "ignoreLeadingWhiteSpace": _trim,
    "ignoreTrailingWhiteSpace": _trim,
    "comment": _char,
    "lineSep": text_of("record_delimiter", {"\\n": "\n", "\\r\\n": "\r\n", "\\r": "\r"}),
    "multiLine": _multi_line,
    "maxColumns": _max_columns,
    "maxCharsPerColumn": only(("-1",), "there is no such limit to raise or lower; leave it out"),
    "maxMalformedLogPerPartition": no_effect("Spark no longer looks at it either"),
    "emptyValue": noted("what a quoted empty field is as a text; the empty text is null, as in Spark"),
    "nanValue": only(("nan",), "only NaN, in any case, is one; read a string and convert"),
    "positiveInf": only(("inf", "+inf", "infinity", "+infinity"), "only inf and infinity, in any case, are"),
    "negativeInf": only(("-inf", "-infinity"), "only -inf and -infinity, in any case, are"),
    "charToEscapeQuoteEscaping": only(("\\", "", "\\u0000"), "an escape escapes itself"),
    "unescapedQuoteHandling": _stray_quotes,
    "quoteAll": never(WRITING),
    "escapeQuotes": never(WRITING),
}

NO_JSON = only(("false",), "it is no JSON")
JSON_RULES: dict[str, Rule] = COMMON | {
    "lineSep": only(("\n", "\\n"), "a record of JSON is a line; lines end in \\n or \\r\\n"),
    "multiLine": _documents,
    "singleVariantColumn": _single_variant,
    "primitivesAsString": no_effect(
        "nothing is inferred: the schema is given; text columns with metadata raw=1 take any value"
    ),
    "prefersDecimal": INFERENCE,
    "dropFieldIfAllNull": INFERENCE,
    "allowComments": NO_JSON,
    "allowUnquotedFieldNames": NO_JSON,
    "allowSingleQuotes": NO_JSON,
    "allowNumericLeadingZeros": NO_JSON,
    "allowBackslashEscapingAnyCharacter": NO_JSON,
    "allowUnquotedControlChars": NO_JSON,
    "allowNonNumericNumbers": NO_JSON,
    "ignoreNullFields": never(WRITING),
}

ALIASES = {"delimiter": "sep", "charset": "encoding"}
PROPER_NAMES = {name.lower(): name for name in (*CSV_RULES, *JSON_RULES)}


def proper_name(name: str) -> str | None:
    """Of an option, which Spark takes in any case and some of them by two names."""
    return PROPER_NAMES.get(ALIASES.get(name.lower(), name.lower()))
