"""Threads that read ranges stay for the next reading. What must not depend on that: results, forks, readings given up."""

from __future__ import annotations

import multiprocessing
import threading

import pyarrow as pa

import formatter as fm

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])
DATA = b"".join(b'%d,"text %d,\n more"\n' % (i, i) for i in range(120_000))  # several ranges
ROWS = [{"a": i, "b": f"text {i},\n more"} for i in range(120_000)]


def _read(threads: int) -> pa.Table:
    return fm.read(DATA, fm.Csv(SCHEMA), threads=threads)


def test_many_threads_read_what_one_reads() -> None:
    expected = pa.Table.from_pylist(ROWS, schema=SCHEMA)
    for threads in (1, 2, 3, 8):
        assert _read(threads).equals(expected)


def test_several_readings_at_once_share_the_waiting_threads() -> None:
    expected = _read(1)
    same: list[bool] = []
    readers = [threading.Thread(target=lambda: same.append(_read(3).equals(expected))) for _ in range(6)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert same == [True] * 6


def test_a_reading_given_up_half_way_leaves_the_next_one_whole() -> None:
    for _ in range(20):
        reader = fm.open(DATA, fm.Csv(SCHEMA), threads=3)
        reader.read_next_batch()
        del reader
    assert _read(3).equals(_read(1))


def _child(answer: multiprocessing.connection.Connection) -> None:
    answer.send(_read(2).num_rows)


def test_a_forked_process_has_threads_of_its_own() -> None:
    assert _read(2).num_rows == len(ROWS)
    context = multiprocessing.get_context("fork")
    answer, to_send = context.Pipe()
    child = context.Process(target=_child, args=(to_send,))
    child.start()
    assert answer.poll(30)
    assert answer.recv() == len(ROWS)
    child.join()
