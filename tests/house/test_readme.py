"""The README's Python runs and prints what it says it prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n?```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
EXAMPLES = BLOCK.findall((ROOT / "README.md").read_text())


def runs_on_spark(example):
    return "spark_udfs" in example


def test_the_readme_has_examples_with_output():
    assert len(EXAMPLES) >= 3
    assert all(output for _, output in EXAMPLES)


def printed(code, folder, **more):
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT), str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")])
    environment = {
        **os.environ,
        "PYTHONPATH": paths,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONWARNINGS": "ignore",
        **more,
    }
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize(("code", "output"), [example for example in EXAMPLES if not runs_on_spark(example[0])])
def test_a_readme_example_prints_what_the_readme_says(code, output, tmp_path):
    assert printed(code, tmp_path) == output


@pytest.mark.spark
@pytest.mark.parametrize(("code", "output"), [example for example in EXAMPLES if runs_on_spark(example[0])])
def test_the_readme_spark_example_prints_what_the_readme_says(code, output, tmp_path):
    few_tasks = "--conf spark.sql.shuffle.partitions=4 --conf spark.ui.enabled=false pyspark-shell"
    code = "from java_home import use_java; use_java()\n" + code
    assert printed(code, tmp_path, PYSPARK_SUBMIT_ARGS=few_tasks) == output
