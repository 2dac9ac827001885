"""Three things raw data does to Spark, each done twice: by formatter, and by what Spark itself has for it.

In: nothing but options; the data is made from a seed and kept in .demo/. Out: bars in the terminal, .demo/report.html, and
exit code 1 if any two answers differ. Answers are checked before anything is said of time. Every contestant has a process and a
session of its own (contestant.py), so nobody's first run is warmed by another's; then the two take turns.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import dataset
from contestant import OURS, ROOT, SPARKS
from java_home import JavaMissing, use_java
from report import RUNS, bars, html

FOLDER = ROOT / ".demo"
TURNS = 4  # of those that are warm; the shortest counts


@dataclass
class Contestant:
    name: str
    who: str
    seconds: dict[str, float] = field(default_factory=dict)
    answers: list[Any] = field(default_factory=list)


@dataclass
class Act:
    key: str
    title: str
    what: str
    megabytes: float
    contestants: tuple[Contestant, Contestant]

    @property
    def agrees(self) -> bool:
        answers = [answer for one in self.contestants for answer in one.answers]
        return all(answer == answers[0] for answer in answers)


class Process:
    """A contestant's process; what Spark logs there is kept in a file."""

    def __init__(self, act: Act, contestant: Contestant, made: dataset.Made, cores: int) -> None:
        self._contestant = contestant
        self._log = FOLDER / f"{act.key}-{contestant.who}.log"
        command = [sys.executable, str(Path(__file__).with_name("contestant.py")), act.key, contestant.who]
        with open(self._log, "w") as log:
            self._process = subprocess.Popen(
                [*command, str(made.folder), str(cores), str(time.time())],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
            )  # fmt: skip

    def __enter__(self) -> Process:
        return self

    def answer(self) -> str:
        """Of the run that is under way; the Spark it ran on."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"demo: {self._contestant.name} has failed, see {self._log}")
        told = json.loads(line)
        seconds = self._contestant.seconds
        for run in RUNS:
            if run in told:
                seconds[run] = min(told[run], seconds.get(run, told[run]))
        if len(self._contestant.answers) == 0:
            del seconds["warm"]  # the first one is not
        self._contestant.answers.append(told["answer"])
        return str(told["version"])

    def again(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        self.answer()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()


def say(text: str = "") -> None:
    print(text, flush=True)


def acts(made: dataset.Made) -> list[Act]:
    def pair(ours: str, sparks: str) -> tuple[Contestant, Contestant]:
        return Contestant(f"formatter  {ours}", OURS), Contestant(f"Spark      {sparks}", SPARKS)

    return [
        Act("file", "One CSV file with line breaks in quotes",
            "Spark reads it in one task; formatter splits it where records begin",
            made.megabytes_of(made.file), pair("su.read", "spark.read.csv(multiLine)")),
        Act("chunks", "Chunks in random order, records across their edges",
            "Spark has to collect, sort and stitch each origin first",
            made.megabytes_of(made.chunks), pair("su.parse(stitch='global')", "collect_list, sort, from_csv")),
        Act("records", "JSON records in a column", "what from_json does",
            made.megabytes_of(made.records), pair("su.parse(unit='record')", "from_json")),
    ]  # fmt: skip


def run(act: Act, made: dataset.Made, cores: int) -> str:
    ours, sparks = act.contestants
    with Process(act, ours, made, cores) as first:
        first.answer()
        with Process(act, sparks, made, cores) as second:
            version = second.answer()
            for _ in range(TURNS):
                first.again()
                second.again()
    return version


def show(megabytes: int, seed: int, cores: int) -> bool:
    java = use_java()
    made = dataset.make(FOLDER, megabytes, seed, say)
    found = acts(made)
    for number, act in enumerate(found, 1):
        version = run(act, made, cores)
        if number == 1:
            say(f"Spark {version} on {java}, local[{cores}]")
        say(f"\n{number}. {act.title} ({act.megabytes:.0f} MB): {act.what}")
        say("   " + ("the answers are the same" if act.agrees else "THE ANSWERS DIFFER"))
        for line in bars(act):
            say("   " + line)
    facts = f"Spark {version}, local[{cores}], {megabytes} MB an act, seed {seed}"
    (FOLDER / "report.html").write_text(html(found, facts), encoding="utf-8")
    say(f"\n{FOLDER / 'report.html'} has the same as a page")
    return all(act.agrees for act in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=200, help="of each act")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # bars, where a locale has no blocks
    started = time.perf_counter()
    try:
        same = show(options.megabytes, options.seed, options.cores)
    except JavaMissing as error:
        sys.exit(f"demo: {error}")
    say(f"demo: {time.perf_counter() - started:.0f} s in all")
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
