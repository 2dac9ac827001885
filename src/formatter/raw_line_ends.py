"""Line ends inside JSON values that a raw column keeps as they are written.

In: an array of values. Out: the same with tabs for line ends, and the rows of two readings made one. The engine takes a line for
a record, so it reads a value's line ends as '\\r': space where they are space, an error where they are one. So does a tab.
Read once with each, a raw text has '\\r' in one and a tab in the other exactly where the value has a line end. Knows no
formats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

RETURN, TAB, LINE_END = b"\r\t\n"


def keeps_raw(schema: pa.Schema) -> bool:
    """Whether a column, or a field somewhere inside one, keeps its bytes."""
    return any(_is_raw(field) for field in schema)


def _is_raw(field: pa.Field) -> bool:
    if field.metadata and b"raw" in field.metadata:
        return True
    return any(_is_raw(field.type.field(i)) for i in range(field.type.num_fields))


def with_tabs(values: Any) -> pa.Array | None:
    """Values with a tab for each line end; None where none has one, so that nothing need be read twice."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    elif not isinstance(values, pa.Array):
        encoded = [value.encode() if isinstance(value, str) else value for value in values]
        values = pa.array([value if value is None else bytes(value) for value in encoded], pa.large_binary())
    if values.type in (pa.string_view(), pa.binary_view()):
        values = values.cast(pa.large_binary())
    if not pc.any(pc.match_substring(values, "\n")).as_py():
        return None
    return pc.replace_substring(values, "\n", "\t")


def merged(returns: pa.RecordBatch, tabs: pa.RecordBatch) -> pa.RecordBatch:
    """The batch of both readings. They differ in the bytes of raw texts only, so as messages they are equally long."""
    both = [np.frombuffer(_message(batch), np.uint8) for batch in (returns, tabs)]
    found = both[0].copy()
    found[(both[0] == RETURN) & (both[1] == TAB)] = LINE_END
    return pa.ipc.open_stream(pa.py_buffer(found)).read_next_batch()


def _message(batch: pa.RecordBatch) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()
