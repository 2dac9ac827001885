"""A Native format's columns as the engine reads them: types, readings, offsets. In: a request. Out: a plan."""

from __future__ import annotations

from itertools import accumulate

import pyarrow as pa

from formatter import _core, types
from formatter.errors import OptionError
from formatter.formats import Native
from formatter.formats.binary import length_of, native_width
from formatter.plans.plan_request import EnginePlan, PlanRequest


def storage_type(wanted: pa.DataType) -> pa.DataType:
    """The type that is decoded: what has the same bytes, where there is one."""
    t = pa.types
    if t.is_date64(wanted) or t.is_time64(wanted) or t.is_duration(wanted):
        return pa.int64()
    return pa.int32() if t.is_time32(wanted) else types.storage_type(wanted)


def binary_plan(request: PlanRequest) -> EnginePlan:
    format: Native = request.inner
    if format.has_rest and not request.single and format is request.format:
        last = format.schema.field(len(format.schema) - 1)
        raise OptionError(
            f"Native: column {last.name!r}: {last.type} has no fixed width, so nothing tells where a row ends; "
            "wrap the format in fm.Framed(..., length='u32le')"
        )
    widths = {field.name: native_width(field.type) or 0 for field in format.schema}
    offsets = dict(zip(widths, accumulate(widths.values(), initial=0), strict=False))
    specs, columns = [], []
    for field in request.decoded:
        stored = pa.field(field.name, storage_type(field.type), field.nullable)
        specs.append(types.column_description(stored, owner="Native"))
        columns.append({"spec": specs[-1], "offset": offsets[field.name], "width": widths[field.name]})
    options = request.options(specs) | {
        "row_width": format.row_width,
        "has_rest": format.has_rest,
        "big_endian": format.endian == "big",
        "length": length_of(request.format),
    }
    return EnginePlan(_core.binary_plan(options, columns), [storage_type(field.type) for field in request.fields])
