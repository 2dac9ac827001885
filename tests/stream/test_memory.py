"""What a stream keeps: idle origins are small, nothing stays behind, open batches are few.

In: many origins in a process of its own. Out: resident bytes an origin. Refuses to know: where they go.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import pyarrow as pa
import pytest

import formatter as fm
from formatter import _core

FORMAT = fm.Csv(pa.schema([("a", pa.int64())]))
ORIGINS = 1_000_000 if "FORMATTER_SOAK_SECONDS" in os.environ else 200_000  # a batch each takes its time

MEASURE = """
import os, sys
import numpy as np
import pyarrow as pa
import formatter as fm

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

text, quote = eval(sys.argv[1]), eval(sys.argv[2])
stream = fm.Stream(fm.Csv(pa.schema([("a", pa.int64())]), quote=quote))
buffers, ones = pa.array([text] * 10_000), np.ones(10_000, np.uint64)
ids = lambda first: np.arange(first, first + 10_000, dtype=np.uint64)
push = lambda first: len(stream.push_many(buffers, sequences=ones, origins=ids(first)))
push(2**40)
before = resident()
for first in range(0, ORIGINS, 10_000):
    push(first)
print((resident() - before) / ORIGINS, stream.stats.origins, stream.stats.open_batches)
""".replace("ORIGINS", str(ORIGINS))


@pytest.mark.slow
@pytest.mark.parametrize(("text", "quote"), [(b"1\n", '"'), (b"1\n2", None)], ids=["nothing waits", "a tail waits"])
def test_idle_origins_take_at_most_256_bytes_each(text, quote):
    command = [sys.executable, "-c", MEASURE, repr(text), repr(quote)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    each, origins, open_batches = run.stdout.split()
    assert float(each) <= 256
    assert int(origins) == ORIGINS + 10_000
    assert int(open_batches) <= 64


def test_at_most_64_batches_are_open_however_many_origins_there_are():
    stream = fm.Stream(FORMAT, batch=fm.BatchPolicy(max_latency_ms=None))
    batches = []
    for origin in range(500):
        batches += stream.push(b"1\n2", sequence=1, origin=origin)
        assert stream.stats.open_batches <= 64
    batches += stream.finish_all()
    assert sum(b.num_rows for b in batches) == 1000


def test_pending_numbers_return_to_zero_and_result_memory_to_the_pool():
    gc.collect()
    before = _core.pool_stats()["live_bytes"]
    stream = fm.Stream(FORMAT)
    for sequence in range(200, 0, -1):
        stream.push(b"1\n2", sequence=sequence)
    assert stream.stats.pending_buffers <= 200
    batches = stream.finish()
    assert sum(b.num_rows for b in batches) == 201
    assert (stream.stats.pending_buffers, stream.stats.pending_bytes) == (0, 0)
    del batches, stream
    gc.collect()
    assert _core.pool_stats()["live_bytes"] == before


def test_a_caller_may_change_its_buffer_as_soon_as_push_returns():
    for quote in ('"', None):
        stream = fm.Stream(fm.Csv(FORMAT.schema, quote=quote))
        memory = bytearray(b"34\n5")
        stream.push(memory, sequence=2)
        memory[:] = b"12\n "
        memory.clear()
        batches = stream.push(b"1\n2", sequence=1) + stream.finish()
        assert sorted(v for b in batches for v in b.data["a"].to_pylist()) == [1, 5, 234]
