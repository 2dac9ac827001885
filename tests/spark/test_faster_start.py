"""What is made ready before a session: classes for its JVM, imports for its workers. Rows must not depend on either."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import formatter as fm
import spark_udfs as su
from spark_udfs.start import class_archive, worker_daemon

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = class_archive.OPTIONS

SESSION = """
import os, sys, warnings
from pathlib import Path
import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import SparkSession
import spark_udfs as su

def seen(batches):
    import os, sys
    early = "spark_udfs.files.read_task" in sys.modules
    for _ in batches:
        daemon = Path(f"/proc/{os.getppid()}/cmdline").read_text().split(chr(0))[2]
        yield pa.RecordBatch.from_pydict({"daemon": [daemon], "early": [early], "package": [sys.modules["pyspark"].__file__]})

warnings.simplefilter("ignore")
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
spark = su.configure(builder.config("spark.ui.showConsoleProgress", "false")).getOrCreate()
folder = Path(sys.argv[1])
(folder / "f.csv").write_text("1,x\\n" * 2_000_000)
df = su.read(spark, str(folder), "csv", schema="id INT, s STRING", options={"escape": '"'})
print([tuple(row) for row in df.limit(2).collect()], df.count())
[row] = spark.range(0, 1, 1, 1).mapInArrow(seen, "daemon STRING, early BOOLEAN, package STRING").collect()
print(*row)
pid = spark._jvm.java.lang.ProcessHandle.current().pid()
print("mapped" if "/formatter/classes-" in Path(f"/proc/{pid}/maps").read_text() else "read")
spark.stop()
"""


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "with blank"))
    monkeypatch.delenv(OPTIONS, raising=False)
    return tmp_path / "with blank" / "formatter"


@pytest.fixture
def java(monkeypatch, tmp_path):
    """What is taken for one: its archive is kept for a file, whatever is in it."""
    executable = tmp_path / "java" / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text("1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    return executable


def kept_archive() -> Path:
    path = class_archive.archive_path()
    assert path is not None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


@pytest.mark.spark
@pytest.mark.slow
def test_a_session_maps_its_classes_and_forks_workers_that_have_imported(cache, tmp_path, monkeypatch):
    made = su.faster_start()
    assert made == class_archive.archive_path()
    assert [path.name for path in cache.iterdir() if path.suffix == ".jsa"] == [made.name]
    monkeypatch.setattr(class_archive, "_run_session", lambda option: pytest.fail("it is there already"))
    assert su.faster_start() == made
    (tmp_path / "data").mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_")}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    command = [sys.executable, "-c", SESSION, str(tmp_path / "data")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows, worker, classes = done.stdout.splitlines()
    assert rows == "[(1, 'x'), (1, 'x')] 2000000"
    daemon, early, package = worker.split()
    assert (daemon, early) == (worker_daemon.MODULE, "True")
    assert ".zip" not in package
    assert classes == "mapped"
    assert "Traceback" not in done.stderr  # a limit that is reached is no failure of a worker


def test_without_an_archive_nothing_is_asked_of_the_jvm(cache):
    class_archive.use_class_archive()
    assert OPTIONS not in os.environ


def test_an_archive_is_used_beside_what_is_set_unless_that_names_another(cache, java, monkeypatch):
    path = kept_archive()
    monkeypatch.setenv(OPTIONS, "-Dx=1")
    class_archive.use_class_archive()
    assert os.environ[OPTIONS].startswith(f"-Dx=1 '-XX:SharedArchiveFile={path}' -Xshare:auto ")
    told = os.environ[OPTIONS]
    class_archive.use_class_archive()
    assert os.environ[OPTIONS] == told
    monkeypatch.setenv(OPTIONS, "-XX:SharedArchiveFile=mine.jsa")
    class_archive.use_class_archive()
    assert os.environ[OPTIONS] == "-XX:SharedArchiveFile=mine.jsa"


def test_an_archive_is_of_one_java_and_one_spark(cache, java, monkeypatch, tmp_path):
    paths = {class_archive.archive_path()}
    with monkeypatch.context() as without:
        without.delenv("JAVA_HOME")
        paths.add(class_archive.archive_path())  # that on PATH, or None
    java.write_text("22")
    paths.add(class_archive.archive_path())
    (tmp_path / "spark" / "jars").mkdir(parents=True)
    monkeypatch.setattr(class_archive, "spark_home", lambda: str(tmp_path / "spark"))
    paths.add(class_archive.archive_path())
    (tmp_path / "spark" / "jars" / "more.jar").touch()
    paths.add(class_archive.archive_path())
    assert len(paths) == 5


def test_a_java_that_keeps_no_classes_is_told_in_a_sentence(cache, monkeypatch, tmp_path):
    home = tmp_path / "java"
    (home / "bin").mkdir(parents=True)
    java = home / "bin" / "java"
    java.write_text("#!/bin/sh\necho no such option >&2\nexit 1\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(home))
    with pytest.raises(fm.OptionError, match="this Java keeps no classes") as told:
        su.faster_start()
    assert "\n" not in str(told.value)
    assert list(cache.iterdir()) == []
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(fm.OptionError, match="no Java is found"):
        su.faster_start()
    class_archive.use_class_archive()
    assert OPTIONS not in os.environ


def test_the_daemon_is_ours_where_its_python_is_and_finds_us(cache, monkeypatch):
    for name in ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "MASTER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def daemon(python: str | None = None, **settings: str) -> str | None:
        monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
        if python:
            monkeypatch.setenv("PYSPARK_PYTHON", python)
        builder = SparkSession.Builder()
        for name, value in settings.items():
            builder = builder.config(f"spark.{name.replace('_', '.')}", value)
        return su.configure(builder)._options.get(worker_daemon.DAEMON)

    assert daemon(master="local[2]") == daemon() == daemon(sys.executable) == worker_daemon.MODULE
    assert daemon("/other/python") is None
    assert daemon(master="yarn") is daemon(master="local-cluster[2,1,1024]") is daemon(remote="sc://host") is None
    assert daemon(python_daemon_module="theirs") == "theirs"
    monkeypatch.setenv(
        "ARROW_DEFAULT_MEMORY_POOL", "jemalloc"
    )  # its thread is wanted then, and threads and forks do not mix
    assert daemon() is None
    monkeypatch.delenv("ARROW_DEFAULT_MEMORY_POOL")
    monkeypatch.delenv("PYTHONPATH")
    monkeypatch.setattr(worker_daemon.site, "getsitepackages", list)
    monkeypatch.setattr(sys, "meta_path", [])
    assert daemon() is None  # found by this process alone


def test_a_closed_socket_ends_a_worker_and_other_errors_stay():
    def worker(error):
        if error is not None:
            raise error
        return 0

    ending = worker_daemon.until_enough(worker)
    assert ending(None) == 0
    assert ending(BrokenPipeError()) == worker_daemon.ENOUGH
    with pytest.raises(ConnectionResetError):
        ending(ConnectionResetError())


def test_pyspark_is_taken_from_its_own_folder_and_from_no_archive_of_another(monkeypatch, tmp_path):
    import pyspark

    installed = str(Path(pyspark.__file__).parent)
    (tmp_path / "environment").symlink_to(Path(installed).parent)
    linked = str(tmp_path / "environment" / "pyspark") + worker_daemon.ARCHIVE
    ours, foreign = installed + worker_daemon.ARCHIVE, str(tmp_path / "spark") + worker_daemon.ARCHIVE
    for archive, while_importing in ((ours, ["a", "b"]), (linked, ["a", "b"]), (foreign, ["a", foreign, "b"])):
        before = ["a", archive, "b"]
        with monkeypatch.context() as patched:
            patched.setattr(sys, "path", before[:])
            patched.setattr(worker_daemon.importlib.util, "find_spec", lambda name: pyspark.__spec__)
            with worker_daemon.quickly_found():
                assert sys.path == while_importing
            assert sys.path == before
