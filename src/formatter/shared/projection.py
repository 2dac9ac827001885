"""The decode that is in force: what consumers need together, a format's plan for it, and who gets what of a batch.

In: consumers, a format. Out: plans, remembered by what they decode; batches per group of consumers. Refuses to know: when a
projection changes, queues.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from formatter import _core, types
from formatter.batch import NullColumns
from formatter.buffer_intake import told_to_stream
from formatter.filters import Filters, described, normalized
from formatter.plans import DecodePlan, Format, make_plan
from formatter.row_choice import chosen_rows, mask_of
from formatter.shared.batches import SharedBatch
from formatter.shared.consumer import Consumer
from formatter.shared.layout import Layout
from formatter.shared.needs import Needs, in_order, paths
from formatter.shared.row_filters import RowFilter

PREDICATES_KEPT = 256
PLANS_KEPT = 64  # a plan of a hundred columns takes a tenth of a millisecond to make; consumers come and go


class Decode:
    """A plan and the layout of its batches."""

    def __init__(
        self, format: Format, needs: Needs, filters: Filters, told: dict[str, Any], nulls: NullColumns
    ) -> None:
        schema = format.schema
        self.filters = normalized(filters)  # the stream's own, for everybody
        self._predicates: dict[str, _core.RowPredicate] = {}
        self.plan: DecodePlan = make_plan(format, columns=list(paths(needs, schema)), filters_wanted=filters, **told)
        self.layout = Layout(needs, schema, nulls)
        names = self.plan.engine.column_names
        self.schema_indices: npt.NDArray[np.uint32] = np.array(
            [schema.get_field_index(name) for name in names], np.uint32
        )
        # What is really decoded: with the columns that only the stream's own filter needs.
        self.names = paths(in_order([needs, dict.fromkeys(names[len(self.plan.columns) :])], schema), schema)
        codes = [types.type_code(types.storage_type(field.type)) for field in self.plan.storage]
        self._codes = [0 if code is None else code for code in codes]

    def predicate(self, rows: RowFilter) -> _core.RowPredicate:
        made = self._predicates.pop(rows.key, None) or self._predicate(rows)
        self._predicates[rows.key] = made
        while len(self._predicates) > PREDICATES_KEPT:
            del self._predicates[next(iter(self._predicates))]
        return made

    def _predicate(self, rows: RowFilter) -> _core.RowPredicate:
        fields = self.plan.storage
        columns = [{"name": field.name, "type": code} for field, code in zip(fields, self._codes, strict=True)]
        return _core.RowPredicate(described(rows.clauses, columns, self.plan.format.schema), self._codes)


@dataclass(frozen=True)
class Demand:
    """What consumers need together, from one change to the next."""

    version: int = 0
    needs: Needs = field(default_factory=dict)
    consumers: tuple[Consumer, ...] = ()

    @property
    def idle(self) -> bool:
        """Nobody is there."""
        return not self.consumers


class Projection:
    """What is decoded of one format to meet a demand, and for whom. The engine hands it back with every batch."""

    def __init__(self, demand: Demand, decode: Decode) -> None:
        self.demand = demand
        self.decode = decode
        self.everything = tuple(c for c in demand.consumers if not c.rows.clauses)
        chosen: dict[str, list[Consumer]] = {}  # equal filters are evaluated once
        for consumer in demand.consumers:
            if consumer.rows.clauses:
                chosen.setdefault(consumer.rows.key, []).append(consumer)
        self.chosen = tuple((decode.predicate(group[0].rows), tuple(group)) for group in chosen.values())

    def batches(
        self, capsule: object, origin: int | str, spans: tuple[tuple[int, int], ...], number: int
    ) -> tuple[SharedBatch, list[tuple[SharedBatch, tuple[Consumer, ...]]]]:
        """The batch as it was decoded, and who gets all of it or some of its rows."""
        passing = [predicate.passing(capsule) for predicate, _ in self.chosen]
        decoded = self.decode.plan.batch(capsule)
        about = (self.decode.layout, origin, spans, self.demand.version, number)
        whole = SharedBatch(decoded, *about)
        groups = [(whole, self.everything)]
        for (count, bits), (_, consumers) in zip(passing, self.chosen, strict=True):
            if count == decoded.num_rows:
                groups.append((whole, consumers))
            elif count:
                mask = mask_of(bits, decoded.num_rows)
                groups.append((SharedBatch(chosen_rows(decoded, mask), *about), consumers))
        return whole, groups


class Decodes:
    """Plans for one format, made when first needed. Not for several threads at once."""

    def __init__(self, format: Format, filters: Filters, on_error: str) -> None:
        self._format = format
        self._filters = normalized(filters) or None
        self._told = told_to_stream(on_error)
        self._nulls = NullColumns()
        self._made: dict[tuple[str, ...], Decode] = {}
        # With nobody listening records are only counted: what is wrong with them is nobody's error.
        self.nothing = Decode(format, {}, None, {"on_error": "skip"}, self._nulls)

    def of(self, needs: Needs) -> Decode:
        key = paths(needs, self._format.schema)
        made = self._made.pop(key, None) or Decode(self._format, needs, self._filters, self._told, self._nulls)
        self._made[key] = made
        while len(self._made) > PLANS_KEPT:
            del self._made[next(iter(self._made))]
        return made
