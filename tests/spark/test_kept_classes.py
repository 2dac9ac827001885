"""Compiled classes and the proof that they fit: kept whole, found again, never believed when anything is another."""

from __future__ import annotations

import os
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import formatter as fm
from spark_udfs.jvm import kept_classes as kept_room
from spark_udfs.jvm.direct_rows import STRATEGY
from spark_udfs.jvm.kept_classes import kept_classes, stamp_of
from spark_udfs.start.class_archive import faster_start, use_class_archive

CLASSES = {"formatter.spark.One": b"\xca\xfe\xba\xbe one", "formatter.spark.Two": b"\xca\xfe\xba\xbe two"}


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "formatter"


def made(*made_of: str):
    kept = kept_classes("One", made_of)
    kept.keep(CLASSES)
    return kept


def test_a_proof_is_of_the_jar_that_was_tried(cache) -> None:
    kept = made("source", "4.3.0")
    assert not kept.is_proven()
    kept.prove()
    assert kept.is_proven()
    assert kept_classes("One", ("source", "4.3.0")).is_proven()
    with zipfile.ZipFile(kept.jar) as jar:
        assert {name: jar.read(name) for name in jar.namelist()} == {
            "formatter/spark/One.class": CLASSES["formatter.spark.One"],
            "formatter/spark/Two.class": CLASSES["formatter.spark.Two"],
        }
    assert {path.suffix for path in cache.iterdir()} == {".jar", ".proven"}


@pytest.mark.parametrize(
    "other", [("other source", "4.3.0"), ("source", "4.2.1"), ("source4.3.0", ""), ("source", "4.3.0", "")]
)
def test_another_source_or_spark_is_not_proven_by_it(other) -> None:
    made("source", "4.3.0").prove()
    assert not made(*other).is_proven()


def test_another_version_of_this_package_is_not_proven_by_it(monkeypatch) -> None:
    made("source").prove()
    monkeypatch.setattr(kept_room.fm, "__version__", "0.0.0")
    assert not made("source").is_proven()


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe", b"0" * 64])
def test_a_damaged_proof_or_jar_proves_nothing(damage) -> None:
    kept = made("source")
    kept.prove()
    proof = kept.proof.read_bytes()
    kept.proof.write_bytes(damage)
    assert not kept.is_proven()
    kept.proof.write_bytes(proof)
    assert kept.is_proven()
    kept.jar.write_bytes(kept.jar.read_bytes()[:-1])
    assert not kept.is_proven()
    kept.jar.unlink()
    assert not kept.is_proven()


def test_a_jar_with_a_damaged_class_is_not_whole() -> None:
    kept = made("source")
    assert kept.is_whole()
    content = kept.jar.read_bytes()
    for damaged in (content.replace(b"two", b"tw?"), content[: len(content) // 2], b"", b"PK" + bytes(64)):
        kept.jar.write_bytes(damaged)
        assert not kept.is_whole()
    kept.jar.unlink()
    assert not kept.is_whole()


def test_a_jar_that_is_made_again_keeps_its_proof() -> None:
    kept = made("source")
    kept.prove()
    kept.keep(CLASSES)
    assert kept.is_proven()


def test_sessions_that_start_together_leave_one_whole_jar(cache) -> None:
    def start(_: int) -> bool:
        kept = made("source")
        kept.prove()
        return kept.is_proven()

    with ThreadPoolExecutor(8) as sessions:
        assert all(sessions.map(start, range(64)))
    assert len(list(cache.iterdir())) == 2


def test_a_folder_that_cannot_be_written_costs_only_time(monkeypatch, tmp_path) -> None:
    nowhere = tmp_path / "a file"
    nowhere.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(nowhere))
    kept = made("source")
    kept.prove()
    assert not kept.is_proven()


def no_home():
    raise RuntimeError("Could not determine home directory.")


def test_a_user_without_a_home_keeps_nothing_and_is_told_so_only_when_asking_for_it(monkeypatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    kept = made("source")
    kept.prove()
    assert not kept.is_whole()
    assert not kept.is_proven()
    use_class_archive()
    with pytest.raises(fm.OptionError, match=r"classes cannot be kept \(.*set XDG_CACHE_HOME"):
        faster_start()


def test_a_folder_where_one_may_not_look_is_as_if_there_were_nothing(monkeypatch, tmp_path) -> None:
    made("source")

    def refused(path: object) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(zipfile, "ZipFile", refused)  # who runs the tests may look anywhere
    assert not kept_classes("One", ("source",)).is_whole()


def test_a_cache_folder_that_is_none_by_the_convention_is_passed_over(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for given in ("", "here"):
        monkeypatch.setenv("XDG_CACHE_HOME", given)
        assert kept_room.cache_folder() == tmp_path / ".cache" / "formatter"


@pytest.mark.parametrize(
    ("version", "words"), [("4.0.5", "needs Spark 4.2 or newer (spark."), ("4.2.0", ""), ("5.0.0-preview1", "")]
)
def test_a_spark_older_than_what_fits_is_told_which_one_does(version, words) -> None:
    assert STRATEGY._told_of_version(version).startswith(words)
    assert bool(STRATEGY._told_of_version(version)) == bool(words)


def test_the_stamp_of_a_file_is_another_when_the_file_is(tmp_path) -> None:
    jar = tmp_path / "spark.jar"
    assert stamp_of(str(jar)) == str(jar)
    jar.write_bytes(b"one")
    os.utime(jar, ns=(1, 1))
    first = stamp_of(str(jar))
    os.utime(jar, ns=(2, 2))
    assert len({str(jar), first, stamp_of(str(jar))}) == 3
