"""Paths as URIs: names in them stand for themselves, whatever the filesystem calls its files."""

from __future__ import annotations

import fsspec
import pyarrow as pa
import pytest
from pyarrow import fs

import formatter as fm
import spark_udfs as su
from spark_udfs.files import file_listing
from spark_udfs.files.file_listing import Storage, list_files

FORMAT = fm.Csv(pa.schema([("id", pa.int64()), ("text", pa.string()), ("price", pa.float64())]))


def test_files_in_memory_are_listed_and_read_by_this_process():
    memory = fsspec.filesystem("memory")
    memory.pipe("/lake/day=3/a.csv", b"1,x,2\n")
    memory.pipe("/lake/day=3/_tmp.csv", b"?")
    storage = Storage()
    [found] = list_files("memory://lake", storage=storage)
    assert found.partition == (("day", "3"),)
    filesystem, inner = storage.resolve(found.path)
    assert filesystem.open_input_file(inner).read() == b"1,x,2\n"


ODD_NAMES = [
    "ts=2024-01-01 10%3A00%3A00/a b.csv",
    "ts=2024-01-01 10%3A00%3A00/50%.csv",
    "ts=[x]/a#1?.csv",
    "ts=ü/ä+&.csv",
]


@pytest.mark.parametrize("start", ["", "file:", "file://", "local://"])
def test_names_in_a_uri_stand_for_themselves_as_in_sparks_paths(spark, tmp_path, start):
    for name in ODD_NAMES:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"1,{name},2\n")
    found = su.read(spark, f"{start}{tmp_path}", FORMAT).collect()
    folders = {name: name.partition("/")[0].removeprefix("ts=").replace("%3A", ":") for name in ODD_NAMES}
    assert {row.text: row.ts for row in found} == folders
    for name in ODD_NAMES:
        assert [row.text for row in su.read(spark, f"{start}{tmp_path}/{name}", FORMAT).collect()] == [name]


class OfUris:
    """pyarrow.fs whose stores of objects are folders, spelled as pyarrow spells them."""

    def __init__(self, root, asked):
        self._root, self._asked = root, asked
        self.FileSystem = type("FileSystem", (), {"from_uri": staticmethod(self._from_uri)})

    def _from_uri(self, uri):
        self._asked.append(uri)
        _, path = fs.FileSystem.from_uri(uri)
        return fs.SubTreeFileSystem(str(self._root), fs.LocalFileSystem()), path

    def __getattr__(self, name):
        return getattr(fs, name)


def test_a_uri_whose_filesystem_spells_paths_its_own_way_names_files_by_uris(tmp_path, monkeypatch):
    """Of abfss://container@account/file pyarrow makes container/file."""
    name = "at=10%3A00/x y.csv"
    (tmp_path / "lake" / "t" / "at=10%3A00").mkdir(parents=True)
    (tmp_path / "lake" / "t" / name).write_text("1,x,2\n")
    asked = []
    monkeypatch.setattr(file_listing, "fs", OfUris(tmp_path, asked))
    account = "abfss://lake@account.dfs.core.windows.net"
    for path in (f"{account}/t", f"{account}/t/*/x*", f"{account}/", f"{account}/t/{name}"):
        [found] = list_files(path)
        assert found.path == f"{account}/t/{name}"
    filesystem, inner = Storage().resolve(found.path)
    assert filesystem.open_input_file(inner).read() == b"1,x,2\n"
    assert asked[-1] == f"{account}/t/at%3D10%253A00/x%20y.csv"
    for path in (f"{account}/t?sas=1", "gs://anonymous@lake/t?endpoint_override=x"):
        with pytest.raises(fm.OptionError, match="has parameters; give them in storage_options="):
            list_files(path)


def test_an_unknown_scheme_is_refused_by_name():
    with pytest.raises(fm.OptionError, match="nor fsspec knows 'nowhere'"):
        list_files("nowhere://a/b")
