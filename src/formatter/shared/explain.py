"""A shared stream in words. In: its lanes and its consumers. Out: a tree. Refuses to know: how it came about."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from formatter.filters import filters_text
from formatter.shared.consumer import Consumer
from formatter.shared.lane import Lane
from formatter.shared.needs import paths
from formatter.shared.projection import Demand
from formatter.types import raw_text


def explained(
    schema: pa.Schema, demand: Demand, lanes: Sequence[Lane], consumers: Sequence[Consumer], idle: str
) -> str:
    kinds = dict.fromkeys(type(lane.format).__name__ for lane in lanes)
    title = ", ".join(kinds) or "formats by origin"
    lines = [f"SharedStream {title} version={demand.version} consumers={len(consumers)}"]
    if demand.idle:
        lines.append(f"├─ Decode nothing version={demand.version} (nobody is subscribed, idle={idle!r})")
    for lane in () if demand.idle else lanes:
        decode = lane.projection.decode
        of = f" {type(lane.format).__name__}" if len(lanes) > 1 else ""
        raw = raw_text(pa.schema([field for field in schema if field.name in decode.names]))
        filters = filters_text(decode.filters)
        lines.append(f"├─ Decode{of} columns=[{', '.join(decode.names)}]{raw} version={demand.version}{filters}")
    union = paths(demand.needs, schema)
    lines.append(f"{'├' if consumers else '└'}─ Union columns=[{', '.join(union)}] of {len(schema)}")
    for number, consumer in enumerate(consumers):
        branch = "└" if number == len(consumers) - 1 else "├"
        lines.append(
            f"{branch}─ Consumer {consumer.name} needs=[{', '.join(consumer.required)}]{filters_text(consumer.rows.clauses)} "
            f"version={consumer.version} queue={consumer.capacity} overflow={consumer.overflow} lag={consumer.lag} "
            f"drops={consumer.dropped}"
        )
    return "\n".join(lines)
