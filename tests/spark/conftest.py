"""One local Spark for all tests in this folder: the shared Java choice, the recommended settings, small partitions."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests")]

from java_home import use_java  # noqa: E402  (tools/ is not a package)

HERE = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    # PySpark's own notices about itself and its dependencies, not about our use of them.
    config.addinivalue_line("filterwarnings", "ignore:PySpark does not yet fully support pandas:FutureWarning")
    config.addinivalue_line("filterwarnings", "ignore::ResourceWarning")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents and "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    use_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in (*_own_paths(), os.environ.get("PYTHONPATH")) if path)
    from pyspark.sql import SparkSession

    import spark_udfs as su

    builder = SparkSession.builder.master("local[2]").appName("formatter tests")
    builder = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "4")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    session = su.configure(builder).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def pushing(spark: object) -> Iterator[object]:
    """The session with pushdown, for the tests of one file."""
    import spark_udfs as su

    assert su.enable_pushdown(spark)
    yield spark
    su.disable_pushdown(spark)


def _own_paths() -> tuple[str, str]:
    """Python workers import this checkout, installed or not."""
    return str(ROOT / "src"), str(ROOT)
