"""Arrow types as SQL spells them, for contestants that are asked in SQL."""

from __future__ import annotations

import pyarrow as pa

from bench.contestant import Declined

SQL_TYPES = {
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float32(): "REAL",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
    pa.date32(): "DATE",
    pa.string(): "VARCHAR",
    pa.timestamp("us"): "TIMESTAMP",
    pa.timestamp("us", "UTC"): "TIMESTAMP WITH TIME ZONE",
}


def sql_type(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    if pa.types.is_struct(kind):
        return "STRUCT(" + ", ".join(f'"{member.name}" {sql_type(member.type)}' for member in kind) + ")"
    if pa.types.is_list(kind):
        return sql_type(kind.value_type) + "[]"
    if kind not in SQL_TYPES:
        raise Declined(f"no SQL type for {kind}")
    return SQL_TYPES[kind]


def sql_names(columns: tuple[str, ...]) -> str:
    """Members by dots: "user"."name" as "user.name"."""
    return ", ".join(_sql_name(column) for column in columns)


def _sql_name(column: str) -> str:
    if "." not in column:
        return f'"{column}"'
    dotted = '"' + column.replace(".", '"."') + '"'
    return f'{dotted} AS "{column}"'


def filter_sql(filters: list[tuple[str, str, float]]) -> str:
    clauses = [f'"{column}" {operator} {value!r}' for column, operator, value in filters]
    return f" WHERE {' AND '.join(clauses)}" if clauses else ""
