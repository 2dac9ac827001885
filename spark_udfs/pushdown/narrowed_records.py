"""Records that yield fewer columns.

In: a task of records in a column, positions of its output, predicates. Out: the task that parses no more than those ask for, where
in its output they stand, and what of its structs is still to be left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from formatter.plans import rescue_of
from spark_udfs.pushdown.predicates import Nested, Tree, both, taken
from spark_udfs.records.record_task import RecordTask


def narrowed_task(
    task: RecordTask, columns: Sequence[int], nested: Nested, filters: Sequence[Tree]
) -> tuple[RecordTask, Sequence[int], Nested]:
    schema = task.format.schema
    rescue = rescue_of(task.format)
    fields = {
        at: schema.field(output.name)
        for at, output in enumerate(task.outputs)
        if output.kind == "parsed" and output.name != rescue
    }
    structs = {at: chosen for at, chosen in nested.items() if task.outputs[at].kind == "struct"}
    narrow = task.narrowed(columns, structs, both(task.filters, taken(filters, fields)))
    return narrow, range(len(columns)), {at: chosen for at, chosen in nested.items() if at not in structs}
