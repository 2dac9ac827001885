"""A hundred consumers over a hundred columns, and what each more of them costs: `python -m bench.shared_bench [megabytes]`.

In: records of 100 integer columns, in 64 KiB buffers. Out: ratios of processor time, all calls taken in turns in one
process: a shared stream to a plain projected one of the same columns, a second consumer with the same needs, the union
growing while the consumers stay a hundred, a hundred consumers to one with the same union. Every consumer's values are
compared with the whole read's before anything is timed. Refuses to know: other libraries.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Sequence

import pyarrow as pa

import formatter as fm

COLUMNS = 100
BUFFER_BYTES = 64 << 10
BUFFERS_A_CALL = 64
ROUNDS = 9
CHECKED_BYTES = 8 << 20
LEAST_OF_PLAIN = 0.85
MOST_OF_A_SECOND = 1.05

SCHEMA = pa.schema([(f"c{i}", pa.int64()) for i in range(COLUMNS)])
FORMAT = fm.Csv(SCHEMA, quote=None)
NAMES = SCHEMA.names


def records(size: int, seed: int = 1) -> bytes:
    chance = random.Random(seed)
    lines = [",".join(str(chance.randrange(10 ** chance.randrange(1, 7))) for _ in range(COLUMNS)) for _ in range(2000)]
    block = ("\n".join(lines) + "\n").encode()
    return block * max(1, size // len(block))


def calls_of(data: bytes) -> list[tuple[list[bytes], list[int]]]:
    pieces = [data[i : i + BUFFER_BYTES] for i in range(0, len(data), BUFFER_BYTES)]
    numbers = range(1, len(pieces) + 1)
    step = BUFFERS_A_CALL
    return [(pieces[i : i + step], list(numbers[i : i + step])) for i in range(0, len(pieces), step)]


Calls = list[tuple[list[bytes], list[int]]]


def plain(calls: Calls, columns: Sequence[str]) -> float:
    """Seconds of processor time, from the first buffer to the end."""
    stream = fm.Stream(FORMAT, columns=columns)
    rows = 0
    begin = time.process_time()
    for buffers, numbers in calls:
        rows += sum(batch.num_rows for batch in stream.push_many(buffers, sequences=numbers))
    rows += sum(batch.num_rows for batch in stream.finish())
    seconds = time.process_time() - begin
    assert rows == stream.stats.rows
    return seconds


def shared(calls: Calls, consumers: Sequence[Sequence[str]], look: Callable[[fm.Batch], object]) -> float:
    """The same for consumers that are there already: each is read dry after every call, and looks at every batch."""
    stream = fm.SharedStream(FORMAT)
    subscriptions = [stream.subscribe(columns) for columns in consumers]
    rows = [0] * len(consumers)

    def read() -> None:
        for number, subscription in enumerate(subscriptions):
            while subscription.lag:
                batch = subscription.poll()
                assert batch is not None
                look(batch)
                rows[number] += batch.num_rows

    begin = time.process_time()
    for buffers, numbers in calls:
        stream.push_many(buffers, sequences=numbers)
        read()
    stream.finish()
    read()
    seconds = time.process_time() - begin
    assert rows == [stream.stats.rows] * len(consumers)
    return seconds


def coming_and_going(times: int = 300) -> float:
    """One consumer that subscribes and closes between pushes of one record, beside one that stays: seconds a time."""
    line = (",".join(["1"] * COLUMNS) + "\n").encode()
    stream = fm.SharedStream(FORMAT)
    steady = stream.subscribe(["c1"], queue=10 * times)
    begin = time.process_time()
    for k in range(times):
        with stream.subscribe(["c2", "c3"]):
            stream.push(line, sequence=k + 1)
    seconds = time.process_time() - begin
    assert steady.lag >= times - 1
    return seconds / times


def check(data: bytes, consumers: Sequence[Sequence[str]]) -> None:
    whole = fm.read(data, FORMAT, threads=1)
    calls = calls_of(data)
    stream = fm.SharedStream(FORMAT, ordered=True)
    subscriptions = [stream.subscribe(columns, queue=10_000) for columns in consumers]
    for buffers, numbers in calls:
        stream.push_many(buffers, sequences=numbers)
    stream.finish()
    union = {name for columns in consumers for name in columns}
    for columns, subscription in zip(consumers, subscriptions, strict=True):
        found = pa.Table.from_batches([batch.data for batch in subscription])
        if not found.select(list(columns)).equals(whole.select(list(columns))):
            raise SystemExit(f"shared bench: the consumer of {columns} has other values than the whole read")
    decoded = {name for name, count in stream.stats.values_decoded.items() if count}
    if decoded != union:
        raise SystemExit(f"shared bench: decoded {sorted(decoded)}, the union is {sorted(union)}")


def least(work: dict[str, Callable[[], float]]) -> dict[str, float]:
    """The least time of each, taken in turns so that all see the same machine."""
    seconds = dict.fromkeys(work, float("inf"))
    for _ in range(ROUNDS):
        for name, call in work.items():
            seconds[name] = min(seconds[name], call())
    return seconds


def rows_only(batch: fm.Batch) -> object:
    return batch.num_rows


def full_data(batch: fm.Batch) -> object:
    return batch.data


def three_columns(union: int, consumers: int = 100) -> list[list[str]]:
    """Three columns each, so that all together need the first `union`."""
    return [[NAMES[(3 * i + k) % union] for k in range(3)] for i in range(consumers)]


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    data = records(megabytes << 20)
    calls = calls_of(data)
    two = ["c20", "c70"]
    unions = (3, 10, 30, 100)
    checked = data[: data.index(b"\n", CHECKED_BYTES) + 1]
    check(checked, [two, two])
    for union in unions:
        check(checked, three_columns(union))
    work: dict[str, Callable[[], float]] = {
        "plain 2": lambda: plain(calls, two),
        "shared 2": lambda: shared(calls, [two], rows_only),
        "shared 2, looking": lambda: shared(calls, [two], full_data),
        "shared 2, twice": lambda: shared(calls, [two, two], rows_only),
        "shared 2, a hundred times": lambda: shared(calls, [two] * 100, rows_only),
        "coming and going": coming_and_going,
    }
    for union in unions:
        names = NAMES[:union]
        work[f"plain {union}"] = lambda names=names: plain(calls, names)  # type: ignore[misc]
        needs = three_columns(union)
        work[f"hundred over {union}"] = lambda needs=needs: shared(calls, needs, rows_only)  # type: ignore[misc]
    seconds = least(work)
    gigabytes = len(data) / 1e9
    base = seconds["plain 2"]
    print(f"{len(data) >> 20} MiB of {COLUMNS} columns; fm.Stream with 2 of them: {gigabytes / base:.2f} GB/s")
    print(f"  one consumer of the same 2       {base / seconds['shared 2']:5.2f} of that (wanted {LEAST_OF_PLAIN})")
    print(f"  ... that looks at all 100        {base / seconds['shared 2, looking']:5.2f} of that")
    second = seconds["shared 2, twice"] / seconds["shared 2"]
    print(f"  a second consumer costs          {second - 1:+.1%} (wanted under {MOST_OF_A_SECOND - 1:.0%})")
    hundred = seconds["shared 2, a hundred times"] / seconds["shared 2"]
    print(f"  a hundred consumers cost         {hundred - 1:+.1%}")
    print(f"  to come and go takes             {seconds['coming and going'] * 1e6:5.0f} us")
    print("a hundred consumers of 3 columns each, beside fm.Stream with the columns of all of them:")
    for union in unions:
        ratio = seconds[f"plain {union}"] / seconds[f"hundred over {union}"]
        print(
            f"  union of {union:3}: {gigabytes / seconds[f'hundred over {union}']:6.2f} GB/s, {ratio:.2f} of the plain one"
        )


if __name__ == "__main__":
    main()
