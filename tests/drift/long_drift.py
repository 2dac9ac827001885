"""A long stream whose schema drifts, killed again and again: every value arrives once, and it starts anew at most once a change.

    python tests/drift/long_drift.py RECORDS [SEED] [KILLS] [POLICIES]

In: how many records (1,000 new fields and 100 conflicts are spread over them), how often a process is killed. Out: for each
policy a line of counts; exit code 1 if a value is lost, arrives twice or as another, if a column moves or narrows, or if there
are more new starts than changes. Each life (`Life`) is a process: it reads blocks of records, each an origin whose buffers come
in any order from several threads, some of them only with the next block; a stream goes on to its blocks' ends, the next block
begins one by what the watch knows by then. What it keeps is one file, replaced as a whole: the streams' own checkpoints, which
buffers they have, and the sums of what they gave.
"""

from __future__ import annotations

import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from oracle.drifting_records import DriftingRecords
from oracle.schema_growth import wrongly_grown
from oracle.value_sums import ValueSums

import formatter as fm

THREADS = 3
BUFFERS = (8, 64)  # of a block: no more, none smaller
HELD_BACK = 0.2  # of a block's buffers, until the next one comes
SAVE_EVERY = 4  # blocks, on the average
RESCUED = "_rescued"
WHOLE_BLOCKS = fm.BatchPolicy(max_bytes=1 << 30, max_latency_ms=None)

Buffer = tuple["Lane", int, int, bytes]  # the stream it goes to, its origin and sequence


@dataclass
class Lane:
    """A stream, what the watch knew when it began, and which buffers of its open origins it has."""

    stream: fm.Stream
    version: int
    arrived: dict[int, set[int]] = field(default_factory=dict)

    def saved(self) -> tuple[Any, ...]:
        return self.stream.format.schema.serialize().to_pybytes(), self.stream.checkpoint(), self.version, self.arrived

    @classmethod
    def restored(cls, schema: bytes, state: bytes, version: int, arrived: dict[int, set[int]]) -> Lane:
        format = fm.Json(pa.ipc.read_schema(pa.py_buffer(schema)), rescue=RESCUED)
        return cls(fm.Stream.restore(format, state), version, arrived)


@dataclass
class Kept:
    """What a life leaves to the next."""

    lanes: list[tuple[Any, ...]] = field(default_factory=list)
    next_block: int = 0
    sums: ValueSums = field(default_factory=ValueSums)
    restarts: int = 0
    rescued: int = 0  # records something of which was
    wrong: list[str] = field(default_factory=list)


class Life:
    def __init__(self, folder: Path, source: DriftingRecords, policy: Any) -> None:
        self._file, self._source = folder / "kept", source
        self.watch = fm.SchemaWatch(fm.Json(source.schema), policy=policy, state=folder / "drift.json")
        self.kept = Kept(**pickle.loads(self._file.read_bytes())) if self._file.exists() else Kept()
        self._lanes = [Lane.restored(*saved) for saved in self.kept.lanes]
        self._sums_lock = threading.Lock()
        self._counts: dict[int, int] = {}  # of the buffers of a block

    def run(self, told: Callable[[int], None] = lambda block: None) -> Kept:
        late = list(self._not_arrived())
        chance = random.Random(self._source.seed * 1_000_003 + self.kept.next_block)
        with ThreadPoolExecutor(THREADS) as pool:
            while late or self.kept.next_block < self._source.blocks:
                coming, late = self._coming(late, chance)
                list(pool.map(self._push, coming))
                self._end_origins()
                if chance.random() * SAVE_EVERY < 1 or not late:
                    self._save()
                told(self.kept.next_block)
        return self.kept

    def _coming(self, late: list[Buffer], chance: random.Random) -> tuple[list[Buffer], list[Buffer]]:
        if self.kept.next_block == self._source.blocks:
            return late, []
        lane, block = self._lane(), self.kept.next_block
        lane.arrived[block] = set()
        self.kept.next_block += 1
        buffers = [*late, *((lane, block, sequence, data) for sequence, data in self._buffers(block))]
        chance.shuffle(buffers)
        held_back = int(len(buffers) * HELD_BACK)
        return buffers[held_back:], buffers[:held_back]

    def _lane(self) -> Lane:
        """One that knows what the watch knows."""
        version = self.watch.version
        if self._lanes and (self.watch.policy != "add" or self._lanes[-1].version == version):
            return self._lanes[-1]
        made = fm.Stream(self.watch.format, batch=WHOLE_BLOCKS)
        if self._lanes:
            self.kept.restarts += 1
            self.kept.wrong += wrongly_grown(self._lanes[-1].stream.format.schema, made.format.schema, RESCUED)
        self._lanes.append(Lane(made, version))
        return self._lanes[-1]

    def _buffers(self, block: int) -> list[tuple[int, bytes]]:
        data, cut = self._source.block(block), random.Random(self._source.seed + block)
        buffers, at = [], 0
        while at < len(data):
            size = cut.randrange(len(data) // BUFFERS[1], len(data) // BUFFERS[0]) + 1
            buffers.append((len(buffers) + 1, data[at : at + size]))
            at += size
        self._counts[block] = len(buffers)
        return buffers

    def _not_arrived(self) -> Iterator[Buffer]:
        for lane in self._lanes:
            for block, arrived in lane.arrived.items():
                for sequence, data in self._buffers(block):
                    if sequence not in arrived:
                        yield lane, block, sequence, data

    def _push(self, buffer: Buffer) -> None:
        lane, block, sequence, data = buffer
        self._take(lane.stream.push(data, sequence=sequence, origin=block))
        lane.arrived[block].add(sequence)

    def _end_origins(self) -> None:
        """Those that have every buffer: all but what is held back came in one call after the other."""
        for lane in self._lanes:
            for block in [block for block, arrived in lane.arrived.items() if len(arrived) == self._counts[block]]:
                self._take(lane.stream.finish(origin=block, last_sequence=len(lane.arrived.pop(block))))
        self._lanes = [lane for lane in self._lanes[:-1] if lane.arrived] + self._lanes[-1:]

    def _take(self, batches: list[fm.Batch]) -> None:
        for batch in batches:
            self.watch.observe(batch.data, place=f"block {batch.origin}")
            with self._sums_lock:
                self.kept.sums.add_batch(batch.data, RESCUED)
                rescued = batch.column(RESCUED)
                self.kept.rescued += len(rescued) - rescued.null_count

    def _save(self) -> None:
        self.kept.lanes = [lane.saved() for lane in self._lanes]
        beside = self._file.with_suffix(".new")
        with beside.open("wb") as file:
            pickle.dump(vars(self.kept), file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._file)


@dataclass
class Report:
    """What became of a stream under a policy."""

    source: DriftingRecords
    policy: str
    kept: Kept
    watch: fm.SchemaWatch
    expected: ValueSums
    kills: int
    seconds: float

    @property
    def wrong(self) -> list[str]:
        """What must not be."""
        lacking = self.source.drifting - {change.column for change in self.watch.changes}
        changes = self.source.fields + self.source.conflicts
        difference = self.kept.sums.against(self.expected)
        return [
            *([str(difference)] if difference else []),
            *self.kept.wrong,
            *([f"not noticed: {sorted(lacking)[:5]}"] if lacking else []),
            *([f"{self.kept.restarts} new starts for {changes} changes"] if self.kept.restarts > changes else []),
            *([f"{self.watch.version} versions for {changes} changes"] if self.watch.version > changes else []),
        ]

    def __str__(self) -> str:
        difference, sums = self.kept.sums.against(self.expected), self.kept.sums
        changed = len(self.watch.changes)
        return (
            f"{self.policy}: {self.source.records:,} records, {self.source.fields:,} new fields, {self.source.conflicts} "
            f"conflicts, {self.kills} kills: {self.expected.values:,} values expected, {sums.values:,} found in "
            f"{len(sums.counts):,} paths, {difference}; {self.kept.restarts} new starts, {self.watch.version} versions, "
            f"{changed} columns changed, {self.kept.rescued:,} records rescued; "
            f"{self.source.records / self.seconds:,.0f} records/s"
        )


def run_killed(source: DriftingRecords, policy: str, kills: int, folder: Path) -> Report:
    """Lives until all is read. Each is killed at random moments behind random blocks, while it goes on."""
    chance = random.Random(source.seed)
    moments = sorted(chance.randrange(1, source.blocks + 1) for _ in range(kills))
    expected, expected_blocks, killed, began = ValueSums(), 0, 0, time.monotonic()
    told = [str(folder), policy, *map(str, source.given)]
    while True:
        process = subprocess.Popen(
            [sys.executable, __file__, LIFE, *told], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        was_killed = False
        assert process.stdin is not None
        assert process.stdout is not None
        with process.stdin as leave, process.stdout as lines:
            for block in map(int, lines):
                if moments and block >= moments[0]:
                    time.sleep(chance.random())
                    os.kill(process.pid, signal.SIGKILL)
                    was_killed = True
                    del moments[0]
                    break
                while expected_blocks < block:
                    source.expect(expected_blocks, expected)
                    expected_blocks += 1
                if block == source.blocks:
                    break
            if not was_killed:  # one that is to be killed does not end before
                leave.write("\n")
                leave.flush()
                for _ in lines:
                    pass
        process.wait()
        killed += was_killed
        if process.returncode == 0:
            break
        if not was_killed:
            raise RuntimeError(f"a life failed by itself: {' '.join(process.args)}")
    for block in range(expected_blocks, source.blocks):
        source.expect(block, expected)
    life = Life(folder, source, policy)
    return Report(source, policy, life.kept, life.watch, expected, killed, time.monotonic() - began)


def main(records: int, seed: int, kills: int, policies: list[str]) -> int:
    wrong = []
    for policy in policies:
        with tempfile.TemporaryDirectory() as folder:
            report = run_killed(DriftingRecords(seed, records), policy, kills, Path(folder))
            print(report, flush=True)
            wrong += report.wrong
    print("\n".join(wrong[:20]) or "nothing lost, nothing twice, no change missed")
    return bool(wrong)


LIFE = "life"

if __name__ == "__main__":
    if sys.argv[1] == LIFE:
        folder, policy, *source = sys.argv[2:]
        read = DriftingRecords(*map(int, source))
        life = Life(Path(folder), read, policy)
        life.run(lambda block: print(block, flush=True))
        print(read.blocks, flush=True)
        sys.stdin.readline()  # not before it may leave
    else:
        given = dict(enumerate(sys.argv[1:]))
        policies = given.get(3, "add,rescue").split(",")
        raise SystemExit(main(int(float(given[0])), int(given.get(1, "1")), int(given.get(2, "20")), policies))
