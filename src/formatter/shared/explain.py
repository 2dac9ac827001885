"""A shared stream in words. In: its projection and its consumers. Out: a tree. Refuses to know: how it came about."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from formatter.filters import filters_text
from formatter.plans import Format
from formatter.shared.consumer import Consumer
from formatter.shared.needs import paths
from formatter.shared.projection import Projection
from formatter.types import raw_text


def explained(format: Format, projection: Projection, consumers: Sequence[Consumer], idle: str) -> str:
    schema = format.schema
    decode = projection.decode
    lines = [f"SharedStream {type(format).__name__} version={projection.version} consumers={len(consumers)}"]
    filters = filters_text(decode.filters)
    raw = raw_text(pa.schema([field for field in schema if field.name in decode.names]))
    if projection.idle:
        lines.append(f"├─ Decode nothing version={projection.version} (nobody is subscribed, idle={idle!r})")
    else:
        lines.append(f"├─ Decode columns=[{', '.join(decode.names)}]{raw} version={projection.version}{filters}")
    union = paths(projection.needs, schema)
    lines.append(f"{'├' if consumers else '└'}─ Union columns=[{', '.join(union)}] of {len(schema)}")
    for number, consumer in enumerate(consumers):
        branch = "└" if number == len(consumers) - 1 else "├"
        lines.append(
            f"{branch}─ Consumer {consumer.name} needs=[{', '.join(consumer.required)}]{filters_text(consumer.rows.clauses)} "
            f"version={consumer.version} queue={consumer.capacity} overflow={consumer.overflow} lag={consumer.lag} "
            f"drops={consumer.dropped}"
        )
    return "\n".join(lines)
