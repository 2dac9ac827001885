"""A Delimited format's columns as the engine reads them: types, paths, spellings. In: a request. Out: a plan."""

from __future__ import annotations

from formatter import _core
from formatter.formats import Delimited
from formatter.plans.csv_plans import csv_dialect
from formatter.plans.plan_request import EnginePlan, PlanRequest

OPEN_RANGE = (1 << 32) - 1  # ByteRange::open in engine/delimited/delimited_format.hpp


def delimited_plan(request: PlanRequest) -> EnginePlan:
    format: Delimited = request.format
    specs = request.text_columns({name: place for place, name in enumerate(format.schema.names)})
    columns = []
    for spec in specs:
        steps, (begin, end) = format.steps_of(spec["name"])
        columns.append({"spec": spec, "steps": steps, "range": (begin, OPEN_RANGE if end is None else end)})
    declared = {
        "record_start": format.record_start,
        "comment": format.comment,
        "trim": format.trim,
        "levels": [(level.separator, level.key or b"", level.collapse, level.marks) for level in format.levels],
        "marks": [(mark[0], mark[1], mark in format.kept_marks) for mark in format.marks],
        "escapes": list(format.escapes),
        "bare_escapes": format.bare_escapes,
    }
    dialect = csv_dialect(format.values_as) | request.options(specs)
    return EnginePlan(_core.delimited_plan(declared, dialect, columns), request.laid_out)
