"""A process that streams, checkpoints now and then, and is killed between any two steps of it.

In: a directory, a seed, "csv" or "json", and how many steps it lives (0: to the end). Out: `rows` (pickled lists), of which
`state` says how many bytes count, and `done`. Refuses to know: what happened before, but for the state.
"""

from __future__ import annotations

import os
import pickle
import random
import signal
import sys
from pathlib import Path

import pyarrow as pa

TESTS = str(Path(__file__).parent.parent)
if TESTS not in sys.path:
    sys.path.insert(0, TESTS)

from oracle.stream_runs import pieces_of, row_tuples, shuffled  # noqa: E402

import formatter as fm  # noqa: E402

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])
FORMATS = {"csv": fm.Csv(SCHEMA), "json": fm.Json(SCHEMA)}
ROWS, PIECE, WINDOW = 30_000, 97, 50


def data_of(seed: int, kind: str) -> bytes:
    chance = random.Random(seed)
    if kind == "json":
        return b"".join(
            b'{"b":"text, \\n\\u00e9%d","a":%d}\n' % (chance.randrange(10 ** chance.randrange(1, 30)), i)
            for i in range(ROWS)
        )
    return b"".join(
        b'%d,"text\n%d, and ""more"""\n' % (i, chance.randrange(10 ** chance.randrange(1, 30))) for i in range(ROWS)
    )


class Life:
    """Steps left. The last one ends the process as kill -9 does: nothing is flushed, nothing is closed."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def goes_on(self) -> None:
        self.steps -= 1
        if self.steps == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def main(folder: Path, seed: int, kind: str, life: Life) -> None:
    format = FORMATS[kind]
    pieces = pieces_of(data_of(seed, kind), PIECE)
    order = shuffled(len(pieces), seed, WINDOW)
    chance = random.Random(seed * 1_000 + life.steps)
    state_path = folder / "state"
    at, counted, stream = 0, 0, fm.Stream(format, batch=fm.BatchPolicy(max_rows=50))
    if state_path.exists():
        at, counted, state = pickle.loads(state_path.read_bytes())
        stream = fm.Stream.restore(format, state)
    with (folder / "rows").open("ab") as rows:
        rows.truncate(counted)
        rows.seek(counted)
        while at < len(order):
            part = order[at : at + chance.randrange(1, 40)]
            batches = stream.push_many([pieces[i] for i in part], sequences=[i + 1 for i in part])
            at += len(part)
            life.goes_on()
            pickle.dump(row_tuples(b.data for b in batches), rows)
            if chance.random() < 0.05:
                life.goes_on()
                rows.flush()
                life.goes_on()
                saved = folder / "saved"
                saved.write_bytes(pickle.dumps((at, rows.tell(), stream.checkpoint())))
                life.goes_on()
                saved.replace(state_path)
                life.goes_on()
        pickle.dump(row_tuples(b.data for b in stream.finish(last_sequence=len(pieces))), rows)
    (folder / "done").touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], Life(int(sys.argv[4])))
