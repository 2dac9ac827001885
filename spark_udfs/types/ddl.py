"""Schemas as DDL text, read here: asking the JVM for the first one costs a quarter of a second.

In: "id BIGINT, tags ARRAY<STRING> NOT NULL, `a b` DECIMAL(10,2)". Out: the StructType that Spark makes of it, or None where
anything is not plain (a comment, a collation, a type that is not in the table): then Spark itself is to be asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyspark.sql import types as spark

PLAIN = {
    "boolean": spark.BooleanType, "tinyint": spark.ByteType, "byte": spark.ByteType, "smallint": spark.ShortType,
    "short": spark.ShortType, "int": spark.IntegerType, "integer": spark.IntegerType, "bigint": spark.LongType,
    "long": spark.LongType, "float": spark.FloatType, "real": spark.FloatType, "double": spark.DoubleType,
    "string": spark.StringType, "binary": spark.BinaryType, "date": spark.DateType,
    "variant": spark.VariantType, "timestamp_ntz": spark.TimestampNTZType, "timestamp_ltz": spark.TimestampType,
}  # fmt: skip
DEFAULT_DECIMAL = (10, 0)
MOST_DIGITS = 38
TOKEN = re.compile(r"\s*(?:`((?:[^`]|``)+)`|([A-Za-z_][A-Za-z0-9_]*|[0-9]+)|([<>(),:]))")
# Names that Spark reads as something else where a column's name stands, under one setting or another.
RESERVED = frozenset(("not", "null", "comment", "collate", "default", "generated", "struct", "interval"))


class NotPlain(Exception):
    """Something that only Spark's own parser knows."""


def struct_type(ddl: str, timestamp: spark.DataType | None) -> spark.StructType | None:
    """`timestamp`: what TIMESTAMP means, where that is known."""
    try:
        reader = _Reader(ddl, timestamp)
        fields = reader.fields(is_nested=False)
        reader.require_end()
    except NotPlain:
        return None
    names = [field.name.lower() for field in fields]
    return spark.StructType(fields) if len(set(names)) == len(names) else None


class _Reader:
    def __init__(self, ddl: str, timestamp: spark.DataType | None) -> None:
        self._timestamp = timestamp
        self._tokens = list(_tokens(ddl))
        self._at = 0

    def fields(self, is_nested: bool) -> list[spark.StructField]:
        fields = [self._field(is_nested)]
        while self._takes(","):
            fields.append(self._field(is_nested))
        return fields

    def require_end(self) -> None:
        if self._at != len(self._tokens):
            raise NotPlain

    def _field(self, is_nested: bool) -> spark.StructField:
        name, is_quoted = self._next()
        if not is_quoted and (name.lower() in RESERVED or not (name[0].isalpha() or name[0] == "_")):
            raise NotPlain
        if is_nested:
            self._takes(":")
        type_ = self._type()
        nullable = not (self._takes("not") and self._requires("null"))
        return spark.StructField(name, type_, nullable)

    def _type(self) -> spark.DataType:
        word, is_quoted = self._next()
        name = word.lower()
        if is_quoted:
            raise NotPlain
        if name in PLAIN:
            return PLAIN[name]()
        if name in ("decimal", "dec", "numeric"):
            return self._decimal()
        if name == "timestamp" and self._timestamp is not None:
            return self._timestamp
        if name not in ("array", "map", "struct"):
            raise NotPlain
        self._requires("<")
        if name == "array":
            nested: spark.DataType = spark.ArrayType(self._type())
        elif name == "map":
            key = self._type()
            self._requires(",")
            nested = spark.MapType(key, self._type())
        else:
            nested = spark.StructType(self.fields(is_nested=True))
        self._requires(">")
        return nested

    def _decimal(self) -> spark.DecimalType:
        if not self._takes("("):
            return spark.DecimalType(*DEFAULT_DECIMAL)
        digits, scale = self._number(), 0
        if self._takes(","):
            scale = self._number()
        self._requires(")")
        if not scale <= digits <= MOST_DIGITS:
            raise NotPlain
        return spark.DecimalType(digits, scale)

    def _number(self) -> int:
        text, _ = self._next()
        if not text.isdigit():
            raise NotPlain
        return int(text)

    def _next(self) -> tuple[str, bool]:
        if self._at == len(self._tokens):
            raise NotPlain
        self._at += 1
        return self._tokens[self._at - 1]

    def _takes(self, wanted: str) -> bool:
        found = self._at < len(self._tokens) and self._tokens[self._at]
        if not found or found[1] or found[0].lower() != wanted:
            return False
        self._at += 1
        return True

    def _requires(self, wanted: str) -> bool:
        if not self._takes(wanted):
            raise NotPlain
        return True


def _tokens(ddl: str) -> Iterator[tuple[str, bool]]:
    """Each with whether it stands in backquotes."""
    at, end = 0, len(ddl.rstrip())
    while at < end:
        found = TOKEN.match(ddl, at)
        if found is None:
            raise NotPlain
        at = found.end()
        if found[1] is not None:
            yield found[1].replace("``", "`"), True
        else:
            yield found[2] or found[3], False
