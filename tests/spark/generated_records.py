"""Random records, with a schema and options to read them by: of compat_soup.py.

In: a source of chance. Out: cases. JSON of every kind of value where every kind of type is asked for, and spoilt in many ways;
CSV of the same types, quoted and spoilt.
"""

from __future__ import annotations

import base64
import json
import random
from dataclasses import dataclass
from typing import Any

NAMES = ["a", "b", "id", "name", "Name", "größe", "a b", "x.y", "_corrupt_record", "key`s", "select"]
WORDS = [
    "",
    "x",
    "yy",
    "zß水",
    'says "no"',
    "a, b",
    " blank ",
    "null",
    "true",
    "NaN",
    "1",
    "tab\t",
    "nl\n",
    "\\",
    "\u2028",
    "😀",
    "Oslo",
]
SIMPLE = [
    "INT", "BIGINT", "DOUBLE", "STRING", "STRING", "BOOLEAN", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "DECIMAL(8,2)",
    "DECIMAL(38,10)",
    "FLOAT", "TINYINT", "SMALLINT",
]  # fmt: skip
TIMES = [
    "2024-02-29", "2023-02-29", "2024-2-9", "2024", "2024-03", "0000-01-01", "10000-01-01", "-0001-01-01", "1582-10-10", "20240229",
    "2024-02-29T10:11:12", "2024-02-29 10:11:12", "2024-02-29T10:11:12.5", "2024-02-29T10:11:12.123456",
    "2024-02-29T10:11:12.1234567",
    "2024-02-29T10:11:12.123456000", "2024-02-29T10:11:12Z", "2024-02-29t10:11:12z", "2024-02-29T10:11:12+02:00",
    "2024-02-29T10:11:12+0200", "2024-02-29T10:11:12+02", "2024-02-29T10:11:12-17:59", "2024-02-29T10:11:12+18:00",
    "2024-02-29T10:11:12+18:01", "2024-02-29T10:11:12+23:59", "2024-02-29T10:11:12 UTC", "2024-02-29T10:11:12 Europe/Berlin",
    "2024-02-29T10:11", "2024-02-29T10", "2024-02-29T", "2024-02-29T24:00:00", "2024-02-29T10:11:60", "10:11:12", "T10:11:12",
    "2024-02-29 ", " 2024-02-29", "29/02/2024", "Feb 29 2024", "1970-01-01T00:00:00-00:30", "epoch", "now", "today", "+2024-02-29",
    "2024-02-29T10:11:12,5", "2024-02-29T10:11:12.", "2024-02-29GMT+1", "12345", "0001-01-01T00:00:00",
    "9999-12-31T23:59:59.999999Z",
]  # fmt: skip
NUMBERS = [
    "0", "1", "-1", "-0", "-0.0", "0.0", "1.0", "1.5", "1e2", "1E+2", "1e-2", "1.50", "127", "128", "200", "255", "256", "-128",
    "-129",
    "32767", "32768", "65535", "2147483647", "2147483648", "-2147483648", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "12345678901234567890", "123456789012345678901234567890", "1e400", "-1e400", "1e-400", "4.9e-324",
    "1.7976931348623157e308", "3.4028235e38", "3.5e38", "0.1", "0.30000000000000004", "1.23", "1.239", "1.235", "123456.78",
    "1234567.8",
    "9007199254740993", "16777217", "1.00000017881393432617187499", "9223372586610589697", "18446744073709551616", "33554435",
    "1e39", "99999999999999999999999999999999999999", "1234567890123456789012345678.0123456789", "1.0e0", "100e-2", "0e5", "0.00",
]  # fmt: skip
ODD_NUMBERS = [
    "01",
    "+1",
    "1.",
    ".5",
    "NaN",
    "Infinity",
    "-Infinity",
    "+INF",
    "-INF",
    "1f",
    "1d",
    "0x1p3",
    "1_000",
    "١",
    "1,234",
    "--1",
]


USUAL = {
    "spark.sql.session.timeZone": "UTC", "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.json.enablePartialResults": "true",
    "spark.sql.legacy.json.allowEmptyString.enabled": "false", "spark.sql.columnNameOfCorruptRecord": "_corrupt_record",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
}  # fmt: skip
UNUSUAL = {
    "spark.sql.session.timeZone": "America/Los_Angeles", "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.json.enablePartialResults": "false", "spark.sql.legacy.json.allowEmptyString.enabled": "true",
    "spark.sql.columnNameOfCorruptRecord": "id", "spark.sql.timestampType": "TIMESTAMP_NTZ",
}  # fmt: skip


def settings_of(chance: random.Random) -> dict[str, str]:
    return {key: UNUSUAL[key] if chance.random() < 0.03 else value for key, value in USUAL.items()}


@dataclass
class Case:
    kind: str
    schema: str
    options: dict[str, Any]
    records: list[str | None]
    settings: dict[str, str]


# ------------------------------------------------------------------------------------------------- json


class JsonRecords:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def type_(self, depth: int) -> Any:
        chance = self.chance
        if depth == 0 or chance.random() < 0.6:
            return chance.choice([*SIMPLE, "BINARY"])
        kind = chance.choice(("array", "map", "struct"))
        if kind == "array":
            return ["array", self.type_(depth - 1)]
        if kind == "map":
            return ["map", self.type_(depth - 1)]
        return ["struct", self.fields(depth - 1)]

    def fields(self, depth: int) -> list[tuple[str, Any]]:
        names = self.chance.sample([name for name in NAMES if name != "Name"], self.chance.randrange(1, 6))
        return [(name, "STRING" if name == "_corrupt_record" else self.type_(depth)) for name in names]

    def ddl(self, type_: Any) -> str:
        if isinstance(type_, str):
            return type_
        if type_[0] == "array":
            return f"ARRAY<{self.ddl(type_[1])}>"
        if type_[0] == "map":
            return f"MAP<STRING, {self.ddl(type_[1])}>"
        return f"STRUCT<{self.columns(type_[1], ': ')}>"

    def columns(self, fields: list[tuple[str, Any]], between: str = " ") -> str:
        return ", ".join(f"`{name.replace('`', '``')}`{between}{self.ddl(type_)}" for name, type_ in fields)

    def text(self, value: str) -> str:
        style = self.chance.random()
        if style < 0.7:
            return json.dumps(value, ensure_ascii=False)
        if style < 0.9:
            return json.dumps(value)
        return '"' + "".join(f"\\u{ord(one):04x}" if ord(one) < 0x10000 else one for one in value) + '"'

    def fitting(self, type_: Any, depth: int = 3) -> str:
        chance = self.chance
        if not isinstance(type_, str):
            if type_[0] == "array":
                return "[" + self.space().join(self.joined(self.value(type_[1], depth - 1)) for _ in range(1)) + "]"
            if type_[0] == "map":
                keys = [chance.choice(NAMES + WORDS) for _ in range(chance.randrange(4))]
                return self.object_([(key, self.value(type_[1], depth - 1)) for key in keys])
            return self.record(type_[1], depth - 1)
        if type_ in ("INT", "BIGINT", "SMALLINT", "TINYINT"):
            return str(chance.choice((chance.randrange(-9, 10), chance.randrange(-120, 120))))
        if type_ in ("DOUBLE", "FLOAT"):
            return repr(
                chance.choice(
                    (chance.random(), chance.uniform(-1e6, 1e6), chance.randrange(100), chance.gauss(0, 1) * 1e20)
                )
            )
        if type_.startswith("DECIMAL"):
            number = f"{chance.randrange(-99999, 99999)}.{chance.randrange(100)}"
            return number if chance.random() < 0.7 else f'"{number}"'
        if type_ == "BOOLEAN":
            return chance.choice(("true", "false"))
        if type_ == "DATE":
            return f'"{chance.randrange(1900, 2100)}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}"'
        if type_.startswith("TIMESTAMP"):
            return f'"20{chance.randrange(10, 99)}-01-02T03:04:05.{chance.randrange(1000):03}"'
        if type_ == "BINARY":
            coded = base64.b64encode(chance.randbytes(chance.randrange(9))).decode()
            return f'"{coded if chance.random() < 0.7 else coded.replace("+", "-").rstrip("=")}"'
        return self.text(chance.choice(WORDS))

    def joined(self, first: str) -> str:
        more = [first] * self.chance.choice((0, 1, 1, 2))
        return ",".join(more)

    def any_value(self, depth: int = 2) -> str:
        chance = self.chance
        choice = chance.random()
        if choice < 0.25:
            return chance.choice(NUMBERS)
        if choice < 0.5:
            return self.text(chance.choice(WORDS + TIMES + NUMBERS + ODD_NUMBERS))
        if choice < 0.6:
            return self.text(chance.choice(TIMES))
        if choice < 0.8:
            return chance.choice(("null", "true", "false", "[]", "{}", '""', '" "', "{}", "null"))
        if choice < 0.83:
            return chance.choice(ODD_NUMBERS)
        if choice < 0.86:
            return chance.choice(
                ('"\\ud800"', '"\\udc00\\ud800"', '"\\x"', "'single'", "nope", '"a\tb"', '"\\/\\b\\f"', '"\\u00e9"')
            )
        if depth == 0:
            return "0"
        if choice < 0.93:
            return "[" + ", ".join(self.any_value(depth - 1) for _ in range(chance.randrange(4))) + "]"
        return self.object_([(chance.choice(NAMES), self.any_value(depth - 1)) for _ in range(chance.randrange(4))])

    def value(self, type_: Any, depth: int = 3) -> str:
        choice = self.chance.random()
        if choice < 0.9:
            return self.fitting(type_, depth)
        return "null" if choice < 0.93 else self.any_value()

    def space(self) -> str:
        return self.chance.choice(("", "", "", " ", "\n", "\t ", "\r\n"))

    def object_(self, members: list[tuple[str, str]]) -> str:
        space = self.space
        inside = ",".join(f"{space()}{self.text(name)}{space()}:{space()}{value}{space()}" for name, value in members)
        return "{" + space() + inside + "}"

    def record(self, fields: list[tuple[str, Any]], depth: int = 3) -> str:
        chance = self.chance
        members = [(name, self.value(type_, depth)) for name, type_ in fields if chance.random() < 0.9]
        if chance.random() < 0.2:
            members.append((chance.choice([*NAMES, "other", "A"]), self.any_value()))
        if chance.random() < 0.3:
            chance.shuffle(members)
        return self.object_(members)

    def spoilt(self, text: str) -> str:
        chance = self.chance
        at = chance.randrange(len(text) + 1)
        sign = chance.choice("{}[]\",:\\0123456789eE+-.'/*#tfn \n\t\0\x0b\x7f\u00a0\ufeffé")
        return chance.choice((
            text[:at], text[at:], text[:at] + sign + text[at:], text[:at] + text[at + 1 :], text[:at] + sign + text[at + 1 :],
            text + sign, text + " " + text, text + "garbage", f"[{text}]", f"[{text}, {text}]", "[" + text, "\ufeff" + text,
            text.replace('"', "'"), text.replace('"', ""), text + "// said", "/* said */" + text, " \t\n" + text + " \r\n",
            sign + text,
            text.replace(":", ": 0", 1), text.replace(",", ",,", 1), text.replace("}", ",}"), text.replace("1", "01"), "null", "[]",
            '"text"', "1", "true", "{}", "", " ", "\n", "\u00a0", "\x00", "\x1f", "{", "}", '{"a"', '{"a":', '{"a":}', '{"a" 1}',
            text.replace("{", '{"deep": ' + "[" * 1001 + "]" * 1001 + ",", 1) if chance.random() < 0.2 else text,
            text.replace("{", '{"deep": ' + "[" * 990 + "]" * 990 + ",", 1) if chance.random() < 0.2 else text,
            text.replace("{", '{"long": ' + "1" * 1100 + ",", 1) if chance.random() < 0.2 else text,
            text.replace("{", '{"long": "' + "1" * 1100 + '",', 1) if chance.random() < 0.2 else text,
        ))  # fmt: skip

    def one(self, fields: list[tuple[str, Any]]) -> str | None:
        choice = self.chance.random()
        if choice < 0.01:
            return None
        text = self.record(fields)
        if choice > 0.85:
            text = self.spoilt(text)
        return text

    def options(self) -> dict[str, Any]:
        chance, options = self.chance, {}
        if chance.random() < 0.4:
            return options
        for _ in range(chance.randrange(1, 4)):
            name, values = chance.choice((
                ("mode", ("PERMISSIVE", "permissive", "DROPMALFORMED", "none")), ("columnNameOfCorruptRecord", ("a", "name",
                "other")),
                ("primitivesAsString", ("true", "false")), ("allowSingleQuotes", ("true", "false")),
                ("allowNonNumericNumbers", ("true", "false")), ("allowNumericLeadingZeros", ("true", "false")),
                ("allowUnquotedFieldNames", ("true", "false")), ("allowComments", (True, False)),
                ("allowBackslashEscapingAnyCharacter", ("true", "false")), ("allowUnquotedControlChars", ("true", "false")),
                ("dateFormat", ("yyyy-MM-dd", "dd/MM/yyyy", "yyyy")), ("timestampFormat", ("yyyy-MM-dd HH:mm:ss", "MMM dd yyyy")),
                ("timestampNTZFormat", ("yyyy-MM-dd'T'HH:mm:ss",)), ("timeZone", ("UTC", "Europe/Berlin", "+02:00")),
                ("locale", ("de-DE", "en-US")), ("prefersDecimal", ("true",)), ("ENABLEDateTimeParsingFallback", ("true", "false")),
                ("multiLine", ("true",)), ("encoding", ("UTF-8",)), ("lineSep", ("\n",)), ("ignoreNullFields", ("true",)),
                ("nonsense", ("1",)),
            ))  # fmt: skip
            options[name] = chance.choice(values)
        return options

    def case(self, count: int) -> Case:
        fields = self.fields(2)
        options = self.options()
        return Case(
            "json", self.columns(fields), options, [self.one(fields) for _ in range(count)], settings_of(self.chance)
        )


# ------------------------------------------------------------------------------------------------- csv


class CsvRecords:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.json = JsonRecords(chance)

    def field(self, type_: str) -> str:
        chance = self.chance
        choice = chance.random()
        if choice < 0.05:
            return ""
        if choice < 0.15:
            return chance.choice(
                TIMES
                + NUMBERS
                + ODD_NUMBERS
                + WORDS
                + ["True", "FALSE", "inf", "nan", "Inf", "-Inf", " 1", "1 ", "NA", "\xa0", "-", "+5", "007"]
            )
        if choice < 0.2 and type_ == "STRING":
            return chance.choice(("é", "ß" * 3, " x", "y ", "\t", "'q'", "#c", "\ufeffb"))
        text = self.json.fitting(type_)
        return json.loads(text) if text.startswith('"') else text

    def quoted(self, text: str, sep: str, quote: str, escape: str) -> str:
        chance = self.chance
        if sep in text or quote in text or "\n" in text or chance.random() < 0.1:
            if chance.random() < 0.8:
                return quote + text.replace(quote, (quote if chance.random() < 0.5 else escape) + quote) + quote
            return chance.choice(
                (text, f"{quote}{text}", f"{text}{quote}", f" {quote}{text}{quote} ", f"{quote}{text}{quote}x")
            )
        return text

    def one(self, types: list[str], sep: str, quote: str, escape: str) -> str | None:
        chance = self.chance
        choice = chance.random()
        if choice < 0.01:
            return None
        fields = [self.quoted(self.field(type_), sep, quote, escape) for type_ in types]
        if choice < 0.04:
            fields = fields[:-1] if chance.random() < 0.5 else [*fields, "more"]
        text = sep.join(fields)
        if choice > 0.9:
            at = chance.randrange(len(text) + 1)
            sign = chance.choice(sep + quote + escape + "\n\r\t \0\x01#'é\ufeff;,")
            return chance.choice((
                text[:at], text[:at] + sign + text[at:], text[:at] + sign + text[at + 1 :], text + "\n", text + "\r\n" + text,
                "\n" + text, "",
                " ", "  ", sep, quote, quote * 2, "\ufeff" + text, "\0" + text, "#" + text, sep * len(types), text + sep,
                " " + text + " ",
                "\t" + text, text + "\0", "\u00a0", "\x1f" + text, text.replace(sep, sep + " "),
            ))  # fmt: skip
        return text

    def options(self) -> dict[str, Any]:
        chance, options = self.chance, {}
        if chance.random() < 0.4:
            return options
        for _ in range(chance.randrange(1, 4)):
            name, values = chance.choice((
                ("mode", ("PERMISSIVE", "DROPMALFORMED")), ("columnNameOfCorruptRecord", ("a", "other")), ("sep", (";", "\t",
                "|", "::", " ")),
                ("delimiter", (";",)), ("quote", ("'", "", '"')), ("escape", ('"', "\\", "'", "")), ("nullValue", ("NA", "null",
                "-", "1")),
                ("emptyValue", ("", "EMPTY", "1")), ("ignoreLeadingWhiteSpace", ("true", "false")),
                ("ignoreTrailingWhiteSpace", ("true", True)), ("maxCharsPerColumn", ("5", "-1")), ("maxColumns", ("3", "100")),
                ("nanValue", ("nan", "NA")), ("positiveInf", ("inf",)), ("negativeInf", ("-inf",)), ("comment", ("#",)),
                ("unescapedQuoteHandling", ("STOP_AT_CLOSING_QUOTE", "BACK_TO_DELIMITER", "RAISE_ERROR", "SKIP_VALUE")),
                ("charToEscapeQuoteEscaping", ("\\", '"')), ("dateFormat", ("dd/MM/yyyy", "yyyy-MM-dd")),
                ("timestampFormat", ("yyyy-MM-dd HH:mm:ss",)), ("timeZone", ("UTC", "Europe/Berlin")), ("locale", ("de-DE",)),
                ("enforceSchema", ("false",)), ("header", ("true",)), ("multiLine", ("true",)), ("lineSep", ("|",)),
                ("inferSchema", ("true",)), ("preferDate", ("false",)),
            ))  # fmt: skip
            options[name] = chance.choice(values)
        return options

    def case(self, count: int) -> Case:
        chance = self.chance
        names = chance.sample([name for name in NAMES if name != "Name"], chance.randrange(1, 7))
        fields = [(name, "STRING" if name == "_corrupt_record" else chance.choice(SIMPLE)) for name in names]
        options = self.options()
        sep, quote, escape = (
            options.get("sep", ","),
            options.get("quote", '"') or '"',
            options.get("escape", "\\") or "\\",
        )
        written = [type_ for name, type_ in fields if name != "_corrupt_record"]
        records = [self.one(written, sep, quote, escape) for _ in range(count)]
        return Case("csv", self.json.columns(fields), options, records, settings_of(chance))
