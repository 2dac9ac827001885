"""What a plan is made of: one frozen node per stage. In: nodes. Out: schemas, and what they are called.

Refuses to know: rewriting, threads, queues. Nodes compare by identity, so one node under two parents is a shared stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from formatter.batch_policy import BatchPolicy
from formatter.errors import FlowError, SchemaError
from formatter.filters import filters_text, normalized
from formatter.flow.backpressure import Backpressure, Pause
from formatter.flow.bridge import CAPACITY
from formatter.flow.key_hash import KEY_HASH
from formatter.row_choice import BatchFilter
from formatter.types import raw_text

Clauses = list[list[tuple[Any, ...]]]


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    inputs: tuple[Node, ...]

    def schema(self) -> pa.Schema:
        return self.inputs[0].schema()

    def label(self) -> str:
        return type(self).__name__


@dataclass(frozen=True, eq=False, slots=True)
class Source(Node):
    """Batches (or raw buffers, when a Parse follows) and watermarks from any iterable, read in a thread of its own."""

    name: str
    items: Iterable[Any]
    full_schema: pa.Schema | None
    columns: tuple[str, ...] | None = None  # what somebody downstream needs; None: all
    views: tuple[tuple[str, tuple[str, ...]], ...] = ()  # per consumer, when shared

    def schema(self) -> pa.Schema:
        if self.full_schema is None:
            raise SchemaError(f"pipeline: source '{self.name}' has no schema; pass schema= or parse its buffers")
        return narrowed(self.full_schema, self.columns)

    def label(self) -> str:
        shared = " of a SharedStream" if self.shared_views() is not None else ""
        return f"Source {self.name}{shared}" + columns_text(self.columns)

    def shared_views(self) -> Iterable[tuple[str, tuple[str, ...]]] | None:
        """If the items are those of a shared stream: who is subscribed to it now, and what each of them needs."""
        from formatter.shared import SharedStream, Subscription  # they import the batch policy from here

        return self.items.views if isinstance(self.items, SharedStream | Subscription) else None


@dataclass(frozen=True, eq=False, slots=True)
class Parse(Node):
    """Raw buffers through an fm.Stream, pushed from `threads` threads; items are (sequence, buffer[, origin]).

    `full_schema`: of the format, or of all formats if origins have formats of their own."""

    format: Any
    full_schema: pa.Schema
    threads: int
    options: dict[str, Any]
    state: bytes | None = None
    columns: tuple[str, ...] | None = None
    filters: Clauses = field(default_factory=list)
    views: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def schema(self) -> pa.Schema:
        return narrowed(self.full_schema, self.columns)

    def label(self) -> str:
        kind = formats_text(self.format)
        wanted = columns_text(self.columns) + raw_text(self.schema()) + filters_text(self.filters)
        return f"Parse {kind} threads={self.threads}{wanted}"


@dataclass(frozen=True, eq=False, slots=True)
class Select(Node):
    columns: tuple[str, ...]

    def schema(self) -> pa.Schema:
        return pa.schema([self.inputs[0].schema().field(name) for name in self.columns])

    def label(self) -> str:
        return "Select" + columns_text(self.columns)


@dataclass(frozen=True, eq=False, slots=True)
class Filter(Node):
    filters: Clauses

    def label(self) -> str:
        return "Filter" + filters_text(self.filters)


@dataclass(frozen=True, eq=False, slots=True)
class Map(Node):
    """Any function from batch to batch; it sees every column, and nothing is moved across it."""

    function: Callable[[pa.RecordBatch], pa.RecordBatch]
    out_schema: pa.Schema

    def schema(self) -> pa.Schema:
        return self.out_schema

    def label(self) -> str:
        return f"Map {getattr(self.function, '__name__', 'function')}"


@dataclass(frozen=True, eq=False, slots=True)
class Merge(Node):
    """Rows of several stages of one schema, in any order; controls aligned by the Barrier the plan puts below."""

    hold_data: bool = True
    timeout: float | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Aligned(Node):
    """A fan-in's barrier: a checkpoint passes once all upstreams have delivered it, watermarks by their minimum."""

    upstream_count: int
    hold_data: bool
    timeout: float | None

    def label(self) -> str:
        timeout = "" if self.timeout is None else f" timeout={self.timeout}"
        return f"Barrier upstream_count={self.upstream_count} hold_data={self.hold_data}{timeout}"


@dataclass(frozen=True, eq=False, slots=True)
class Handover(Node):
    """A bridge: what is above it runs in another thread than what is below."""

    policy: BatchPolicy = field(default_factory=BatchPolicy)
    backpressure: Backpressure = field(default_factory=Pause)
    capacity: int = CAPACITY
    key: tuple[str, ...] | None = None

    def schema(self) -> pa.Schema:
        schema = self.inputs[0].schema()
        return schema.append(pa.field(KEY_HASH, pa.uint64(), nullable=False)) if self.key else schema

    def label(self) -> str:
        policy = self.policy
        key = f" key=[{', '.join(self.key)}]" if self.key else ""
        return (
            f"Bridge max_rows={policy.max_rows} max_latency_ms={policy.max_latency_ms} capacity={self.capacity} "
            f"backpressure={type(self.backpressure).__name__}{key}"
        )


def formats_text(format: Any) -> str:
    """What buffers are written in, be it one format or several by origin."""
    if isinstance(format, Mapping):
        return ", ".join(dict.fromkeys(type(each).__name__ for each in format.values())) + " by origin"
    return "formats by origin" if callable(format) else type(format).__name__


def narrowed(schema: pa.Schema, columns: Sequence[str] | None) -> pa.Schema:
    return schema if columns is None else pa.schema([schema.field(name) for name in columns])


def columns_text(columns: Sequence[str] | None) -> str:
    return "" if columns is None else f" columns=[{', '.join(columns)}]"


def checked_filters(filters: Any, schema: pa.Schema) -> Clauses:
    clauses = normalized(filters)
    if not clauses:
        raise FlowError("pipeline: filter: expected at least one (column, operator, value), found none")
    BatchFilter(clauses, schema)  # which refuses columns there are not, and values that cannot be compared
    return clauses
