"""A process that streams, checkpoints now and then, and expects to be killed at any moment.

In: a directory, a seed and "csv" or "json". Out: `rows` (pickled lists), of which `state` says how many bytes count, and `done`.
Refuses to know: when it is killed.
"""

from __future__ import annotations

import os
import pickle
import random
import sys
import time
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


def main(folder: Path, seed: int, kind: str) -> None:
    format = FORMATS[kind]
    pieces = pieces_of(data_of(seed, kind), PIECE)
    order = shuffled(len(pieces), seed, WINDOW)
    chance = random.Random(os.getpid())
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
            pickle.dump(row_tuples(b.data for b in batches), rows)
            if chance.random() < 0.05:
                rows.flush()
                saved = folder / "saved"
                saved.write_bytes(pickle.dumps((at, rows.tell(), stream.checkpoint())))
                saved.replace(state_path)
                time.sleep(0.06)  # on any machine it lives long enough to be killed
        pickle.dump(row_tuples(b.data for b in stream.finish(last_sequence=len(pieces))), rows)
    (folder / "done").touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
