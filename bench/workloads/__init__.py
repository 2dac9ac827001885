"""Every input by name. In: nothing. Out: WORKLOADS. `unseen` ones were added when the code was done: nobody tuned to them."""

from __future__ import annotations

from bench.workload import Workload
from bench.workloads import binary_rows, csv_tables, csv_unseen, json_events, json_unseen, mixed, odd_shapes

SEEN = {
    w.name: w for module in (csv_tables, json_events, mixed, binary_rows) for w in module.WORKLOADS if w.name != "plain"
}
UNSEEN = {
    w.name: w for w in (*csv_unseen.WORKLOADS, *json_unseen.WORKLOADS, *mixed.WORKLOADS[2:], *odd_shapes.WORKLOADS)
}
WORKLOADS: dict[str, Workload] = {**SEEN, **UNSEEN}


def of_kind(*kinds: str) -> dict[str, Workload]:
    return {name: workload for name, workload in WORKLOADS.items() if workload.kind in kinds}
