"""What all rooms share: the helpers beside them, each kernel by a fixture, how Hypothesis searches, who shares a worker.

In: node ids, HYPOTHESIS_PROFILE=ci (default) or deep. Out: fixtures, markers, the order of work. pytest puts this folder on the
path, so every test can import the oracles and helpers that lie here. Refuses to know: what is tested.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from kernel_choice import under_kernel
from xdist.scheduler.loadscope import LoadScopeScheduling

import formatter as fm

HERE = Path(__file__).parent

# Files whose tests share something costly; the first place that fits decides. (xdist's own marker for this is not seen by
# every pytest it runs with.) Tests of whole processes start a Spark of their own wherever they run.
PROCESSES = ("crash", "deployment", "faster_start", "speculation", "worker_process")
ONE_WORKER = {
    **{f"tests/spark/test_{name}.py": "" for name in PROCESSES},
    "tests/spark/test_retries.py": "retries",  # one JVM, tasks of which may fail
    "tests/spark/": "spark",  # one JVM
    "tests/house/test_distribution.py": "distribution",  # one build of the wheel
}

# Rooms that decode nothing, or try every kernel by themselves: a run under another kernel would repeat them word by word.
SAME_UNDER_EVERY_KERNEL = ("arguments", "bench", "flow", "house", "kernels", "shredder", "spark")
DECODES_ALL_THE_SAME = ("flow/test_pipeline.py", "flow/test_flow_docs.py")

# No deadline: how long an example takes says how busy the machine is. The same examples every time: surprises belong into
# the deep profile and into fuzzing, not into somebody's merge.
COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]}
settings.register_profile("ci", max_examples=150, derandomize=True, **COMMON)
settings.register_profile("deep", max_examples=20_000, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(params=fm.kernels())
def kernel(request: pytest.FixtureRequest) -> Iterator[str]:
    """Runs a test under every kernel of this machine."""
    with under_kernel(request.param):
        yield request.param


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents and is_decided_by_the_kernel(item):
            item.add_marker("by_kernel")


def is_decided_by_the_kernel(item: pytest.Item) -> bool:
    """Whether FORMATTER_KERNEL could change the outcome. Tests that take a kernel as an argument run under each anyway."""
    place = item.path.relative_to(HERE).as_posix()
    room = place.split("/")[0]
    decodes = room not in SAME_UNDER_EVERY_KERNEL or place in DECODES_ALL_THE_SAME
    return decodes and "kernel" not in getattr(item, "fixturenames", ())


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """A test is a unit of its own, unless its file is one of those that share something costly."""

    def _split_scope(self, nodeid: str) -> str:
        group = next((group for place, group in ONE_WORKER.items() if nodeid.startswith(place)), "")
        return group or nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> GroupScheduling | None:
    return GroupScheduling(config, log) if config.getvalue("dist") == "loadgroup" else None
