"""The one door: questions run and record, an interrupted run goes on, wrong and missing contestants are shown as such.

In: contestants made up here, and one real run of tiny inputs. Out: records. Refuses to know: how fast anything is.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

import formatter as fm
from bench import __main__ as door
from bench import contestants, turns
from bench.contestant import Task
from bench.facts import machine_facts
from bench.inputs import Input
from bench.progress import Budget, Progress
from bench.question import Entry, Race
from bench.questions import QUESTIONS
from bench.record import Record, Result, Run, best_peer
from bench.stable import GoneError, Stable
from bench.turns import run_race
from bench.workloads import UNSEEN, WORKLOADS

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])
MADE_UP = '''
"""Contestants made up by a test."""
import os, time
import pyarrow as pa
from bench.answers import answer_of
from bench.contestant import Contestant, Declined, Prepared
def table(rows):
    return pa.table({"a": list(range(rows)), "b": ["x"] * rows})
def declines(task):
    raise Declined("cannot be asked this")
def dies(task):
    os._exit(7)
def hangs(task):
    time.sleep(600 if task.options else 0)
    return Prepared(lambda: table(3))
def raises(task):
    raise ValueError("no such thing")
def rows(count):
    return lambda task: Prepared(lambda: table(count))
class Slow:
    """Each of its first three calls sleeps."""
    calls = 0
    def run(self):
        self.calls += 1
        time.sleep(0.5 if self.calls < 4 else 0.001)
        return table(3)
def slow_at_first(task):
    def answer(found):
        time.sleep(10)
        return answer_of(found)
    return Prepared(Slow().run, answer if task.options else answer_of, once=lambda: time.sleep(0.2))
CONTESTANTS = [
    Contestant("slow at first", {"table": slow_at_first}, role="ours"),
    Contestant("right", {"table": rows(3)}, role="ours"),
    Contestant("right too", {"table": rows(3)}),
    Contestant("wrong", {"table": rows(2)}),
    Contestant("dead", {"table": dies}),
    Contestant("raising", {"table": raises}),
    Contestant("hanging", {"table": hangs}),
    Contestant("declining", {"table": declines}),
    Contestant("absent", {"table": rows(3)}, "no-such-distribution"),
]
'''
NAMES = ("right", "right too", "wrong", "dead", "raising", "declining", "absent", "hanging", "slow at first")
RACING = NAMES[:7]


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    """Contestants of a module outside the package, found by the processes too."""
    (tmp_path / "sitecustomize.py").write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        "import bench.contestants as c\nimport made_up\nsys.modules['bench.contestants.made_up'] = made_up\n"
        f"c.MODULES.update(dict.fromkeys({NAMES!r}, 'made_up'))\n"
    )
    (tmp_path / "made_up.py").write_text(MADE_UP)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.syspath_prepend(str(tmp_path))
    import made_up

    monkeypatch.setitem(sys.modules, "bench.contestants.made_up", made_up)
    for name in NAMES:
        monkeypatch.setitem(contestants.MODULES, name, "made_up")
    yield
    sys.modules.pop("made_up")


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "made.csv"
    path.write_bytes(b"0,x\n1,x\n2,x\n")
    return Input("made", "csv", str(path), SCHEMA, ("a",))


def race_of(source, *names, **more):
    return Race({"workload": "made"}, tuple(Entry(name, Task("table", source)) for name in names), source.size, **more)


def test_everyone_is_checked_and_whoever_fails_is_shown_with_the_reason(made_up, source):
    with Stable() as stable:
        results = {r.contestant: r for r in run_race(race_of(source, *RACING), "made up", stable, 0.1)}
    assert results["wrong"].wrong == "2 rows instead of 3, on the sample"
    assert results["dead"].wrong.startswith("died with status 7")
    assert results["raising"].wrong == "ValueError: no such thing"
    assert results["declining"].declined == "cannot be asked this"
    assert results["absent"].declined == "no-such-distribution is not installed"
    assert results["right"].wrong is None
    assert results["right"].rows == 3
    assert len(results["right"].wall_s) == len(results["right"].cpu_s) >= 3
    assert not results["wrong"].wall_s
    shown = "\n".join(door.lines(race_of(source, *RACING), list(results.values())))
    assert "wrong                    WRONG: 2 rows instead of 3" in shown
    assert "x right too" in shown


def test_without_a_sample_the_majority_decides(made_up, source):
    with Stable() as stable:
        results = run_race(race_of(source, "right", "right too", "wrong", sampled=False), "made up", stable, 0.1)
    assert [r.wrong for r in results] == [None, None, "2 rows instead of 3"]


def test_a_part_of_the_work_is_a_limit_whoever_does_it_and_no_peer(made_up, source):
    task = Task("table", source)
    made = (
        Entry("ours", task, "right"),
        Entry("half of it", task, "wrong", role="limit"),
        Entry("peer", task, "right too"),
    )
    with Stable() as stable:
        race = Race({"workload": "made"}, made, source.size, sampled=False)
        results = {r.contestant: r for r in run_race(race, "made up", stable, 0.1)}
    assert (results["half of it"].role, results["half of it"].wrong) == ("limit", None)
    assert best_peer(results.values()) is results["peer"]


def test_a_fresh_race_times_first_calls_and_whole_processes(made_up, source):
    with Stable() as stable:
        race = race_of(source, "right", "right too", sampled=False, fresh=True)
        results = run_race(race, "made up", stable, 0.0)
    stages = {r.point["stage"]: r.seconds() for r in results if r.contestant == "right"}
    assert list(stages) == list(turns.STAGES)
    assert stages["first call"] <= stages["with what comes before it"] <= stages["whole process"]


def test_what_is_done_once_before_the_first_call_is_part_of_it_and_its_answer_is_not_of_the_process(made_up, source):
    with Stable() as stable:
        task = Task("table", source, options={"answers": "slowly"})
        race = Race({"workload": "made"}, (Entry("slow at first", task),), 1.0, sampled=False, fresh=True, clock="wall")
        first, with_imports, whole = run_race(race, "made up", stable, 0.0)
    assert min(first.wall_s) >= 0.7
    ending = [lived - before for lived, before in zip(whole.wall_s, with_imports.wall_s, strict=True)]
    assert max(ending) < 10.0  # the harness asks what the answer is, which takes that long here


def test_a_warm_race_times_no_call_that_the_first_ones_made_possible(made_up, source):
    with Stable() as stable:
        race = race_of(source, "slow at first", "right too", sampled=False, warm_s=5.0, clock="wall")
        (result, _) = run_race(race, "made up", stable, 0.2)
    assert max(result.wall_s) < 0.5


def test_a_contestant_that_hangs_is_ended_and_another_process_takes_its_place(made_up, source):
    with Stable() as stable:
        process = stable.process("it", "hanging", {})
        asked = [Task("table", source, options=told).to_json() for told in ({}, {"for": "ever"})]
        awake, asleep = ({"prepare": task, "as": "it", "race": ""} for task in asked)
        assert (
            process.ask(awake, 600)["answer"]["rows"] == 3
        )  # so that it is the contestant that hangs, and not Python's start
        with pytest.raises(GoneError, match=r"took more than 0 s"):
            process.ask(asleep, 0.2)
        assert stable.process("it", "hanging", {}) is not process


def result(contestant, role, *seconds, **point):
    return Result("read", {"workload": "taxi", **point}, contestant, role, 1e9, "B", list(seconds), list(seconds))


def test_a_record_comes_back_from_disk_as_it_was(tmp_path):
    wrong = Result("read", {"workload": "taxi"}, "b", "peer", wrong="2 rows instead of 3")
    run = Run("2026-01-01", "python -m bench", {"cpu": "x"}, ["read"], 12.5)
    record = Record([run], [result("a", "ours", 0.5, 0.25), wrong])
    record.save(tmp_path / "r.jsonl")
    assert Record.load(tmp_path / "r.jsonl") == record
    assert record.find("read", "a", {"workload": "taxi"}).rate() == 1e9 / 0.375
    with pytest.raises(LookupError, match="has no 'c'"):
        record.find("read", "c", {})


def test_a_record_takes_the_questions_asked_again_and_keeps_the_others():
    old = Record([Run("1", "", {}, ["read", "json"])], [result("a", "ours", 1.0), Result("json", {}, "a", "ours")])
    new = Record([Run("2", "", {}, ["read"])], [result("a", "ours", 2.0)])
    both = old.updated_by(new)
    assert [(r.question, r.wall_s) for r in both.results] == [("json", []), ("read", [2.0])]
    assert [both.run_of(name).taken for name in ("json", "read")] == ["1", "2"]


def test_an_interrupted_run_goes_on_where_it_was(tmp_path):
    path, asked = tmp_path / "unfinished.jsonl", {"questions": ["read"], "seed": 1}
    first = Progress(path, asked)
    first.keep("taxi", [result("a", "ours", 0.5)])
    first.keep("wide", [result("a", "ours", 0.7)])
    cut_off = path.read_text()[:-20]
    path.write_text(cut_off)
    again = Progress(path, asked)
    assert again.done == {"taxi": [result("a", "ours", 0.5)]}
    assert Progress(path, {**asked, "seed": 2}).done == {}


def test_an_interruption_records_the_questions_that_are_answered(tmp_path, monkeypatch, capsys):
    def ask(question, *_):
        if question.name == "json":
            raise KeyboardInterrupt
        return [result("a", "ours", 0.5)]

    monkeypatch.setattr(door, "ask", ask)
    monkeypatch.setattr(door, "KEPT", tmp_path)
    chosen = SimpleNamespace(budget=0.1, seed=1, workload=None, files=[], fresh=True)
    record, wrong = door.run([QUESTIONS["read"], QUESTIONS["json"]], chosen, tmp_path / "unfinished.jsonl")
    assert (record.last.questions, len(record.results), wrong) == (["read"], 1, False)
    assert (tmp_path / "unfinished.jsonl").exists()
    assert "recorded: read. The same command goes on." in capsys.readouterr().out


def test_a_machine_without_git_has_its_facts_taken_too(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert machine_facts()["commit"] == "unknown"


def test_what_one_race_leaves_of_its_time_the_others_have(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("bench.progress.time", SimpleNamespace(perf_counter=lambda: now[0]))
    clock = Budget({"read": 60.0, "json": 40.0})
    with clock.question("read"):
        clock.races_left = 3
        assert clock.race_s == 20.0
        now[0], clock.races_left = 10.0, 2
        assert clock.race_s == 25.0
    now[0] = 90.0  # it took half as long again
    with clock.question("json"):
        clock.races_left = 1
        assert (clock.race_s, str(clock)) == (10.0, "10 s left")


@pytest.mark.slow
def test_a_run_that_is_terminated_keeps_what_it_has_found_and_goes_on(tmp_path):
    command = [sys.executable, "-u", "-m", "bench", "--only", "validation", "--only", "kernels", "--budget", "0.05"]
    command += ["--workload", "flat", "--record", str(tmp_path / "r.jsonl")]
    told = {"cwd": ROOT, "stdin": subprocess.DEVNULL, "text": True}
    with subprocess.Popen([*command, "--fresh"], stdout=subprocess.PIPE, **told) as ran:
        said = ""
        while not said.endswith("\nkernels"):
            said += ran.stdout.read(1)
        ran.terminate()
        said += ran.stdout.read()
    assert ran.returncode == 0
    assert "interrupted; recorded: validation. The same command goes on." in said
    assert Record.load(tmp_path / "r.jsonl").questions() == ["validation"]
    again = subprocess.run(command, stdout=subprocess.PIPE, check=True, **told)
    assert "interrupted" not in again.stdout
    assert Record.load(tmp_path / "r.jsonl").questions() == ["validation", "kernels"]


def test_at_least_twelve_inputs_are_ones_that_nobody_tuned_to():
    assert len(UNSEEN) >= 12


@pytest.mark.parametrize("name", WORKLOADS)
def test_our_reading_of_every_workload_is_pythons(name, tmp_path):
    from bench.answers import answer_of, difference
    from bench.oracle import python_table

    sample = WORKLOADS[name].write(tmp_path, 96 << 10, 7).sample()
    assert difference(answer_of(fm.read(sample.data, sample.format())), answer_of(python_table(sample))) is None


@pytest.mark.slow
def test_every_question_has_races_of_contestants_that_exist(tmp_path):
    from bench.question import Scale

    scale = Scale(0.001, 1, tmp_path, tmp_path, frozenset({"taxi", "flat"}))
    for question in QUESTIONS.values():
        for race in question.races(scale):
            for entry in race.entries:
                assert entry.task.job in contestants.contestant(entry.who).jobs, (question.name, entry)


@pytest.mark.slow
def test_the_door_races_checks_records_and_goes_on(tmp_path):
    command = [sys.executable, "-m", "bench", "--only", "read", "--workload", "ticks", "--budget", "0.01", "--fresh"]
    ran = subprocess.run(
        [*command, "--record", str(tmp_path / "r.jsonl")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert ran.returncode == 0, ran.stderr
    record = Record.load(tmp_path / "r.jsonl")
    assert {r.contestant for r in record.results if r.valid} == {"formatter", "memory read", "newline count"}
    assert record.find("read", "pyarrow", {"columns": "all"}).declined == "reads no packed rows"
    assert record.last.facts["load_before"] >= 0


@pytest.mark.slow
def test_a_users_file_is_inferred_and_raced_with_its_answers_checked(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("id;name;price\n" + "".join(f'{i};"a;{i}";{i}.5\n' for i in range(500)))
    command = [
        sys.executable,
        "-m",
        "bench",
        str(path),
        "--budget",
        "0.01",
        "--fresh",
        "--record",
        str(tmp_path / "r.jsonl"),
    ]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert ran.returncode == 0, ran.stderr
    record = Record.load(tmp_path / "r.jsonl")
    for contestant in ("formatter", "pyarrow", "duckdb", "polars"):
        found = record.find("files", contestant, {"columns": "all"})
        assert (found.rows, found.wrong) == (500, None), found


def test_the_list_names_every_question():
    listed = subprocess.run(
        [sys.executable, "-m", "bench", "--list"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert [line[:18].strip() for line in listed.stdout.splitlines()] == list(QUESTIONS)
