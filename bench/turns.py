"""Runs one race: every answer is checked first, then the contestants take turns, so that all meet the same machine.

In: a Race, the stable. Out: a Result for each entry. Refuses to know: what is asked, where results go.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bench.answers import Answer, answer_of, verdicts
from bench.contestant import Task
from bench.contestants import contestant
from bench.oracle import python_table
from bench.question import Entry, Race
from bench.record import Result
from bench.stable import GoneError, Process, Stable

LEAST_TURNS, MOST_TURNS = 3, 25
LEAST_FRESH_TURNS = 2
STAGES = ("first call", "with what comes before it", "whole process")
LONGEST_REPLY_S = 600.0
BUSY = 2.0  # load a core that contestants alone do not bring about: turns wait for others more than for themselves
LONG_TURN_S = 5.0  # of which two are enough


@dataclass
class Runner:
    entry: Entry
    result: Result
    process: Process | None = None
    answer: Answer | None = None

    @property
    def running(self) -> bool:
        return self.process is not None and self.result.wrong is None and self.result.declined is None


def run_race(race: Race, question: str, stable: Stable, seconds: float) -> list[Result]:
    load = os.getloadavg()[0]
    busy = load > BUSY * (os.cpu_count() or 1)
    race = replace(race, clock=race.clock or ("cpu" if busy else "wall"))
    runners = [_runner(race, question, entry, round(load, 2)) for entry in race.entries]
    if race.sampled:
        _check_samples(race, runners, stable)
    if race.fresh:
        return _fresh_rounds(race, runners, seconds)
    for runner in runners:
        _first_call(race, runner, stable)
    _judge(race, runners)
    _rounds(runners, seconds)
    return [runner.result for runner in runners]


def _runner(race: Race, question: str, entry: Entry, load: float) -> Runner:
    who = contestant(entry.who)
    result = Result(
        question, dict(race.point), entry.label, who.role, race.amount, race.unit, load=load, clock=race.clock
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
    whole = python_table(sample)
    for runner in runners:
        task, who = runner.entry.task, contestant(runner.entry.who)
        if runner.result.declined or who.role == "limit":
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
    return stable.process(
        runner.entry.label if runner.entry.alone else "", runner.entry.who, _environment(runner.entry)
    )


def _new_process(runner: Runner) -> Process:
    return Process(runner.entry.who, _environment(runner.entry))


def _first_call(race: Race, runner: Runner, stable: Stable) -> None:
    if runner.result.wrong or runner.result.declined:
        return
    process = _process(runner, stable)
    reply = _ask(runner, process, _preparing(runner.entry, runner.entry.task, race.key))
    if reply is None:
        return
    runner.process = process
    runner.answer = Answer.from_json(reply["answer"])
    runner.result.rows = runner.answer.rows
    runner.result.peak_mb = reply["peak_mb"]
    if reply["call"]["wall"] > LONG_TURN_S:
        _note(runner.result, reply["call"])


def _judge(race: Race, runners: list[Runner]) -> None:
    """Limits do other work; what they answer is not looked at."""
    looked_at = [runner for runner in runners if runner.answer and runner.result.role != "limit"]
    answers = {runner.entry.label: runner.answer for runner in looked_at if runner.answer}
    wrong = verdicts(answers, race.truth)
    for runner in looked_at:
        runner.result.wrong = wrong[runner.entry.label]


def _rounds(runners: list[Runner], seconds: float) -> None:
    """Each has a share of the seconds; who is quick takes part in more rounds, which settle the closest pairs."""
    racing = [runner for runner in runners if runner.running]
    share = seconds / max(1, len(racing))
    for turn in range(MOST_TURNS):
        for runner in racing:
            spent = sum(runner.result.wall_s)
            slow = bool(runner.result.wall_s) and spent / len(runner.result.wall_s) > LONG_TURN_S
            due = turn < (2 if slow else LEAST_TURNS) and len(runner.result.wall_s) < LEAST_TURNS
            if runner.running and (due or spent < share) and runner.process:
                if reply := _ask(runner, runner.process, {"turn": turn, "as": runner.entry.label}):
                    _note(runner.result, reply)
                else:
                    runner.result.wall_s, runner.result.cpu_s = [], []


def _note(result: Result, clocks: dict[str, Any]) -> None:
    result.wall_s.append(clocks["wall"])
    result.cpu_s.append(clocks["cpu"])


def _fresh_rounds(race: Race, runners: list[Runner], seconds: float) -> list[Result]:
    """Each turn is a process's first: its first call, the same with what comes before it (imports, a session), its whole life."""
    stages = {runner.entry.label: {stage: _stage_of(runner.result, stage) for stage in STAGES} for runner in runners}
    answers: dict[str, Answer] = {}
    began = time.perf_counter()
    for turn in range(MOST_TURNS):
        for runner in runners:
            if runner.result.wrong or runner.result.declined:
                continue
            process = _new_process(runner)
            reply = _ask(runner, process, _preparing(runner.entry, runner.entry.task, race.key))
            lived = 0.0 if process.gone else process.end(at_once=reply is None)
            if reply:
                runner.answer = answers[runner.entry.label] = Answer.from_json(reply["answer"])
                for stage in STAGES:
                    stages[runner.entry.label][stage].peak_mb = reply["peak_mb"]
                whole = {"wall": lived, "cpu": reply["first"]["cpu"]}
                for stage, clocks in zip(STAGES, (reply["call"], reply["first"], whole), strict=True):
                    _note(stages[runner.entry.label][stage], clocks)
        if turn + 1 >= LEAST_FRESH_TURNS and time.perf_counter() - began > seconds:
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
