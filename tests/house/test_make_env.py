"""What is missing for the environment is said in one line with the remedy, before anything is made or downloaded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def make_env(python, **environment):
    command = [str(ROOT / "tools" / "make_env.sh"), str(python)]
    environment = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)


def stand_in(path, script):
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(0o755)
    return path


def test_a_python_too_old_is_refused_with_what_to_install(tmp_path):
    old = stand_in(tmp_path / "python3", 'if [[ $1 == -V ]]; then echo "Python 3.9.2"; else exit 1; fi')
    result = make_env(old)
    assert result.returncode == 1
    [line] = result.stderr.splitlines()
    assert line.startswith("make env: needs Python 3.11 or newer, found Python 3.9.2; install one (apt-get")


def test_a_python_that_is_not_there_is_refused():
    result = make_env("/nowhere/python3.11")
    assert result.returncode == 1
    assert "found no /nowhere/python3.11" in result.stderr


def test_a_missing_compiler_is_refused_with_what_to_install():
    result = make_env(sys.executable, CXX="no-such-compiler")
    assert result.returncode == 1
    [line] = result.stderr.splitlines()
    assert line == "make env: no C++ compiler ('no-such-compiler' not found); run: apt-get install g++  (or set CXX)"
