"""Runs one race: every answer is checked first, then the contestants take turns, so that all meet the same machine.

In: a Race, the stable. Out: a Result for each entry. Refuses to know: what is asked, where results go.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.answers import Answer, answer_of, verdicts
from bench.contestant import Task
from bench.contestants import contestant
from bench.oracle import python_table
from bench.question import Entry, Race
from bench.record import Result, best_of_ours, best_peer, ratio
from bench.stable import GoneError, Process, Stable

LEAST_ROUNDS, MOST_ROUNDS = 5, 60
MOST_OF_ITS_SECONDS = 3.0  # a race that stays in doubt has so many times its own, where others were settled early
WARM_SHARE = 0.5  # of what is left when everybody has answered once
LEAST_WARM_S = 3.0  # of calls before the turns, where no time is left for more
LEAST_IN_HASTE = 3  # rounds, where no time is left
LEAST_OF_LONG = ((5.0, 1), (2.0, 2), (0.5, 3))  # rounds of contestants whose turn takes longer than so many seconds
LEAST_FRESH_TURNS = 3
LEAST_LONG_FRESH_TURNS, LONG_FRESH_S = 2, 10.0  # of rounds that take longer
CLOSE = 1.25  # times the fastest peer's time: who is slower takes no part beyond the least rounds
KNOWN = 0.02  # a ratio in as little doubt is settled; more rounds would tell nobody more
LONGEST_TURN_S, SHORTEST_TURN_S = 0.25, 0.01  # of calls that are shorter
STAGES = ("first call", "with what comes before it", "whole process")
LONGEST_REPLY_S = 600.0
BUSY, LOOKED_S = 0.25, 0.5  # of the CPUs at work while no contestant is: turns would wait for others


@dataclass
class Runner:
    entry: Entry
    result: Result
    process: Process | None = None
    answer: Answer | None = None

    @property
    def running(self) -> bool:
        return self.process is not None and self.result.wrong is None and self.result.declined is None


def usual_clock() -> str:
    """Of a question's races, asked before any contestant of it runs: what a virtual machine compiles behind a race is no stranger's
    work, and figures by two clocks make no curve."""
    return "cpu" if busy_share() > BUSY else "wall"


def run_race(race: Race, question: str, stable: Stable, seconds: float, clock: str = "") -> list[Result]:
    """All of it takes `seconds` if it can: what starting, checking and warming leave of them is for turns."""
    load, ends = os.getloadavg()[0], time.perf_counter() + seconds
    race = replace(race, clock=race.clock or clock or usual_clock())
    runners = [_runner(race, question, entry, round(load, 2)) for entry in race.entries]
    if race.sampled:
        _check_samples(race, runners, stable)
    if race.fresh:
        return _fresh_rounds(race, runners, min(race.seconds, seconds))
    for runner in runners:
        _first_call(race, runner, stable)
    _judge(race, runners)
    racing = [runner for runner in runners if runner.running and runner.process]
    warm_s = max(LEAST_WARM_S, (ends - time.perf_counter()) * WARM_SHARE / max(1, len(racing)))
    for runner in racing:
        if race.warm_s and runner.process:
            _ask(runner, runner.process, {"warm": min(race.warm_s, warm_s), "as": runner.entry.label})
    _rounds(runners, max(0.0, min(race.seconds * MOST_OF_ITS_SECONDS, ends - time.perf_counter())))
    return [runner.result for runner in runners]


def busy_share(seconds: float = LOOKED_S) -> float:
    """Of all CPUs' time, what is spent now. (The load average remembers contestants that have long ended.)"""

    def passed() -> tuple[int, int]:
        times = [int(number) for number in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        return sum(times), times[3] + times[4]  # idle, and waiting for a disk

    before, idle_before = passed()
    time.sleep(seconds)
    now, idle = passed()
    return 1 - (idle - idle_before) / max(1, now - before)


def _runner(race: Race, question: str, entry: Entry, load: float) -> Runner:
    who = contestant(entry.who)
    result = Result(
        question,
        dict(race.point),
        entry.label,
        entry.role or who.role,
        race.amount,
        race.unit,
        load=load,
        clock=race.clock,
    )
    if who.version is None:
        result.declined = f"{who.package} is not installed"
    return Runner(entry, result)


def _ask(runner: Runner, process: Process, request: Mapping[str, object]) -> dict[str, Any] | None:
    """The reply, unless there is none to go on with; then the result says why."""
    try:
        reply = process.ask(request, LONGEST_REPLY_S)
    except GoneError as gone:
        runner.result.wrong = str(gone)
        return None
    if "failed" in reply:
        runner.result.wrong = str(reply["failed"])
    elif "declined" in reply:
        runner.result.declined = str(reply["declined"])
    else:
        return reply
    return None


def _check_samples(race: Race, runners: list[Runner], stable: Stable) -> None:
    """Everyone's reading of the first records against Python's own."""
    source = next((runner.entry.task.source for runner in runners if runner.entry.task.source), None)
    if source is None:
        return
    sample = source.sample()
    try:
        whole = python_table(sample)
    except (
        ValueError,
        TypeError,
        IndexError,
        KeyError,
        ArithmeticError,
    ) as error:  # a user's file: the contestants decide
        print(f"  {race.key}: not held against Python's own reading, which fails: {error}", flush=True)
        return
    for runner in runners:
        task = runner.entry.task
        if runner.result.declined or runner.result.role == "limit":
            continue
        asked = replace(task, source=sample, options={**task.options, "sample": True})
        process = _process(runner, stable)
        reply = _ask(runner, process, _preparing(runner.entry, asked, f"{race.key}, sample"))
        if reply:
            found = {"it": Answer.from_json(reply["answer"])}
            wrong = verdicts(found, answer_of(race.expected(whole, task)))["it"]
            runner.result.wrong = f"{wrong}, on the sample" if wrong else None


def _preparing(entry: Entry, task: Task, race: str) -> dict[str, object]:
    return {"prepare": task.to_json(), "as": entry.label, "race": race}


def _environment(entry: Entry) -> dict[str, str]:
    return {**contestant(entry.who).environment(entry.task.threads), **entry.environment}


def _process(runner: Runner, stable: Stable) -> Process:
    entry = runner.entry
    return stable.process(
        entry.label if entry.alone and entry.label != entry.who else "", entry.who, _environment(entry)
    )


def _new_process(runner: Runner) -> Process:
    return Process(runner.entry.who, _environment(runner.entry))


def _first_call(race: Race, runner: Runner, stable: Stable) -> None:
    if runner.result.wrong or runner.result.declined:
        return
    process = _process(runner, stable)
    asked = {**_preparing(runner.entry, runner.entry.task, race.key), "answered": race.answered}
    reply = _ask(runner, process, asked)
    if reply is None:
        return
    runner.process = process
    runner.answer = Answer.from_json(reply["answer"])
    runner.result.rows = runner.answer.rows
    runner.result.peak_mb = reply["peak_mb"]


def _judge(race: Race, runners: list[Runner]) -> None:
    """Limits do other work; what they answer is not looked at."""
    looked_at = [runner for runner in runners if runner.answer and runner.result.role != "limit"]
    answers = {runner.entry.label: runner.answer for runner in looked_at if runner.answer}
    wrong = verdicts(answers, race.truth)
    for runner in looked_at:
        runner.result.wrong = wrong[runner.entry.label]


def _rounds(runners: list[Runner], seconds: float) -> None:
    """Everyone has a turn a round, in an order that goes round; the closest go on until they are told apart or the time is over."""
    began = time.perf_counter()
    racing = [runner for runner in runners if runner.running]
    least = LEAST_ROUNDS if seconds > 0 else LEAST_IN_HASTE
    turn_s = min(LONGEST_TURN_S, max(SHORTEST_TURN_S, seconds / least / max(1, len(racing))))
    for number in range(MOST_ROUNDS):
        over = time.perf_counter() - began > seconds
        close = _close(racing)
        for runner in racing[number % len(racing) :] + racing[: number % len(racing)]:
            due = len(runner.result.turns) < _least(runner.result, least)
            if runner.running and runner.process and (due or (runner in close and not over)):
                if reply := _ask(runner, runner.process, {"turn": turn_s, "as": runner.entry.label}):
                    _note(runner.result, reply)
                else:
                    runner.result.wall_s, runner.result.cpu_s = [], []
        if all(len(runner.result.turns) >= _least(runner.result, least) for runner in racing if runner.running) and (
            over or _settled(racing)
        ):
            return


def _least(result: Result, usual: int) -> int:
    took = result.seconds() if result.turns else 0.0
    return next((rounds for longer, rounds in LEAST_OF_LONG if took > longer), usual)


def _close(racing: list[Runner]) -> list[Runner]:
    """All that are not peers, and the peers that may be the fastest."""
    fastest = best_peer(runner.result for runner in racing)
    limit = fastest.seconds() * CLOSE if fastest else 0.0
    return [r for r in racing if r.result.role != "peer" or not r.result.turns or r.result.seconds() <= limit]


def _settled(racing: list[Runner]) -> bool:
    """Where nobody is to be compared with: each by itself."""
    results = [runner.result for runner in racing if runner.result.valid]
    mine, theirs = best_of_ours(results), best_peer(results)
    if mine and theirs:
        return ratio(mine, theirs).doubt < KNOWN
    return all(result.doubt() < KNOWN for result in results)


def _note(result: Result, clocks: dict[str, Any]) -> None:
    result.wall_s.append(clocks["wall"])
    result.cpu_s.append(clocks["cpu"])


def _fresh_rounds(race: Race, runners: list[Runner], seconds: float) -> list[Result]:
    """Each turn is a process's first: its first call, the same with what comes before it (imports, a session), its whole life but
    for the harness's own question what the answer is, asked once."""
    stages = {runner.entry.label: {stage: _stage_of(runner.result, stage) for stage in STAGES} for runner in runners}
    answers: dict[str, Answer] = {}
    began = time.perf_counter()
    for number in range(MOST_ROUNDS):
        for runner in runners[number % len(runners) :] + runners[: number % len(runners)]:
            if runner.result.wrong or runner.result.declined:
                continue
            label = runner.entry.label
            process = _new_process(runner)
            asked = {
                **_preparing(runner.entry, runner.entry.task, race.key),
                "answered": "" if label in answers else race.answered,
            }
            reply = _ask(runner, process, asked)
            lived = 0.0 if process.gone else process.end(at_once=reply is None)
            if reply is None:
                continue
            if "answer" in reply:
                runner.answer = answers[label] = Answer.from_json(reply["answer"])
            whole = {"wall": lived - reply["answering_s"], "cpu": reply["first"]["cpu"]}
            for stage, clocks in zip(STAGES, (reply["call"], reply["first"], whole), strict=True):
                stages[label][stage].peak_mb = reply["peak_mb"]
                _note(stages[label][stage], clocks)
        passed = time.perf_counter() - began
        least = LEAST_LONG_FRESH_TURNS if passed > LONG_FRESH_S * (number + 1) else LEAST_FRESH_TURNS
        if number + 1 >= least and passed > seconds:
            break
    _judge(race, runners)
    found = []
    for runner in runners:
        for result in stages[runner.entry.label].values():
            result.wrong, result.declined = runner.result.wrong, runner.result.declined
            result.rows = runner.answer.rows if runner.answer else 0
            found.append(result)
    return found


def _stage_of(result: Result, stage: str) -> Result:
    return replace(result, point={**result.point, "stage": stage}, wall_s=[], cpu_s=[])
