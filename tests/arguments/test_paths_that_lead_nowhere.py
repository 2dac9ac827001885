"""A source that is no file: the error is the one of the system, and says what to give instead."""

from __future__ import annotations

import pyarrow as pa
import pytest

import formatter as fm

CSV = fm.Csv(pa.schema([("id", pa.int64())]))


@pytest.mark.parametrize(
    ("path", "remedy"),
    [
        ("1\n2\n", r"a str is a path: give text itself as bytes, by \.encode\(\): '1\\n2\\n'"),
        ('{"id": 1}', r"a str is a path: give text itself as bytes"),
        ("https://example.com/a.csv", r"a path is one of this machine: .*: 'https://example\.com/a\.csv'"),
        ("~/no such file", r"give os\.path\.expanduser\(path\)"),
        ("no such folder/*.csv", r"give glob\.glob\(pattern\), a list"),
    ],
)
def test_a_path_that_is_another_thing_is_told_by_what_it_looks_like(path, remedy):
    for reading in (lambda: fm.read(path, CSV), lambda: fm.open(path, CSV).read_all(), lambda: fm.infer(path)):
        with pytest.raises(FileNotFoundError, match=remedy):
            reading()


def test_a_text_that_is_too_long_for_a_path_is_not_repeated_in_full():
    with pytest.raises(OSError, match="a str is a path") as raised:
        fm.read("1,Oslo\n" * 10_000, CSV)
    assert len(str(raised.value)) < 300


def test_a_file_that_is_not_there_is_told_as_the_system_does():
    with pytest.raises(FileNotFoundError, match=r"^\[Errno 2\] No such file or directory: 'no such file\.csv'$"):
        fm.read("no such file.csv", CSV)


def test_a_folder_is_told_by_what_gives_its_files(tmp_path):
    with pytest.raises(IsADirectoryError, match="give its files"):
        fm.read(tmp_path, CSV)
