"""Which Java Spark runs on: JAVA_HOME if new enough, else PATH, else the packaged one, else a line with the remedy."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import java_home


def make_java(home, version):
    """A stand-in that answers as a `java` of that version does."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    properties = f"    java.home = {home}\\n    java.specification.version = {version}\\n"
    java.write_text(f"#!/bin/bash\nprintf {shlex.quote(properties)} >&2\n", encoding="utf-8")
    java.chmod(0o755)
    return home


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """No Java anywhere: JAVA_HOME unset, nothing but bash on PATH, no package."""
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "bash").symlink_to("/bin/bash")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(java_home, "find_spec", lambda name: None)
    return tmp_path


def test_java_home_is_taken_when_new_enough(bare, monkeypatch):
    home = make_java(bare / "jdk", "21")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java_home.find_java_home(bare) == str(home)


def test_a_java_home_too_old_gives_way_to_the_path(bare, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(make_java(bare / "old", "1.8")))
    home = make_java(bare / "new", "17")
    (bare / "path" / "java").symlink_to(home / "bin" / "java")
    assert java_home.find_java_home(bare) == str(home)


def test_no_java_at_all_is_one_line_that_says_what_to_install(bare, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(make_java(bare / "old", "11")))
    with pytest.raises(
        java_home.JavaMissing, match=r"Java 17 or newer \(JAVA_HOME has Java 11\): install one \(apt-get"
    ):
        java_home.find_java_home(bare)


def test_the_packaged_java_starts_though_spark_asks_for_a_module_it_lacks(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    home = java_home.find_java_home(tmp_path)
    assert home == str(tmp_path / "java-home")
    java = [f"{home}/bin/java", "--add-modules=jdk.incubator.vector", "-version"]
    assert subprocess.run(java, env={"PATH": "/usr/bin:/bin"}, capture_output=True).returncode == 0


def test_the_packaged_java_starts_wherever_it_lies(monkeypatch, tmp_path):
    runtime = make_java(tmp_path / "it's a föhn", "25")
    monkeypatch.setattr(java_home, "packaged_runtime", lambda: runtime)
    home = java_home.packaged_java_home(tmp_path / "über all")
    assert java_home.describe_java(home / "bin" / "java") == (25, str(runtime))


def test_a_process_whose_parent_chose_the_packaged_java_starts_it_the_same_way(monkeypatch, tmp_path):
    wrapped = java_home.packaged_java_home(tmp_path)
    monkeypatch.setenv("JAVA_HOME", str(wrapped))  # its java.home says where the bare runtime is
    assert java_home.find_java_home(tmp_path) == str(wrapped)
