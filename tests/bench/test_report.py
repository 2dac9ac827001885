"""Every measured number in README, ARCHITECTURE and docs comes from the committed record, and the report shows all of it.

In: the record, the documents, records made up here. Out: verdicts. Refuses to know: whether a number is good.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench.questions import QUESTIONS
from bench.record import Record, Result, Run
from bench.report import browser
from bench.report.__main__ import write
from bench.report.documents import BLOCK, BLOCKS, DOCUMENTS, PICTURES, RECORD, as_recorded
from bench.report.figures import figures
from bench.workloads import WORKLOADS

ROOT = Path(__file__).resolve().parents[2]
MEASURED = re.compile(
    r"(?<![\w.])\d[\d,.]*\s?(?:GB/s|MB/s|KB/s|ns\b|µs|us\b|ms\b|s\b|%|times (?:as|more|less)|x\b(?! \d))"
)
NOT_PROSE = re.compile(r"```.*?```|`[^`]*`|<!-- measured: .*?<!-- end -->", re.DOTALL)
FACTS = {
    "cpu": "a CPU",
    "cpus": 2,
    "active_kernel": "avx2",
    "system": "Linux",
    "commit": "abc",
    "load_before": 0.5,
    "libraries": {"pyarrow": "1.0"},
}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_measured_numbers_stand_in_blocks_that_the_record_writes(path):
    text = path.read_text()
    assert as_recorded(text, Record.load(RECORD)) == text, "run: python -m bench.report --documents"
    loose = [line for line in NOT_PROSE.sub("", text).splitlines() if MEASURED.search(line)]
    assert loose == [], "a measured number outside of a block; put it in one, or say it without a number"


def test_every_block_stands_in_a_document_and_says_the_command_that_measured_it():
    found = {block[2]: block[3] for path in DOCUMENTS for block in BLOCK.finditer(path.read_text())}
    assert sorted(found) == sorted(BLOCKS)
    for name, text in found.items():
        asked = re.search(r"`python -m bench ((?:--only '[\w* -]+' ?)+)`(?:: \d{4}-| measures this)", text)
        assert asked, name
        for pattern in re.findall(r"'(.*?)'", asked[1]):
            assert any(re.fullmatch(pattern.replace("*", ".*"), question) for question in QUESTIONS)


def test_the_readmes_table_leads_with_what_users_do():
    table = next(block[3] for block in BLOCK.finditer((ROOT / "README.md").read_text()))
    order = [
        "files in Spark",
        "first action",
        "whole script",
        "records in Spark",
        "CSV in Python",
        "JSON in Python",
        "chunks in any",
    ]
    places = [table.index(words) for words in order if words in table]
    assert len(places) == len(order)
    assert table.count("\n|") <= 15  # what a newcomer reads; every race stands in docs/numbers.md
    assert places[0] == table.index(order[0])
    assert places == sorted(places)


def test_the_readmes_pictures_are_there_and_their_figures_in_the_report():
    keys = [figure.key for figure in figures(Record.load(RECORD))]
    readme = (ROOT / "README.md").read_text()
    for key in PICTURES:
        assert key in keys
        assert f"docs/pictures/{key}.png" in readme
        assert (ROOT / "docs" / "pictures" / f"{key}.png").read_bytes().startswith(b"\x89PNG")


def result(question, contestant, role, seconds, **point):
    wrong = None if seconds else "2 rows instead of 3"
    turns = [seconds, seconds * 1.01, seconds * 1.02] if seconds else []
    return Result(question, point, contestant, role, 1e9, "B", turns, turns, 10.0, 3, wrong, load=1.5)


@pytest.fixture
def record():
    results = []
    for columns in ("all", "3 of 19"):
        point = {"workload": "taxi", "columns": columns}
        results += [result("read", "formatter", "ours", 0.1, **point), result("read", "pyarrow", "peer", 0.5, **point)]
        results += [result("read", "polars", "peer", 0, **point), result("read", "memory read", "limit", 0.02, **point)]
    results[0].wall_s = [0.1, 0.2, 0.4]
    for size, seconds in (("1 MB", 0.11), ("10 MB", 0.2), ("100 MB", 1.1), ("1 GB", 10.1)):
        one = result("spark sizes", "spark_udfs", "ours", seconds, workload="mixed", size=size)
        one.amount = {"1 MB": 1e6, "10 MB": 1e7, "100 MB": 1e8, "1 GB": 1e9}[size]
        results.append(one)
    return Record([Run("2026-01-01 00:00 UTC", "python -m bench", FACTS, ["read", "spark sizes"], 60.0)], results)


def test_the_report_shows_who_is_wrong_what_is_noise_and_the_command(record, tmp_path):
    written = write(record, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert {"ratios", "read-all", "read-few", "limits", "spark-sizes"} <= set(written)
    assert "Wrong or failed: 1" in text
    assert "polars, workload taxi, columns all: 2 rows instead of 3" in text
    assert "python -m bench --only &#x27;read&#x27;" in text
    assert 'class="noisy c0"' in text
    assert "1 of 3 points are noise" in text
    assert "load average 1.5 to 1.5" in text
    assert "python -m bench FILE..." in text


def test_a_wrong_contestant_stands_in_the_chart_as_a_cross_and_in_its_numbers(record, tmp_path):
    write(record, tmp_path / "report.html")
    (figure,) = re.findall(r'<figure id="read-all">.*?</figure>', (tmp_path / "report.html").read_text(), re.DOTALL)
    assert re.search(r'class="cross t2" [^>]*>×<title>polars: taxi: 2 rows instead of 3</title>', figure)
    assert "<b>×</b>wrong or failed" in figure
    assert "<td>wrong</td>" in figure


def test_the_report_says_in_short_what_users_do_what_inputs_are_and_what_was_not_asked_or_is_old(record, tmp_path):
    record.results += [result("json", "formatter", "ours", 0.1, workload="flat", columns="all")]
    record.runs.insert(0, Run("2025-12-31 00:00 UTC", "python -m bench --only json", FACTS, ["json"], 60.0))
    write(record, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "<td>CSV in Python, every column</td>" in text
    assert f"<td>taxi</td><td>{WORKLOADS['taxi'].about}</td>" in text
    assert "Older than the last run: json." in text
    assert re.search(r"Not asked: [^.]*\bkernels\b[^.]*spark executors\.", text)
    assert "2 min in all" in text


def test_the_report_needs_nothing_but_itself(record, tmp_path):
    write(record, tmp_path / "report.html")
    assert not re.search(r"(?:src|href)=|url\(|@import|https?://|<script", (tmp_path / "report.html").read_text())


if browser.browser():  # elsewhere the test does not exist, rather than pass for nothing

    def test_the_report_looks_right_on_a_phone_and_at_a_desk_light_and_dark(record, tmp_path):
        write(record, tmp_path / "report.html")
        assert browser.looked_at(tmp_path / "report.html") == []

    def test_the_browser_finds_what_is_wider_than_the_window(record, tmp_path):
        write(record, tmp_path / "report.html")
        text = (tmp_path / "report.html").read_text()
        (tmp_path / "wide.html").write_text(text.replace("<main>", '<main><div style="width:2000px">wide</div>'))
        assert any("wider than the window" in words for words in browser.looked_at(tmp_path / "wide.html"))


def test_without_a_browser_the_report_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(FileNotFoundError, match="apt-get install chromium"), browser.opened(tmp_path / "report.html"):
        raise AssertionError("there is no browser")


def test_documents_are_read_and_written_as_utf_8_whatever_the_locale(tmp_path):
    text = (ROOT / "docs" / "flow.md").read_text(encoding="utf-8")
    copy = tmp_path / "flow.md"
    copy.write_text(
        re.sub(r"(<!-- measured: flow -->\n).*?\n<!-- end -->", r"\1é\n<!-- end -->", text, flags=re.DOTALL), "utf-8"
    )
    code = "import sys, pathlib, bench.report.documents as d; d.DOCUMENTS = [pathlib.Path(sys.argv[1])]; d.write_documents()"
    ascii_alone = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    command = [sys.executable, "-c", code, str(copy)]
    done = subprocess.run(
        command, env={**os.environ, **ascii_alone, "PYTHONPATH": paths}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert copy.read_text(encoding="utf-8") == text
