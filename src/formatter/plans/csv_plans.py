"""Csv as the engine reads it. In: a request, a dialect. Out: the engine's plan."""

from __future__ import annotations

from typing import Any

from formatter import _core
from formatter.formats import Csv
from formatter.formats.checks import as_bytes
from formatter.formats.csv import ENCODINGS, QUOTE_RULES, RAGGED, TEXT_ERRORS
from formatter.plans.plan_request import EnginePlan, PlanRequest


def csv_plan(request: PlanRequest) -> EnginePlan:
    format: Csv = request.format
    places = {name: place for place, name in enumerate(format.field_names)}
    columns = request.text_columns(places)
    dialect = csv_dialect(format) | request.options(columns, format.rescue) | {"fields": len(places)}
    if format.rescue is not None:
        dialect["known_names"] = [name.encode() for name in places]
    engine = _core.csv_plan(dialect, columns)
    if format.encoding != "utf-16":
        return EnginePlan(engine, request.laid_out)
    swapped = dialect | {"encoding": ENCODINGS["utf-16-be"]}
    return EnginePlan(engine, request.laid_out, _core.csv_plan(swapped, columns))


def csv_dialect(format: Csv) -> dict[str, Any]:
    def optional(value: str | bytes | None, name: str) -> bytes | None:
        return None if value is None else as_bytes(value, name)

    return {
        "delimiter": as_bytes(format.delimiter, "delimiter"),
        "record_end": as_bytes(format.record_delimiter, "record_delimiter"),
        "quote": optional(format.quote, "quote"),
        "quotes": QUOTE_RULES.index(format.quotes),
        "newlines_in_quotes": format.newlines_in_quotes,
        "max_quoted_lines": format.max_quoted_lines or 0,
        "max_quoted_bytes": format.max_quoted_bytes or 0,
        "escape": optional(format.escape, "escape"),
        "comment": optional(format.comment, "comment"),
        "trim": (format.trim in (True, "left"), format.trim in (True, "right")),
        "skip_lines": format.skip_lines,
        "header_at": format.header_positions,
        "skip_records": format.skip_records,
        "quoted_nulls": format.quoted_nulls,
        "repeated_headers": format.repeated_headers,
        "unique_names": format.unique_names,
        "trim_names": format.trim_names,
        "names_in_any_case": format.names_in_any_case,
        "absent_is_null": format.missing_columns == "null",
        "encoding": ENCODINGS[format.encoding],
        "errors": TEXT_ERRORS.index(format.errors),
        "decimal": format.decimal.encode(),
        "ragged": RAGGED.index(format.ragged),
        "counts_unmatched": format.unmatched == "counted",
        "nulls": [token.encode() for token in format.nulls],
        "trues": [token.encode() for token in format.true_values],
        "falses": [token.encode() for token in format.false_values],
        "timestamp_formats": [text.encode() for text in format.timestamp_formats],
    }
