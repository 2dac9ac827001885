"""`python -m bench`: the one door. Questions are asked, contestants checked and raced, results recorded, the report written.

In: which questions, how much time; or a user's files. Out: a line a result, a record, a report; 1 if an answer of ours is wrong.
Refuses to know: how a contestant works, what a question asks.
"""

from __future__ import annotations

import argparse
import datetime
import fnmatch
import os
import shlex
import signal
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from bench.compare import cells_of, holds, verdict
from bench.facts import machine_facts
from bench.progress import Budget, Progress
from bench.question import Question, Race, Scale
from bench.questions import FILES, QUESTIONS
from bench.record import Record, Result, Run, best_peer, ratio
from bench.report.__main__ import write
from bench.report.documents import RECORD
from bench.stable import ROOT, Stable
from bench.turns import run_race, usual_clock

KEPT = ROOT / "build" / "bench"  # inputs and unfinished runs
DESIGN_MINUTES = 27.0  # half an hour less what a clean checkout takes to build and to install everybody


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE", help="race on these files of yours instead")
    parser.add_argument("--list", action="store_true", help="print the questions")
    parser.add_argument("--only", action="append", metavar="QUESTION", help="'spark *' works, too; repeatable")
    parser.add_argument("--workload", action="append", metavar="NAME", help="only these inputs; repeatable")
    parser.add_argument(
        "--budget", type=float, default=DESIGN_MINUTES, metavar="MINUTES", help="for the whole run; sizes follow"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", type=Path, help="where to keep the results; otherwise by date under bench/results")
    parser.add_argument("--fresh", action="store_true", help="begin anew, even if a run was interrupted")
    parser.add_argument("--compare", nargs=2, type=Path, metavar="RECORD", help="only judge two records, cell by cell")
    return parser.parse_args()


def main() -> int:
    chosen = options()
    if chosen.list:
        print("\n".join(f"{question.name:18} {question.asks}" for question in QUESTIONS.values()))
        return 0
    if chosen.compare:
        return compare(*(Record.load(path) for path in chosen.compare))
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends a run keeps what it has found
    asked = questions(chosen)
    path = chosen.record or (KEPT / "files.jsonl" if chosen.files else RECORD)
    record, wrong = run(asked, chosen, KEPT / f"unfinished-{path.stem}.jsonl")
    if path.exists() and not chosen.files:
        record = Record.load(path).updated_by(record)
    record.save(path)
    write(record, report := KEPT / f"{path.stem}.html")
    print(f"record: {path}\nreport: {report}", flush=True)
    return 1 if wrong else 0


def questions(chosen: argparse.Namespace) -> list[Question]:
    if chosen.files:
        return [replace(FILES, seconds=FILES.seconds * len(chosen.files))]
    patterns = chosen.only or ["*"]
    found = [question for name, question in QUESTIONS.items() if any(fnmatch.fnmatch(name, p) for p in patterns)]
    if not found:
        sys.exit(f"bench: no question is called {' or '.join(patterns)}; python -m bench --list shows them")
    return found


def run(asked: list[Question], chosen: argparse.Namespace, unfinished: Path) -> tuple[Record, bool]:
    part = min(1.0, chosen.budget * 60 / sum(question.seconds for question in asked))
    facts = {**machine_facts(), "part": round(part, 4), "seed": chosen.seed}
    taken = datetime.datetime.now(datetime.UTC)
    key = {"questions": [q.name for q in asked], "part": part, "seed": chosen.seed, "commit": facts["commit"]}
    key |= {"workloads": chosen.workload, "files": chosen.files}
    if chosen.fresh:
        unfinished.unlink(missing_ok=True)
    progress = Progress(unfinished, key)
    results: list[Result] = []
    took: dict[str, float] = {}
    kept = False
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=memory_folder()) as memory, Stable() as stable:
        workloads = frozenset(chosen.workload or ())
        scale = Scale(part, chosen.seed, Path(memory), KEPT / "inputs", workloads, tuple(chosen.files))
        clock = Budget({question.name: question.seconds * part for question in asked})
        try:
            for question in asked:
                before = time.perf_counter()
                if not (question.kept and kept):
                    stable.end()
                kept = question.kept
                results += ask(question, scale, progress, clock, stable)
                took[question.name] = round(time.perf_counter() - before, 1)
            progress.finished()
        except KeyboardInterrupt:
            print(
                f"\nbench: interrupted; recorded: {', '.join(took) or 'nothing'}. The same command goes on.", flush=True
            )
            if not took:
                sys.exit(130)
    took_s = round(time.perf_counter() - began, 1)
    made = Run(f"{taken:%Y-%m-%d %H:%M} UTC", command_line(), {**facts, "took": took}, list(took), took_s)
    return Record([made], results), any(result.wrong and result.role == "ours" for result in results)


def ask(question: Question, scale: Scale, progress: Progress, clock: Budget, stable: Stable) -> list[Result]:
    print(f"\n{question.name}: {question.asks} ({clock})", flush=True)
    found: list[Result] = []
    told_by = usual_clock()
    with clock.question(question.name):
        races = [race for race in question.races(scale) if scale.wants(race.point.get("workload"))]
        for number, race in enumerate(races):
            key = f"{question.name}: {race.key}"
            clock.races_left = len(races) - number
            if key not in progress.done:
                progress.keep(key, run_race(race, question.name, stable, clock.race_s, told_by))
            found += progress.done[key]
            print("\n".join(lines(race, progress.done[key])), f"({clock})", flush=True)
    return found


def lines(race: Race, results: list[Result]) -> list[str]:
    busy = " (CPU time: the machine is busy)" if results[0].clock == "cpu" else ""
    shown = [f"  {race.key}{busy}"]
    for result in sorted(results, key=lambda r: r.seconds() if r.valid else 9e9):
        if result.declined:
            continue
        if result.wrong:
            shown.append(f"    {result.contestant:24} WRONG: {result.wrong[:150]}")
            continue
        stage = f" {result.point['stage']}" if "stage" in result.point else ""
        words = f"    {result.contestant + stage:24} {amount(result)}"
        peer = best_peer([other for other in results if other.point == result.point])
        if peer and result.role == "ours":
            found = ratio(result, peer)
            words += f"  {found.value:.2f} x {peer.contestant}{' (noise)' if found.is_noise else ''}"
        shown.append(words)
    return shown


def amount(result: Result) -> str:
    rate = result.rate()
    if result.unit == "B":
        return f"{rate / 1e9:9.3f} GB/s {result.seconds() * 1e3:10.2f} ms"
    return f"{1e9 / rate:9.1f} ns a {result.unit}"


def compare(one: Record, other: Record) -> int:
    cells = cells_of(one, other)
    print("\n".join(cell.line() for cell in sorted(cells, key=lambda cell: abs(cell.apart), reverse=True)))
    print(verdict(cells))
    return 0 if holds(cells) else 1


def command_line() -> str:
    """As anybody would type it: where the record was kept is a place of this machine."""
    told = iter(sys.argv[1:])
    words = []
    for word in told:
        if word == "--record":
            next(told)
        elif not word.startswith("--record="):
            words.append(word)
    return shlex.join(["python", "-m", "bench", *words])


def memory_folder() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


if __name__ == "__main__":
    sys.exit(main())
