"""Kills a streaming query again and again, at random, and compares its sink with what a clean run would have written.

`python tests/spark/crash_harness.py [KILLS] [SEED]` by hand (`make crash`); test_crash.py runs a few kills. Each life of the
query (crash_query.py) is a process group of its own. What dies: the driver with everything in it, or only the processes in
which tasks run Python. Exit code 1 if a row is lost or repeated.
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
from pathlib import Path

import pyarrow.parquet as pq

HERE = Path(__file__).resolve().parent
MASTER = "local[2,4]"  # a task may fail three times
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


def workers(pid: int) -> list[int]:
    """The query's processes that run tasks' Python code."""
    found = []
    for child in descendants(pid):
        try:
            command = Path(f"/proc/{child}/cmdline").read_bytes()
        except OSError:
            continue
        if b"pyspark.daemon" in command:
            found.append(child)
    return found


def end(process: subprocess.Popen[str]) -> None:
    for child in [*descendants(process.pid), process.pid]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    process.wait()


def run_killed(folder: Path, kills: int, seed: int, say=lambda text: None) -> tuple[int, int]:
    """Lives until the query is through. Returns how many drivers and how many workers were killed."""
    rng = random.Random(seed)
    drivers = tasks = 0
    for _ in range(LIVES_MOST):
        command = [sys.executable, str(HERE / "crash_query.py"), str(folder), MASTER]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
        )
        died = 0
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            while first.strip() == "running" and drivers + tasks < kills and process.poll() is None:
                time.sleep(rng.uniform(0.1, 4.0))
                victims = workers(process.pid) if rng.random() < 0.5 else []
                if victims and process.poll() is None:
                    victim = rng.choice(victims)
                    try:
                        os.kill(victim, signal.SIGKILL)
                        tasks += 1
                        died += 1
                        say(f"killed a worker ({tasks})")
                    except ProcessLookupError:
                        pass
                elif process.poll() is None:
                    end(process)
                    drivers += 1
                    died += 1
                    say(f"killed the driver ({drivers})")
                    break
            rest = process.stdout.read()
            process.wait()
            if "done" in rest:
                return drivers, tasks
            if not died:
                raise RuntimeError("the query failed by itself; run crash_query.py by hand to see why")
        finally:
            end(process)
    raise RuntimeError(f"the query did not come through in {LIVES_MOST} lives")


def main(kills: int, seed: int) -> int:
    done, turn = 0, 0
    while done < kills:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            expected = sorted(write_input(folder))
            drivers, tasks = run_killed(folder, kills - done, seed + turn, lambda text: print(f"  {text}", flush=True))
            rows = sink_rows(folder)
        done, turn = done + drivers + tasks, turn + 1
        verdict = "exactly the rows of a clean run" if rows == expected else "WRONG ROWS"
        print(f"run {turn}: {drivers} drivers and {tasks} workers killed: {verdict} ({len(rows)})", flush=True)
        if rows != expected:
            return 1
    return 0


if __name__ == "__main__":
    kills, seed = [*sys.argv[1:], "20", "1"][:2] if len(sys.argv) != 2 else (sys.argv[1], "1")
    raise SystemExit(main(int(kills), int(seed)))
