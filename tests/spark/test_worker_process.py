"""What a worker does once: it must change costs only. In a process of its own, as workers are."""

from __future__ import annotations

import subprocess
import sys

SETTLED = """
import gc
from spark_udfs.tasks.worker_process import prepare_worker
before = gc.get_freeze_count()
prepare_worker()
frozen = gc.get_freeze_count()
assert before == 0 < frozen, (before, frozen)
made_later = [[] for _ in range(1000)]
prepare_worker()
assert gc.get_freeze_count() <= frozen, "only what was there before the first task is frozen"
cycle = []
cycle.append(cycle)
del cycle
assert gc.collect() >= 1, "what tasks make is collected as ever"
before = gc.get_freeze_count()
left_behind = []
left_behind.append(left_behind)
del left_behind
import xmlrpc.client
prepare_worker()
assert gc.get_freeze_count() > before, "what tasks import is frozen before the next one"
assert gc.collect() == 0, "and what they left behind is collected"
print(len(bytes(200 << 20)))
"""


def test_a_settled_worker_still_collects_what_tasks_make() -> None:
    run = subprocess.run([sys.executable, "-c", SETTLED], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.strip()) == (0, str(200 << 20)), run.stderr
