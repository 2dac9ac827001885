"""How tests share workers: what starts a Spark goes to one of them, what builds a distribution too, all else anywhere.

In: node ids. Out: the group each belongs to. (xdist's own marker for this is not seen by every pytest it runs with.)
"""

from __future__ import annotations

import pytest
from xdist.scheduler.loadscope import LoadScopeScheduling

ONE_WORKER = {
    "tests/spark/": "spark",  # one JVM
    "tests/house/test_readme.py": "spark",
    "tests/house/test_distribution.py": "distribution",  # one build of the wheel
}


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """A test is a unit of its own, unless its file is one of those that share something costly."""

    def _split_scope(self, nodeid: str) -> str:
        return next((group for place, group in ONE_WORKER.items() if nodeid.startswith(place)), nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> GroupScheduling | None:
    return GroupScheduling(config, log) if config.getvalue("dist") == "loadgroup" else None
