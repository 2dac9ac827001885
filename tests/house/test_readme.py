"""The Python of the README, and of every page of the docs that says what it prints, runs and prints that."""

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
PAGES = {
    path.name: told
    for path in sorted((ROOT / "docs").glob("*.md"))
    if (told := [example for example in BLOCK.findall(path.read_text()) if example[1]])
}


END = "-- the next one\n"


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


def test_pages_of_the_docs_have_examples_with_output():
    assert len(PAGES) >= 8
    assert not any(runs_on_spark(example) for examples in PAGES.values() for example in examples)


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_print_what_it_says(page, tmp_path):
    """One behind the other: later ones use the names of those before them."""
    codes, outputs = zip(*PAGES[page], strict=True)
    assert printed(f"print({END!r}, end='')\n".join(codes), tmp_path) == END.join(outputs)


@pytest.mark.spark
@pytest.mark.parametrize(("code", "output"), [example for example in EXAMPLES if runs_on_spark(example[0])])
def test_the_readme_spark_example_prints_what_the_readme_says(code, output, tmp_path):
    few_tasks = "--conf spark.sql.shuffle.partitions=4 --conf spark.ui.enabled=false pyspark-shell"
    code = "from java_home import use_java; use_java()\n" + code
    assert printed(code, tmp_path, PYSPARK_SUBMIT_ARGS=few_tasks) == output
