"""Points as well-known text has them. In: texts. Out: structs of two numbers, null where there is none."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from formatter.parsers.numbers import matching

POINT = pa.struct([("x", pa.float64()), ("y", pa.float64())])
NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"


def wkt_point(texts: pa.Array) -> pa.Array:
    """`POINT (30 10.5)`; one without coordinates is none."""
    found = pc.extract_regex(
        matching(texts, rf"^(?i)\s*POINT\s*\(\s*{NUMBER}\s+{NUMBER}\s*\)\s*$"),
        rf"\(\s*\+?(?P<x>{NUMBER})\s+\+?(?P<y>{NUMBER})\s*\)",
    )
    x, y = (pc.struct_field(found, name).cast(pa.float64()) for name in "xy")
    return pa.StructArray.from_arrays([x, y], fields=list(POINT), mask=found.is_null())


PARSERS = {"wkt_point": (POINT, wkt_point)}
