"""Puts the newest benchmark record into the README's table, so that no number there was typed by hand.

In: bench/results/<architecture>/<date>.json as `make bench` writes it. Out: the README between its two marker lines.
Refuses to compute: ratios are those the record holds.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BEGIN = "<!-- numbers: written by `make bench`, not by hand -->"
END = "<!-- numbers: end -->"


def newest_record() -> dict[str, Any]:
    records = sorted((ROOT / "bench" / "results").glob("*/????-??-??.json"), key=lambda path: path.stat().st_mtime)
    if not records:
        sys.exit("readme_numbers: no record in bench/results; run: make bench")
    return dict(json.loads(records[-1].read_text()))


def ours(row: dict[str, Any]) -> bool:
    return str(row["contestant"]).startswith("formatter")


def race_of(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["part"], row["workload"], row["columns"], row["chunk_bytes"], row["threads"]


def table(record: dict[str, Any]) -> str:
    """One line a race that we and a peer both ran with right answers: our rate, the fastest peer's, the ratio."""
    races: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in record["results"]:
        if not row["wrong"]:
            races.setdefault(race_of(row), []).append(row)
    facts = record["facts"]
    lines = [
        f"{record['taken']}, {facts['cpu']}, {facts['cpus']} CPUs, kernel {facts['active_kernel']}, by `make bench`.",
        "",
        "| input | columns | buffers | threads | formatter GB/s | fastest peer GB/s | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for (part, workload, columns, chunk_bytes, threads), rows in races.items():
        own = max((row for row in rows if ours(row)), key=lambda row: row["gb_s"], default=None)
        peer = max((row for row in rows if not ours(row)), key=lambda row: row["gb_s"], default=None)
        if part not in ("read", "chunks") or own is None or peer is None:
            continue
        buffers = f"{chunk_bytes >> 10} KiB" if chunk_bytes else "whole"
        best = f"{peer['contestant']} {peer['gb_s']:.2f}"
        ratio = own["gb_s"] / peer["gb_s"]
        lines.append(f"| {workload} | {columns} | {buffers} | {threads} | {own['gb_s']:.2f} | {best} | {ratio:.1f} |")
    return "\n".join(lines)


def main() -> None:
    readme = ROOT / "README.md"
    before, rest = readme.read_text().split(BEGIN)
    _, after = rest.split(END)
    readme.write_text(f"{before}{BEGIN}\n{table(newest_record())}\n{END}{after}")
    print("README.md: numbers of the newest record are in")


if __name__ == "__main__":
    main()
