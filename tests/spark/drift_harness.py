"""Kills a streaming query whose data drifts, again and again: every value arrives once, and it starts anew at most once a change.

`python tests/spark/drift_harness.py RECORDS [SEED] [KILLS] [POLICIES]`, where RECORDS have 1,000 new fields and 100 conflicts
between them (tests/oracle/drifting_records.py). Each life of the query (drift_query.py) is a process group of its own; what is
killed is the driver with everything in it, or the processes in which tasks run Python. Exit code 1 if a value is lost, arrives
twice or as another, or if there are more new starts than changes.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from itertools import groupby
from pathlib import Path

import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(Path(__file__).resolve().parent)]

from crash_harness import run_killed  # noqa: E402  (as by hand)
from oracle.drifting_records import DriftingRecords  # noqa: E402
from oracle.schema_growth import wrongly_grown  # noqa: E402
from oracle.value_sums import ValueSums  # noqa: E402

import formatter as fm  # noqa: E402

RESCUED = "_rescued"
BLOCK_RECORDS = 4096
FILES_A_BATCH = 2  # two tasks notice at a time


def write_input(folder: Path, source: DriftingRecords, policy: str) -> ValueSums:
    """A block of the records is a file. Returns what must arrive."""
    (folder / "in").mkdir(parents=True)
    wanted = {"source": source.given, "policy": policy, "files_a_batch": FILES_A_BATCH}
    (folder / "wanted.json").write_text(json.dumps(wanted))
    expected = ValueSums()
    for block in range(source.blocks):
        source.expect(block, expected)
        (folder / "in" / f"{block:06}.json").write_bytes(source.block(block))
    return expected


def found_values(folder: Path) -> tuple[ValueSums, list[str]]:
    """Of the micro-batches that were committed; and what of their schemas did not only grow."""
    found, wrong, before = ValueSums(), [], None
    epochs = [int(path.name) for path in (folder / "state" / "commits").iterdir() if path.name.isdigit()]
    for epoch in sorted(epochs):
        for path in sorted((folder / "out" / str(epoch)).glob("*.parquet")):
            table = pq.ParquetFile(path).read()
            found.add_batch(table, RESCUED)
        if before is not None:
            wrong += wrongly_grown(before, table.schema, RESCUED)
        before = table.schema
    return found, wrong


def restarts(folder: Path) -> tuple[int, bool]:
    """How often the query started itself anew, and whether it knew more each time."""
    starts = [tuple(map(int, line.split())) for line in (folder / "starts").read_text().splitlines()]
    lives = [[version for _, version in life] for _, life in groupby(starts, key=lambda start: start[0])]
    return len(starts) - len(lives), all(versions == sorted(set(versions)) for versions in lives)


def run(
    folder: Path, source: DriftingRecords, policy: str, kills: int, seconds_between: tuple[float, float] = (1, 30)
) -> list[str]:
    """Prints what became of it. Returns what is wrong."""
    expected, began = write_input(folder, source, policy), time.monotonic()
    killed = run_killed(
        folder, kills, source.seed, kinds=("driver", "worker"), query="drift_query.py", seconds_between=seconds_between
    )
    found, wrong = found_values(folder)
    difference = found.against(expected)
    again, is_for_a_change = restarts(folder)
    watch = fm.SchemaWatch(fm.Json(source.schema), policy="add", state=folder / "drift.json")
    lacking = source.drifting - {change.column for change in watch.changes}
    changes = source.fields + source.conflicts
    print(
        f"spark, {policy}: {source.records:,} records, {source.fields:,} new fields, {source.conflicts} conflicts, killed "
        f"{dict(killed)}: {expected.values:,} values expected, {found.values:,} found, {difference}; {again} new starts, "
        f"{watch.version} versions, {len(watch.changes)} columns changed; {time.monotonic() - began:.0f} s", flush=True,
    )  # fmt: skip
    return [
        *([str(difference)] if difference else []), *wrong,
        *([f"not noticed: {sorted(lacking)[:5]}"] if lacking else []),
        *([] if again <= changes and is_for_a_change else [f"{again} new starts for {changes} changes"]),
    ]  # fmt: skip


def main(records: int, seed: int, kills: int, policies: list[str]) -> int:
    wrong = []
    for policy in policies:
        with tempfile.TemporaryDirectory() as folder:
            source = DriftingRecords(seed, records, block_records=BLOCK_RECORDS)
            wrong += run(Path(folder), source, policy, kills)
    print("\n".join(wrong[:20]) or "nothing lost, nothing twice, no change missed")
    return bool(wrong)


if __name__ == "__main__":
    given = dict(enumerate(sys.argv[1:]))
    policies = given.get(3, "add,rescue").split(",")
    raise SystemExit(main(int(float(given[0])), int(given.get(1, "1")), int(given.get(2, "10")), policies))
