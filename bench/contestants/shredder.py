"""The sequence shredder alone: which record that spans buffers does this one complete? Claims are held against a slow oracle's."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from bench.answers import Answer
from bench.contestant import Contestant, Prepared, Task
from bench.schedules import Flags

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

LONGEST_CHECKED = 1 << 20


def shred(flags: Flags, batch: int, threads: int = 1, keep: bool = False) -> list[tuple[int, int]]:
    """The claims, if they are to be kept: keeping costs more than finding them."""
    from formatter import SequenceShredder

    shredder = SequenceShredder()
    found: list[tuple[int, int]] = []

    def work(first: int) -> None:
        for start in range(first * batch, len(flags.sequences), threads * batch):
            claims = shredder.process_many(flags.sequences[start : start + batch], flags.flags[start : start + batch])
            if keep:
                found.extend(map(tuple, claims.tolist()))

    others = [threading.Thread(target=work, args=(i,)) for i in range(1, threads)]
    for thread in others:
        thread.start()
    work(0)
    for thread in others:
        thread.join()
    return found


def wrong_claims(flags: Flags, found: list[tuple[int, int]]) -> str | None:
    from oracle.span_oracle import all_claims, difference

    return difference(found, all_claims(flags.delimited)[:-1]) or None


def many(task: Task) -> Prepared:
    told = task.options
    flags = Flags(told["buffers"], told["window"], told.get("probability", 0.0), told.get("every", 0))
    checked = len(flags.sequences) <= LONGEST_CHECKED
    if checked and (wrong := wrong_claims(flags, shred(flags, 1000, task.threads, keep=True))):
        raise ValueError(wrong)
    return Prepared(lambda: shred(flags, told["batch"], task.threads), lambda _: Answer(len(flags.sequences)))


def one_by_one(task: Task) -> Prepared:
    from formatter import SequenceShredder

    flags = Flags(task.options["buffers"], task.options["window"], task.options["probability"])
    buffers = list(zip(flags.sequences.tolist(), flags.flags.tolist(), strict=True))

    def run() -> int:
        shredder = SequenceShredder()
        for sequence, flag in buffers:
            shredder.process(sequence, flag)
        return len(buffers)

    return Prepared(run, Answer)


CONTESTANTS = [Contestant("shredder", {"many": many, "one by one": one_by_one}, role="ours")]
