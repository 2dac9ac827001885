"""Pipelines as plans: built stage by stage, rewritten, explained, run.

In: sources, stages, outputs. Out: a tree whose every thread boundary is a bridge and every fan-in an explicit barrier.
Refuses to know: how stages run (formatter.flow.running).

Rewrites, in order: filters and projections move below fan-ins, bridges and into parsers; sources keep the union of the
columns their consumers need; every output and every branch of a shared stage gets a bridge; last, fan-ins get barriers.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from formatter.batch_policy import BatchPolicy
from formatter.errors import FlowError, OptionError, SchemaError
from formatter.filters import check_columns, columns_of
from formatter.flow.backpressure import Backpressure, Pause
from formatter.flow.bridge import CAPACITY
from formatter.flow.key_hash import KEY_HASH
from formatter.flow.parsing import check_options
from formatter.flow.running import Running
from formatter.flow.stages import (
    Aligned,
    Filter,
    Handover,
    Map,
    Merge,
    Node,
    Parse,
    Select,
    Source,
    checked_filters,
)
from formatter.plans import check_format, gives_formats, with_rescue
from formatter.plans.plan_request import can_filter


class Stage:
    """A point in a pipeline; every method returns a new one. Used twice, it is a shared stage, computed once."""

    def __init__(self, node: Node) -> None:
        self._node = node

    @property
    def schema(self) -> pa.Schema:
        return self._node.schema()

    def parse(
        self,
        format: Any,
        *,
        threads: int = 1,
        state: bytes | None = None,
        schema: pa.Schema | None = None,
        **stream_options: Any,
    ) -> Stage:
        """Parse the raw buffers of a source: items (sequence, buffer) or (sequence, buffer, origin).

        `format`: as for `fm.Stream`, of several formats, too; `schema` is theirs, where a function gives them. `state`: of the
        `SourceState` to go on from. With `on_error="collect"` the run's `rejects()` has what was rejected.
        """
        if not isinstance(self._node, Source):
            raise FlowError("pipeline: parse: expected to follow a source of raw buffers")
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise OptionError(f"pipeline: parse: threads: expected 1 or more, found {threads!r}")
        for option, instead in (("columns", "select"), ("filters", "filter"), ("layout", "select")):
            if option in stream_options:
                raise OptionError(
                    f"pipeline: parse: {option}: write .{instead}(...) behind it, which is done while parsing"
                )
        format, full_schema = _with_schema(format, schema, stream_options.get("rescue"))
        check_options(format, stream_options)
        return Stage(Parse((self._node,), format, full_schema, threads, stream_options, state))

    def select(self, columns: Sequence[str]) -> Stage:
        if isinstance(columns, str):
            raise OptionError(f"pipeline: select: expected a list of columns, found {columns!r}")
        check_columns(list(columns), self.schema, "select")
        return Stage(Select((self._node,), tuple(columns)))

    def filter(self, filters: Any) -> Stage:
        """Keep rows, by filters in pyarrow.parquet's style."""
        return Stage(Filter((self._node,), checked_filters(filters, self.schema)))

    def map(self, function: Callable[[pa.RecordBatch], pa.RecordBatch], *, schema: pa.Schema | None = None) -> Stage:
        """Apply a function to every batch; `schema` is that of its result, by default the same."""
        return Stage(Map((self._node,), function, self.schema if schema is None else schema))

    def merge(self, *others: Stage, hold_data: bool = True, timeout: float | None = None) -> Stage:
        """Join streams of one schema: a fan-in. With `hold_data` checkpoints are consistent cuts."""
        if not others:
            raise FlowError("pipeline: merge: expected at least one other stage")
        for other in others:
            if not other.schema.equals(self.schema):
                raise SchemaError(f"pipeline: merge: expected one schema, found [{self.schema}] and [{other.schema}]")
        return Stage(Merge((self._node, *(other._node for other in others)), hold_data, timeout))

    def bridge(
        self,
        *,
        policy: BatchPolicy | None = None,
        backpressure: Backpressure | None = None,
        capacity: int = CAPACITY,
        key: str | Sequence[str] | None = None,
    ) -> Stage:
        """Hand over to another thread, in batches by the policy."""
        names = None if key is None else ((key,) if isinstance(key, str) else tuple(key))
        if names:
            check_columns(list(names), self.schema, "bridge: key")
        return Stage(Handover((self._node,), policy or BatchPolicy(), backpressure or Pause(), capacity, names))

    def explain(self) -> str:
        return Plan({"out": self}).explain()

    def run(self) -> Running:
        return Plan({"out": self}).run()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.run())


class Pipeline:
    """Where plans begin."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def source(self, name: str, items: Any, *, schema: pa.Schema | None = None) -> Stage:
        """Record batches and fm.Watermark from any iterable, or raw buffers if `.parse()` follows: items (sequence, buffer) or
        (sequence, buffer, origin).

        An iterable with a `snapshot()` method is asked for its position at every checkpoint. An fm.SharedStream is
        subscribed to when the plan runs, for the columns its stages need; an fm.Subscription is read as it is.
        """
        if name in self._names:
            raise FlowError(f"pipeline: source '{name}' exists already; give each source its own name")
        if schema is None and callable(getattr(items, "subscribe", None)):
            schema = items.full_schema
        if schema is None:
            schema = getattr(items, "schema", None)
            if schema is None and isinstance(items, list | tuple) and items and isinstance(items[0], pa.RecordBatch):
                schema = items[0].schema
        if isinstance(items, pa.Table):
            items = items.to_batches()
        self._names.add(name)
        return Stage(Source((), name, items, schema))

    def plan(self, outputs: Mapping[str, Stage] | None = None, **named: Stage) -> Plan:
        return Plan({**(outputs or {}), **named})


def pipeline() -> Pipeline:
    """Begins a pipeline.

    Returns:
        A `Pipeline`: `source(name, items)` gives a stage with `parse`, `select`, `filter`, `map`, `merge`, `bridge`,
        `explain` and `run`.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> batches = [pa.record_batch({"id": pa.array([1, 2, 3])})]
        >>> stage = fm.pipeline().source("numbers", batches).filter([("id", ">", 1)])
        >>> [rows.num_rows for rows in stage.run()]
        [2]
    """
    return Pipeline()


class Plan:
    """One or more outputs over shared stages, rewritten and ready to run."""

    def __init__(self, outputs: Mapping[str, Stage]) -> None:
        if not outputs:
            raise FlowError("pipeline: plan: expected at least one output, found none")
        nodes = {name: stage._node for name, stage in outputs.items()}
        for rewrite in (_push_down, _narrow_sources, _put_bridges, _put_barriers):
            nodes = rewrite(nodes)
        self.outputs: dict[str, Node] = nodes

    def explain(self) -> str:
        """The plan as it runs, outputs first; a shared stage is drawn once."""
        lines: list[str] = []
        drawn: set[int] = set()

        def draw(node: Node, lead: str, branch: str) -> None:
            again = id(node) in drawn
            lines.append(f"{lead}{branch}{node.label()}{' (shared, drawn above)' if again else ''}")
            below = lead + {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
            if again:
                return
            drawn.add(id(node))
            subscribed = (node.shared_views() if isinstance(node, Source) else None) or ()
            for consumer, columns in (*getattr(node, "views", ()), *subscribed):
                lines.append(
                    f"{below}{'│  ' if node.inputs else '   '}consumer {consumer} needs [{', '.join(columns)}]"
                )
            for number, each in enumerate(node.inputs):
                draw(each, below, "└─ " if number == len(node.inputs) - 1 else "├─ ")

        for name, node in self.outputs.items():
            lines.append(f"Output {name}")
            draw(node, "", "└─ ")
        return "\n".join(lines)

    def run(self) -> Running:
        """Start the threads. Iterate the result, or its `consumers` for several outputs."""
        return Running(self.outputs)


Nodes = dict[str, Node]


def _with_schema(format: Any, given: pa.Schema | None, rescue: str | None) -> tuple[Any, pa.Schema]:
    """What a stream is made with, and the schema of what it gives."""
    if gives_formats(format):
        if given is None:
            raise OptionError("pipeline: parse: expected schema=, that of the formats which the function gives")
        return _checked(format, given, rescue), given
    if given is not None:
        raise OptionError(
            "pipeline: parse: schema: a function's formats have it; what you gave has a schema of its own"
        )
    if isinstance(format, Mapping) and not format:
        raise OptionError("pipeline: parse: expected formats by origin, found none")
    one = next(iter(format.values())) if isinstance(format, Mapping) else format
    check_format(one)
    return format, with_rescue(one, rescue).schema


def _checked(formats: Callable[..., Any], schema: pa.Schema, rescue: str | None) -> Callable[..., Any]:
    @functools.wraps(formats)
    def format_of(*origin_and_start: Any) -> Any:
        format = formats(*origin_and_start)
        if not with_rescue(format, rescue).schema.equals(schema):
            raise SchemaError(f"pipeline: parse: origin {origin_and_start[0]!r} has not the schema that was given")
        return format

    return format_of


def _consumers(outputs: Nodes) -> Counter[int]:
    """How many edges lead to each node, by identity."""
    count: Counter[int] = Counter(id(node) for node in outputs.values())
    seen: set[int] = set()

    def walk(node: Node) -> None:
        if id(node) not in seen:
            seen.add(id(node))
            for each in node.inputs:
                count[id(each)] += 1
                walk(each)

    for node in outputs.values():
        walk(node)
    return count


def _rebuild(outputs: Nodes, change: Callable[[Node, Node], Node]) -> Nodes:
    """Every node anew, inputs first, shared ones once. `change(node, rebuilt)` returns what takes its place."""
    done: dict[int, Node] = {}

    def build(node: Node) -> Node:
        if id(node) not in done:
            inputs = tuple(build(each) for each in node.inputs)
            rebuilt = node if inputs == node.inputs else replace(node, inputs=inputs)
            done[id(node)] = change(node, rebuilt)
        return done[id(node)]

    return {name: build(node) for name, node in outputs.items()}


def _push_down(outputs: Nodes) -> Nodes:
    """Rows and columns nobody wants are dropped before a fan-in, before a bridge, or while parsing."""
    count = _consumers(outputs)

    def sink(node: Node, below: Node) -> Node:
        """`node`, a Select or Filter, put as deep under `below` as it may go."""
        if isinstance(below, Merge):
            return replace(
                below, inputs=tuple(sink(node, each) if free(each) else over(node, each) for each in below.inputs)
            )
        if isinstance(below, Handover) and (
            not below.key or (isinstance(node, Filter) and KEY_HASH not in columns_of(node.filters))
        ):
            deeper = below.inputs[0]
            return replace(below, inputs=(sink(node, deeper) if free(deeper) else over(node, deeper),))
        if isinstance(below, Parse) and isinstance(node, Filter) and not below.filters and below.columns is None:
            if can_filter(below.full_schema, columns_of(node.filters)):
                return replace(below, filters=node.filters)
            return over(node, below)
        if isinstance(below, Parse) and isinstance(node, Select) and below.columns is None:
            return replace(below, columns=node.columns)
        return over(node, below)

    def free(node: Node) -> bool:
        return count[id(node)] <= 1

    def over(node: Node, below: Node) -> Node:
        return replace(node, inputs=(below,))

    def change(node: Node, rebuilt: Node) -> Node:
        if isinstance(node, Select | Filter) and free(node.inputs[0]):
            return sink(rebuilt, rebuilt.inputs[0])
        return rebuilt

    return _rebuild(outputs, change)


def _narrow_sources(outputs: Nodes) -> Nodes:
    """Each source keeps what its consumers need together; a shared one remembers what each of them needs."""
    needs: dict[int, list[tuple[str, frozenset[str]]]] = {}

    def walk(node: Node, wanted: frozenset[str], consumer: str) -> None:
        if isinstance(node, Parse) or (isinstance(node, Source) and node.full_schema is not None):
            needs.setdefault(id(node), []).append((consumer, wanted))
        elif isinstance(node, Select):
            walk(node.inputs[0], frozenset(node.columns), f"{consumer}/{node.label()}")
        elif isinstance(node, Filter):
            walk(node.inputs[0], wanted | set(columns_of(node.filters)), f"{consumer}/{node.label()}")
        elif isinstance(node, Map):
            walk(node.inputs[0], frozenset(node.inputs[0].schema().names), f"{consumer}/{node.label()}")
        elif isinstance(node, Handover):
            walk(node.inputs[0], (wanted - {KEY_HASH} if node.key else wanted) | set(node.key or ()), consumer)
        else:
            for number, each in enumerate(node.inputs):
                walk(each, wanted, f"{consumer}/{number}" if len(node.inputs) > 1 else consumer)

    for name, node in outputs.items():
        walk(node, frozenset(node.schema().names), name)

    def change(node: Node, rebuilt: Node) -> Node:
        if isinstance(rebuilt, Merge):  # one input may have kept a column more, for its filter
            kept = [frozenset(each.schema().names) for each in rebuilt.inputs]
            names = [name for name in node.schema().names if all(name in there for there in kept)]
            inputs = (
                each if each.schema().names == names else Select((each,), tuple(names)) for each in rebuilt.inputs
            )
            return replace(rebuilt, inputs=tuple(inputs))
        if id(node) not in needs or not isinstance(rebuilt, Source | Parse):
            return rebuilt
        names = rebuilt.schema().names
        union = frozenset[str]().union(*(wanted for _, wanted in needs[id(node)]))
        views = tuple(
            (consumer, tuple(name for name in names if name in wanted)) for consumer, wanted in needs[id(node)]
        )
        columns = rebuilt.columns
        if columns is None and len(union) < len(names):
            columns = tuple(name for name in names if name in union)
        return replace(rebuilt, columns=columns, views=views if len(views) > 1 else ())

    return _rebuild(outputs, change)


def _put_bridges(outputs: Nodes) -> Nodes:
    """Outputs, and every branch of a shared stage, run in threads of their own.

    A branch's filters and projections stay below its bridge: what it does not want never crosses.
    """
    count = _consumers(outputs)
    shared = {id(node) for node in _all_nodes(outputs) if count[id(node)] > 1}

    def branches(node: Node) -> bool:
        return id(node) in shared or (isinstance(node, Select | Filter) and branches(node.inputs[0]))

    def change(node: Node, rebuilt: Node) -> Node:
        if isinstance(rebuilt, Handover | Select | Filter):
            return rebuilt
        inputs = tuple(
            Handover((built,)) if branches(original) and not _is_own_bridge(original, shared) else built
            for original, built in zip(node.inputs, rebuilt.inputs, strict=True)
        )
        return rebuilt if inputs == rebuilt.inputs else replace(rebuilt, inputs=inputs)

    built = _rebuild(outputs, change)
    return {name: node if _is_own_bridge(outputs[name], shared) else Handover((node,)) for name, node in built.items()}


def _is_own_bridge(node: Node, shared: set[int]) -> bool:
    return isinstance(node, Handover) and id(node) not in shared


def _put_barriers(outputs: Nodes) -> Nodes:
    """The last rewrite: nothing may come between a fan-in and its barrier."""

    def change(node: Node, rebuilt: Node) -> Node:
        if not isinstance(rebuilt, Merge):
            return rebuilt
        barrier = Aligned(rebuilt.inputs, len(rebuilt.inputs), rebuilt.hold_data, rebuilt.timeout)
        return replace(rebuilt, inputs=(barrier,))

    return _rebuild(outputs, change)


def _all_nodes(outputs: Nodes) -> list[Node]:
    found: dict[int, Node] = {}

    def walk(node: Node) -> None:
        if id(node) not in found:
            found[id(node)] = node
            for each in node.inputs:
                walk(each)

    for node in outputs.values():
        walk(node)
    return list(found.values())
