"""Chunks that yield fewer columns.

In: a task of chunks, positions of its output, predicates. Out: the task that decodes no more than those ask for, where in
its output they stand, and what of its structs is still to be left out: all that is asked.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyarrow import types

from formatter.plans import rescue_of
from spark_udfs.chunks.parse_task import ParseTask
from spark_udfs.pushdown.predicates import Nested, Tree, both, taken
from spark_udfs.stitch.stitch_global import GlobalParse

OTHER_TYPES_BITS = 1_000  # what decoding a value without a width is taken for


def narrowed_task(
    task: ParseTask | GlobalParse, columns: Sequence[int], nested: Nested, filters: Sequence[Tree]
) -> tuple[ParseTask | GlobalParse, Sequence[int], Nested]:
    if isinstance(task, ParseTask):
        return *_narrowed(task, columns, filters), nested
    parse, emitted = _narrowed(task.task, columns, filters)
    return task.narrowed(parse), emitted, nested


def _narrowed(task: ParseTask, columns: Sequence[int], filters: Sequence[Tree]) -> tuple[ParseTask, Sequence[int]]:
    """A task that decodes no more than it must, and where in its output the wanted columns stand."""
    names = task.schema.names
    parsed_count = len(names) - len(task.keep)
    fields = {at: task.format.schema.field(names[at]) for at in range(parsed_count)}
    rescue = rescue_of(task.format)
    askable = {at: field for at, field in fields.items() if field.name != rescue}
    wanted = both(task.filters, taken(filters, askable))
    # A record is dropped for an error in any of its columns, wanted or not, and misfits of all of them are rescued.
    if task.on_error == "skip" or rescue in [names[at] for at in columns]:
        return task.narrowed(names[:parsed_count], task.keep, wanted), columns
    decoded = [at for at in columns if at < parsed_count] or [_cheapest(fields)]
    kept = [at for at in columns if at >= parsed_count]
    positions = [*decoded, *kept]
    narrow = task.narrowed([names[at] for at in decoded], [names[at] for at in kept], wanted)
    return narrow, [positions.index(at) for at in columns]


def _cheapest(fields: dict[int, pa.Field]) -> int:
    """The column to decode where only the number of rows is wanted."""

    def cost(at: int) -> tuple[int, int]:
        type_ = fields[at].type
        return (type_.bit_width if types.is_primitive(type_) else OTHER_TYPES_BITS), at

    return min(fields, key=cost)
