"""Threads that read ranges stay for the next reading. What must not depend on that: results, forks, readings given up."""

from __future__ import annotations

import multiprocessing
import os
import re
import threading
from pathlib import Path

import pyarrow as pa
import pytest

import formatter as fm
from formatter import readers

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])
DATA = b"".join(b'%d,"text %d,\n more"\n' % (i, i) for i in range(120_000))  # several ranges
ROWS = [{"a": i, "b": f"text {i},\n more"} for i in range(120_000)]


def _read(threads: int) -> pa.Table:
    return fm.read(DATA, fm.Csv(SCHEMA), threads=threads)


def test_many_threads_read_what_one_reads() -> None:
    expected = pa.Table.from_pylist(ROWS, schema=SCHEMA)
    for threads in (1, 2, 3, 8):
        assert _read(threads).equals(expected)


@pytest.mark.parametrize("read", [fm.read, lambda *a, **k: fm.open(*a, **k).read_all()], ids=["read", "open"])
def test_what_is_wrong_has_its_place_in_the_input_whichever_thread_meets_it(read) -> None:
    """A range knows its bytes only; what stands before it is counted by whoever hands ranges out."""
    wrong = [0, 20_000, 70_000, 119_999]
    lines = [b'%s,"text,\n more"\n' % (b"x" if i in wrong else b"%d" % i) for i in range(120_000)]
    starts = [sum(map(len, lines[:i])) for i in wrong]
    for threads in (1, 2, 3, 8):
        rejects: list[pa.Table] = []
        table = read(b"".join(lines), fm.Csv(SCHEMA), threads=threads, on_error="collect", rejects=rejects)
        assert table.num_rows == len(lines) - len(wrong)
        assert rejects[0]["record"].to_pylist() == wrong
        assert rejects[0]["byte_offset"].to_pylist() == starts


@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_wrong_in_a_later_window_has_its_place_in_the_file(tmp_path: Path, monkeypatch, threads: int) -> None:
    for name in ("WINDOW_BYTES", "RANGE_BYTES", "SMALLEST_RANGE_BYTES"):
        monkeypatch.setattr(readers, name, 64 << 10)
    wrong = [7, 6_000, 11_999]
    lines = [b'%s,"text,\n more"\n' % (b"x" if i in wrong else b"%d" % i) for i in range(12_000)]
    path = tmp_path / "rows.csv"
    path.write_bytes(b"".join(lines))
    rejects: list[pa.Table] = []
    fm.open(path, fm.Csv(SCHEMA), threads=threads, on_error="collect", rejects=rejects).read_all()
    assert rejects[0]["record"].to_pylist() == wrong
    assert rejects[0]["byte_offset"].to_pylist() == [sum(map(len, lines[:i])) for i in wrong]


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


@pytest.mark.parametrize("size", [0, 1, len(DATA) - 1, len(DATA)])
def test_a_file_reads_as_its_bytes_with_any_number_of_threads(tmp_path: Path, size: int) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(DATA[:size])
    expected = fm.read(DATA[:size], fm.Csv(SCHEMA), threads=1, on_error="skip")
    for threads in (1, 2, 5):
        assert fm.read(path, fm.Csv(SCHEMA), threads=threads, on_error="skip").equals(expected)


def test_a_file_of_several_windows_keeps_its_order(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(DATA * 16)
    numbers = fm.read(path, fm.Csv(SCHEMA), columns=["a"], threads=2)["a"].to_numpy()
    assert (numbers.reshape(16, -1) == range(len(ROWS))).all()


def test_a_pipe_is_read_to_its_end_with_threads(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(DATA,))
    writer.start()
    assert fm.read(path, fm.Csv(SCHEMA), threads=2).equals(_read(1))
    writer.join()


def test_a_directory_is_refused_in_the_systems_words(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=re.escape(str(tmp_path))):
        fm.read(tmp_path, fm.Csv(SCHEMA), threads=2)
