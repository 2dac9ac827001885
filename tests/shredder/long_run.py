"""A long stream through one shredder, in random order from several threads, against its exact claims.

    python tests/shredder/long_run.py BUFFERS [THREADS]

In: how many buffers. Out: a line a hundred million, exit code 1 and the first wrong claims if any is wrong. A stretch at a time
fits into memory; some of each stretch comes only with the next, so that windows lie over the seams.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from arrival import make_flags, shuffled_in_windows

from formatter._core import SequenceShredder

STRETCH = 1 << 22
WINDOWS = (1, 64, 1000, 4096, 65_536, 1 << 20)
PROBABILITIES = (1.0, 0.5, 0.1, 0.01, 1e-4)
REPORT_EVERY = 100_000_000


def stretches(buffers: int, random: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Orders of arrival, the delimiter flags of the sequences that come, and where delimiters are in the stretch."""
    late, late_flags = np.empty(0, np.uint64), np.empty(0, bool)
    for begin in range(0, buffers, STRETCH):
        count = min(STRETCH, buffers - begin)
        flags = make_flags(count, random.choice(PROBABILITIES), int(random.integers(2**32)))
        order = shuffled_in_windows(count, int(random.choice(WINDOWS)), int(random.integers(2**32)))
        held_back = random.choice((0.0, 1e-5, 0.01)) if begin + count < buffers else 0.0
        held = random.random(count) < held_back
        arrived = order + np.uint64(begin)
        order_flags = flags[order - np.uint64(1)]
        coming, coming_flags = np.concatenate([late, arrived[~held]]), np.concatenate([late_flags, order_flags[~held]])
        late, late_flags = arrived[held], order_flags[held]
        yield coming, coming_flags, np.flatnonzero(flags).astype(np.uint64) + np.uint64(begin + 1)


def claims_of(shredder: SequenceShredder, order: np.ndarray, flags: np.ndarray, threads: int, batch: int) -> np.ndarray:
    """Of these buffers, threads taking turns at the batches. numpy's arrays, as tuples of so many would not fit."""

    def take(start: int) -> np.ndarray:
        return shredder.process_many(order[start : start + batch], flags[start : start + batch])

    with ThreadPoolExecutor(threads) as pool:
        return np.concatenate(list(pool.map(take, range(0, len(order), batch))))


def wrong_claims(found: np.ndarray, delimiters: np.ndarray) -> str:
    """Between each two neighbours one claim, and no other. The start's own is none where buffer 1 has a delimiter."""
    expected = np.stack([delimiters[:-1], delimiters[1:]], axis=1)
    expected = expected[expected[:, 0] != expected[:, 1]]
    found = found[np.lexsort((found[:, 1], found[:, 0]))]
    if np.array_equal(found, expected):
        return ""
    both = min(len(found), len(expected))
    at = next(itertools.chain(np.flatnonzero((found[:both] != expected[:both]).any(axis=1)), [both]))
    return f"expected {expected[at : at + 3].tolist()}, found {found[at : at + 3].tolist()}"


def run(buffers: int, threads: int, seed: int = 20_240_229) -> str:
    """What was claimed wrongly, or nothing."""
    random = np.random.default_rng(seed)
    shredder = SequenceShredder(capacity=64)
    open_claims = np.empty((0, 2), np.uint64)  # beyond the complete prefix
    delimiters = np.ones(1, np.uint64)  # from the last one of the complete prefix on; the stream's start counts as one
    done = 0
    for order, flags, more in stretches(buffers, random):
        batch = int(random.choice((100, 4096, 50_000)))
        claims = np.concatenate([open_claims, claims_of(shredder, order, flags, threads, batch)])
        delimiters = np.concatenate([delimiters, more])
        complete = claims[:, 1] <= shredder.tail
        if wrong := wrong_claims(claims[complete], delimiters[delimiters <= shredder.tail]):
            return wrong
        open_claims = claims[~complete]
        delimiters = delimiters[np.searchsorted(delimiters, shredder.tail, side="right") - 1 :]
        if (done + len(order)) // REPORT_EVERY > done // REPORT_EVERY:
            print(f"{done + len(order):,} buffers in random order: every claim right", flush=True)
        done += len(order)
    last, expected = tuple(shredder.finish(buffers)), ((int(delimiters[-1]), buffers),)
    if len(open_claims) or done != buffers or last != expected:
        return f"finish: expected {expected}, found {last}, {len(open_claims)} open claims, {done} buffers taken"
    return ""


def main() -> None:
    buffers = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**9
    wrong = run(buffers, threads=int(sys.argv[2]) if len(sys.argv) > 2 else 2)
    print(wrong or f"{buffers:,} buffers: 0 claims wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
