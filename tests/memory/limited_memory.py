"""Runs scenarios in processes that may take only so much more memory, an amount that a seed decides; counts how they ended.

In: a number of runs, a seed; MALLOC_SETTINGS of short_of_memory.py in the environment. Out: a line of figures, and what went
wrong, if anything did. Short of memory a run has to end with the right rows or in MemoryError, never in a signal, a hang,
other rows or another error.
"""

from __future__ import annotations

import ctypes
import errno
import gc
import os
import random
import resource
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import scenarios
from scenarios import CSV, FLAT, FRAMED, JSON, NATIVE, NESTED, Closed, streaming

import formatter as fm
from formatter import _core

sys.path.append(str(Path(__file__).parents[1]))
from patience import PATIENCE_S

pa.set_memory_pool(pa.system_memory_pool())  # the others keep what they were once given, and then nothing is short
LONG_CSV, LONG_JSON, LONG_FRAMED = CSV * 2000, JSON * 2000, FRAMED * 4000
READ = {
    "csv": (LONG_CSV, fm.Csv(FLAT), 1),
    "csv by threads": (LONG_CSV, fm.Csv(FLAT), 2),
    "json": (LONG_JSON, fm.Json(NESTED), 1),
    "json by threads": (LONG_JSON, fm.Json(NESTED), 2),
    "framed": (LONG_FRAMED, fm.Framed(fm.Native(NATIVE), length="u32le"), 2),
}


def as_tables(*batches: pa.RecordBatch) -> list[pa.Table]:
    return [pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch for batch in batches]


LONG: dict[str, Callable[[], list[Any]]] = {
    **{name: lambda p=parts: [fm.read(*p[:2], threads=p[2])] for name, parts in READ.items()},
    "open": lambda: [fm.open(LONG_CSV, fm.Csv(FLAT), threads=2).read_all()],
    "stream": streaming(LONG_CSV, fm.Csv(FLAT), "shuffled", 40 << 10, as_tables),
    "stream of json": streaming(LONG_JSON, fm.Json(NESTED), "checkpoints", 400 << 10, as_tables),
    "leading buffers": streaming(LONG_CSV, fm.Csv(FLAT), "leading", 64 << 10, as_tables),
    **{name: scenarios.SCENARIOS[name] for name in ("plans", "records", "shared", "spill")},
}
RIGHT, SHORT, CLOSED, WRONG, OTHER = range(5)
ENDS = ("right", "MemoryError", "closed", "wrong rows", "another error")
MOST_BYTES = 48 << 20


def plain(found: Any) -> Any:
    """Without dictionaries: how texts are coded depends on which thread met them first."""
    if not isinstance(found, pa.Table):
        return found
    texts = [pa.types.is_dictionary(field.type) for field in found.schema]
    return found.cast(
        pa.schema(pa.field(f.name, pa.string()) if t else f for f, t in zip(found.schema, texts, strict=True))
    )


def taken_bytes() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize()


def end_of(scenario: Callable[[], list[Any]], expected: list[Any], more_bytes: int) -> int:
    """In a process of its own."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    scenarios.ease.append(lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
    resource.setrlimit(resource.RLIMIT_AS, (taken_bytes() + more_bytes, most))
    try:
        found = scenario()
    except (MemoryError, OSError) as error:
        scenarios.relieve()
        if isinstance(error, MemoryError) or error.errno == errno.ENOMEM:
            return SHORT
        traceback.print_exc()
        return OTHER
    except Closed:
        return CLOSED
    except BaseException:
        scenarios.relieve()
        traceback.print_exc()
        return OTHER
    scenarios.relieve()
    return RIGHT if list(map(plain, found)) == list(map(plain, expected)) else WRONG


def wait_for(child: int) -> int | None:
    """None: it hangs."""
    begun = time.monotonic()
    while time.monotonic() - begun < PATIENCE_S:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return None


def run_many(runs: int, seed: int) -> Counter[str]:
    chance = random.Random(seed)
    ends: Counter[str] = Counter()
    answers = {name: scenario() for name, scenario in LONG.items()}
    gc.collect()
    _core.pool_trim()
    ctypes.CDLL(None).malloc_trim(0)
    gc.freeze()
    for number in range(runs):
        name = chance.choice(list(LONG))
        more = int(2 ** chance.uniform(12, MOST_BYTES.bit_length()))
        child = os.fork()
        if child == 0:
            code = OTHER
            try:
                code = end_of(LONG[name], answers[name], more)
            finally:
                os._exit(code)
        code = wait_for(child)
        end = "hang" if code is None else f"signal {-code}" if code < 0 else ENDS[code]
        ends[end] += 1
        if end not in ENDS[:3]:
            print(f"run {number} of seed {seed}: {name} with {more} bytes more: {end}", flush=True)
    return ends


if __name__ == "__main__":
    ends = run_many(int(sys.argv[1]), int(sys.argv[2]))
    print(*(f"{count} {end}" for end, count in sorted(ends.items())), sep=", ")
    sys.exit(bool(set(ends) - set(ENDS[:3])))
