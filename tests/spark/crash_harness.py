"""Kills a streaming query again and again, at random, and compares its sink with what a clean run would have written.

`python tests/spark/crash_harness.py [KILLS] [SEED] [MASTER]` by hand (`make crash`); test_crash.py runs a few kills. Each life
of the query (crash_query.py) is a process group of its own. What dies: the driver with everything in it, an executor's JVM
where the master has such (local-cluster), or only the processes in which tasks run Python. Exit code 1 if a row is lost or
repeated.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq

HERE = Path(__file__).resolve().parent
LOCAL = "local[2,4]"  # a task may fail three times
EXECUTORS = "local-cluster[2,1,1024]"
KINDS = {  # what may die beside the driver, by what is in its command line
    "executor": b"CoarseGrainedExecutorBackend",
    "worker": b"pyspark.worker",  # what daemons are told to run, Spark's own and ours
}
LIVES_MOST = 200


def write_input(folder: Path, origins: int = 3, records: int = 60) -> list[tuple[int, str]]:
    """Files whose records are longer than their chunks now and then; and the rows they hold."""
    incoming = folder / "in"
    incoming.mkdir(parents=True)
    rows = []
    for origin in range(origins):
        mine = [(origin * records + n, f'text "{n}",\n' + "long " * (n % 11 * 4)) for n in range(records)]
        lines = [f'{number},"{text.replace(chr(34), chr(34) * 2)}"' for number, text in mine]
        (incoming / f"{origin}.csv").write_bytes("\n".join(lines).encode())  # the last one has no end
        rows += mine
    return rows


def sink_rows(folder: Path) -> list[tuple[int, str]]:
    """What a reader of the sink sees: the files that Spark's log of the sink has committed."""
    paths = set()
    for entry in (folder / "out" / "_spark_metadata").iterdir():
        if entry.name.startswith(".") or entry.suffix not in ("", ".compact"):
            continue
        for line in entry.read_text().splitlines()[1:]:
            paths.add(json.loads(line)["path"].removeprefix("file://"))
    tables = [pq.read_table(path, partitioning=None) for path in sorted(paths)]
    return sorted((row["id"], row["text"]) for table in tables for row in table.to_pylist())


def descendants(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        mine = children.get(waiting.pop(), [])
        found += mine
        waiting += mine
    return found


def victims(pid: int) -> list[tuple[str, int]]:
    """The query's processes that may die without it: executors' JVMs, and those that run tasks' Python code."""
    found = []
    for child in descendants(pid):
        try:
            command = Path(f"/proc/{child}/cmdline").read_bytes()
        except OSError:
            continue
        found += [(kind, child) for kind, mark in KINDS.items() if mark in command]
    return found


def end(process: subprocess.Popen[str]) -> None:
    for child in [*descendants(process.pid), process.pid]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    process.wait()


def run_killed(
    folder: Path,
    kills: int,
    seed: int,
    say=lambda text: None,
    master: str = LOCAL,
    kinds=("driver", *KINDS),
    query: str = "crash_query.py",
    seconds_between: tuple[float, float] = (0.1, 4.0),
) -> Counter[str]:
    """Lives until the query is through. Returns how many of each kind were killed."""
    rng = random.Random(seed)
    killed: Counter[str] = Counter()
    for _ in range(LIVES_MOST):
        command = [sys.executable, str(HERE / query), str(folder), master]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
        )
        died = 0
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            while first.strip() == "running" and killed.total() < kills and process.poll() is None:
                time.sleep(rng.uniform(*seconds_between))
                there = victims(process.pid)
                kind = rng.choice([kind for kind in kinds if kind == "driver" or kind in dict(there)] or [None])
                if kind is None or process.poll() is not None:
                    continue
                if kind == "driver":
                    end(process)
                else:
                    victim = rng.choice([pid for other, pid in there if other == kind])
                    try:
                        os.kill(victim, signal.SIGKILL)
                    except ProcessLookupError:
                        continue
                killed[kind] += 1
                died += 1
                say(f"{kind} killed ({killed[kind]})")
                if kind == "driver":
                    break
            rest = process.stdout.read()
            process.wait()
            if "done" in rest:
                return killed
            if not died:
                raise RuntimeError(f"the query failed by itself; run {query} by hand to see why")
        finally:
            end(process)
    raise RuntimeError(f"the query did not come through in {LIVES_MOST} lives")


def main(kills: int, seed: int, master: str) -> int:
    total: Counter[str] = Counter()
    turn = 0
    while total.total() < kills:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            expected = sorted(write_input(folder))
            say = lambda text: print(f"  {text}", flush=True)  # noqa: E731  (a line of its own would hide what it is)
            killed = run_killed(folder, kills - total.total(), seed + turn, say, master)
            rows = sink_rows(folder)
        total, turn = total + killed, turn + 1
        verdict = "exactly the rows of a clean run" if rows == expected else "WRONG ROWS"
        counts = ", ".join(f"{count} of kind {kind}" for kind, count in sorted(killed.items())) or "none"
        print(f"{master}, run {turn}: killed {counts}: {verdict} ({len(rows)})", flush=True)
        if rows != expected:
            return 1
    print(f"{master}: {total.total()} kills in all: {dict(total)}", flush=True)
    return 0


if __name__ == "__main__":
    given = dict(enumerate(sys.argv[1:]))
    raise SystemExit(main(int(given.get(0, "20")), int(given.get(1, "1")), given.get(2, LOCAL)))
