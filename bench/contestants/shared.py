"""Many consumers of one stream, over a hundred columns: shared, or a plain stream of the columns that all of them need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from bench.answers import Answer, answer_of
from bench.contestant import Contestant, Prepared, Task
from bench.contestants.streams import pushes_of
from bench.schedules import Pushes


def plain(task: Task) -> Prepared:
    import formatter as fm

    pushes, format, columns = (
        pushes_of(task),
        task.input.format(),
        sorted({c for some in consumers(task) for c in some}),
    )

    def run() -> int:
        stream = fm.Stream(format, columns=columns)
        rows = 0
        for buffers, numbers in pushes.calls:
            rows += sum(batch.num_rows for batch in stream.push_many(buffers, sequences=numbers))
        return rows + sum(batch.num_rows for batch in stream.finish())

    return Prepared(run, Answer)


def consumers(task: Task) -> list[list[str]]:
    return [list(columns) for columns in task.options["consumers"]]


def shared(task: Task) -> Prepared:
    """Consumers that are there already: each is read dry after every call; on demand it looks at every batch."""
    import formatter as fm

    pushes, format, wanted = pushes_of(task), task.input.format(), consumers(task)
    look = bool(task.options.get("look"))
    check_values(format, pushes, wanted, fm.read(task.input.data, format, threads=1))

    def run() -> int:
        stream = fm.SharedStream(format)
        subscriptions = [stream.subscribe(columns) for columns in wanted]
        rows = [0] * len(wanted)

        def read() -> None:
            for number, subscription in enumerate(subscriptions):
                while subscription.lag:
                    batch = subscription.poll()
                    assert batch is not None
                    if look:
                        batch.data  # noqa: B018
                    rows[number] += batch.num_rows

        for buffers, numbers in pushes.calls:
            stream.push_many(buffers, sequences=numbers)
            read()
        stream.finish()
        read()
        assert rows == [stream.stats.rows] * len(wanted)
        return rows[0]

    return Prepared(run, Answer)


def check_values(format: Any, pushes: Pushes, wanted: Sequence[Sequence[str]], whole: pa.Table) -> None:
    """Every consumer's values are the whole read's, and no other column was decoded."""
    import formatter as fm

    stream = fm.SharedStream(format, ordered=True)
    subscriptions = [stream.subscribe(columns, queue=100_000) for columns in wanted]
    for buffers, numbers in pushes.calls:
        stream.push_many(buffers, sequences=numbers)
    stream.finish()
    for columns, subscription in zip(wanted, subscriptions, strict=True):
        found = pa.Table.from_batches([batch.data for batch in subscription])
        if answer_of(found.select(list(columns))) != answer_of(whole.select(list(columns))):
            raise ValueError(f"the consumer of {columns} has other values than the whole read")
    decoded = {name for name, count in stream.stats.values_decoded.items() if count}
    if decoded != (union := {name for columns in wanted for name in columns}):
        raise ValueError(f"decoded {sorted(decoded)}, the union is {sorted(union)}")


def coming_and_going(task: Task) -> Prepared:
    """One consumer that subscribes and closes between pushes of one record, beside one that stays."""
    import formatter as fm

    times, columns = int(task.options["times"]), int(task.options["columns"])
    format = fm.Csv(pa.schema([(f"c{i}", pa.int64()) for i in range(columns)]), quote=None)
    line = (",".join(["1"] * columns) + "\n").encode()

    def run() -> int:
        stream = fm.SharedStream(format)
        steady = stream.subscribe(["c1"], queue=10 * times)
        for k in range(times):
            with stream.subscribe(["c2", "c3"]):
                stream.push(line, sequence=k + 1)
        assert steady.lag >= times - 1
        return times

    return Prepared(run, Answer)


CONTESTANTS = [
    Contestant("shared stream", {"plain": plain, "shared": shared, "coming and going": coming_and_going}, role="ours")
]
