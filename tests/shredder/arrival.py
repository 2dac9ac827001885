"""Streams and orders of arrival for the shredder's tests.

In: sizes, probabilities, seeds. Out: arrays of sequences and delimiter flags, and runs over several threads.
"""

from __future__ import annotations

import threading

import numpy as np

from formatter._core import SequenceShredder


def make_flags(buffers: int, probability: float, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random(buffers) < probability


def shuffled_in_windows(buffers: int, window: int, seed: int) -> np.ndarray:
    """Sequences 1..buffers, in random order inside each window."""
    random = np.random.default_rng(seed)
    order = np.arange(1, buffers + 1, dtype=np.uint64)
    whole = buffers - buffers % window
    order[:whole] = random.permuted(order[:whole].reshape(-1, window), axis=1).ravel()
    order[whole:] = random.permutation(order[whole:])
    return order


def jittered(buffers: int, reach: int, seed: int) -> np.ndarray:
    """Sequences 1..buffers, each late by a random amount up to `reach`: windows that slide instead of ending."""
    delay = np.random.default_rng(seed).random(buffers) * reach
    return (np.argsort(np.arange(buffers) + delay, kind="stable") + 1).astype(np.uint64)


def run_threads(
    shredder: SequenceShredder,
    order: np.ndarray,
    flags: np.ndarray,
    *,
    threads: int = 1,
    batch: int = 64,
    stall: tuple[int, threading.Event] | None = None,
) -> list[tuple[int, int]]:
    """Every claim made while `threads` take turns at the batches. `stall`: a batch, and what its thread waits for."""
    claimed: list[list[tuple[int, int]]] = [[] for _ in range(threads)]
    failures: list[BaseException] = []
    turn = iter(range(0, len(order), batch))
    taking = threading.Lock()

    def work(mine: list[tuple[int, int]]) -> None:
        try:
            while True:
                with taking:
                    start = next(turn, None)
                if start is None:
                    return
                if stall and start // batch == stall[0]:
                    stall[1].wait()
                sequences = order[start : start + batch]
                found = shredder.process_many(sequences, flags[sequences - np.uint64(1)])
                mine.extend(map(tuple, found.tolist()))
        except BaseException as failure:
            failures.append(failure)

    running = [threading.Thread(target=work, args=(mine,)) for mine in claimed]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    if failures:
        raise failures[0]
    return [claim for mine in claimed for claim in mine]
