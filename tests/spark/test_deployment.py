"""The same reads on Spark Connect and on real executors that have nothing but an archive."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import formatter as fm
import spark_udfs as su

HERE = Path(__file__).parent

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "data"
    inside.mkdir()
    lines = (f'{"x" if number % 1_000 == 999 else number},"""{number}\n"\n' for number in range(10_000))
    (inside / "a.csv").write_text("".join(lines))
    return inside


def run(kind: str, *arguments: object, **environment: str) -> str:
    """Output of deployed.py; executors inherit no PYTHONPATH."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHONPATH", "PYSPARK_"))}
    command = [sys.executable, str(HERE / "deployed.py"), kind, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=inherited | environment)
    assert done.returncode == 0, done.stdout + done.stderr[-6_000:]
    return done.stdout


def test_reads_on_spark_connect_are_those_of_classic(folder):
    paths = os.pathsep.join(str(HERE.parents[1] / part) for part in ("src", ""))
    assert "executors use" in run("connect", folder, "none", PYTHONPATH=paths, PYSPARK_PYTHON=sys.executable)


def test_executors_with_an_empty_python_work_from_the_archive(folder, tmp_path):
    bare = tmp_path / "bare-python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')  # -S: nothing that is installed can be imported
    bare.chmod(0o755)
    archive = su.archive(tmp_path / "formatter.tar.gz", packages=("numpy", "pyarrow"))
    output = run("executors", folder, archive, bare)
    assert "formatter_archive/formatter/__init__.py" in output
    assert output.count("__init__.py") == 2  # one folder an executor


def test_an_archive_has_the_built_package_and_no_sources(tmp_path):
    with tarfile.open(su.archive(tmp_path / "formatter.tar.gz")) as tar:
        names = tar.getnames()
    assert {"formatter/__init__.py", "spark_udfs/__init__.py"} <= set(names)
    assert any(name.startswith("formatter/_core.") and name.endswith(".so") for name in names)
    assert not [name for name in names if name.endswith((".cpp", ".hpp", ".pyx", ".pyc"))]


def test_what_cannot_be_archived_is_refused(tmp_path):
    with pytest.raises(fm.OptionError, match=r"ends with \.tar\.gz"):
        su.archive(tmp_path / "formatter.zip")
    with pytest.raises(fm.OptionError, match="'no_such_package' is no package"):
        su.archive(tmp_path / "formatter.tar.gz", packages=["no_such_package"])
