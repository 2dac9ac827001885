"""Results as a table for people and as a record for later.

In: results as dictionaries, facts. Out: text; a JSON file under bench/results/<architecture>/<date>.json.
Refuses to know: how anything was measured.
"""

from __future__ import annotations

import datetime
import json
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
Row = dict[str, Any]


def fastest_peer(row: Row, rows: Iterable[Row]) -> Row | None:
    """The best contestant other than ours in the same race."""
    keys = ("part", "workload", "threads", "columns", "chunk_bytes")
    peers = [
        other
        for other in rows
        if not other["contestant"].startswith("formatter")
        and not other["wrong"]
        and all(other[key] == row[key] for key in keys)
    ]
    return max(peers, key=lambda other: float(other["gb_s"]), default=None)


def add_ratios(rows: list[Row]) -> None:
    """Ours against the fastest peer, against one thread, kernels against the best, filtered against unfiltered."""
    for row in rows:
        if not row["contestant"].startswith("formatter") or row["wrong"]:
            continue
        if peer := fastest_peer(row, rows):
            row["ratios"] = {f"x {peer['contestant']}": row["gb_s"] / peer["gb_s"]}
        else:
            row["ratios"] = {}
        base = _base_of(row, rows)
        if base and not base[1]["wrong"]:
            row["ratios"][base[0]] = row["gb_s"] / base[1]["gb_s"]


def _base_of(row: Row, rows: list[Row]) -> tuple[str, Row] | None:
    def like(**changes: Any) -> Row | None:
        keys = ("part", "workload", "contestant", "threads", "columns", "chunk_bytes")
        wanted = {key: changes.get(key, row[key]) for key in keys}
        return next((other for other in rows if all(other[key] == wanted[key] for key in keys)), None)

    name, other = "", None
    if row["part"] == "filter" and row["columns"] != "all":
        name, other = "x unfiltered", like(columns="all")
    elif row["part"] == "growth":
        name, other = "of the smallest", like()
    elif row["part"] == "kernels":
        name, other = (
            "of the best kernel",
            next((o for o in rows if all(o[k] == row[k] for k in ("part", "workload", "columns"))), None),
        )
    elif row["threads"] > 1:
        name, other = "x one thread", like(threads=1)
    return (name, other) if other else None


def line(row: Row) -> str:
    chunk = f"{row['chunk_bytes'] >> 10} KiB" if row["chunk_bytes"] else "whole"
    if row["part"] == "growth":
        chunk = f"{row['size_bytes'] / 1e6:.0f} MB"
    where = f"{row['part']:<8}{row['workload']:<8}{row['columns']:<22}{chunk:>9}{row['threads']:>3}  "
    who = f"{row['contestant']:<20}"
    if row["wrong"]:
        return f"{where}{who}WRONG: {row['wrong']}"
    ratios = "  ".join(f"{ratio:6.2f} {name}" for name, ratio in row.get("ratios", {}).items())
    return f"{where}{who}{row['gb_s']:>8.3f} GB/s {row['peak_mb']:>6} MB  {ratios}"


HEADING = f"{'part':<8}{'input':<8}{'columns':<22}{'buffers':>9}{'thr':>4} contestant"


def save(rows: list[Row], facts: dict[str, Any], options: dict[str, Any]) -> Path:
    now = datetime.datetime.now(datetime.UTC)
    target = RESULTS / platform.machine() / f"{now:%Y-%m-%d}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    for row in rows:
        row.update({key: round(row[key], 6) for key in ("best_s", "gb_s")})
        row["ratios"] = {name: round(ratio, 3) for name, ratio in row.get("ratios", {}).items()}
    record = {"taken": f"{now:%Y-%m-%d %H:%M} UTC", "options": options, "facts": facts, "results": rows}
    target.write_text(json.dumps(record, indent=1) + "\n")
    return target
