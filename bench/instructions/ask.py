"""One build asks the questions. `answers`: run each once as it is, compare the answers. `counted`: under callgrind.

In: argv: `answers FOLDER NAME...` or `counted FOLDER SWITCH NAME...`; inputs lie in FOLDER. Out: what the build is made of
and what is wrong with each answer, as JSON; or the process that was counted for each question, a line each.
Refuses to know: who compares the counts.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import platform
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import formatter as fm
from bench.instructions.questions import QUESTIONS, Asked
from formatter import _core

COMPILERS = re.compile(rb"(?:GNU C\+\+|GCC: |[A-Za-z ]*clang version )[^\0]{5,400}")


def asked(folder: Path, name: str) -> Asked:
    question = QUESTIONS[name]
    return question.prepare((folder / question.input).read_bytes() if question.input else b"")


def made_by() -> dict[str, Any]:
    """What instructions depend on besides our sources: the compiler and its flags as the extension itself names them."""
    return {
        "compiler": compilers(Path(_core.__file__).read_bytes()),
        "kernel": fm.active_kernel(),
        "machine": platform.machine(),
        "python": sys.version,
        "c_library": " ".join(platform.libc_ver()),
        "cython": metadata.version("cython"),
        "numpy": metadata.version("numpy"),
        "pyarrow": metadata.version("pyarrow"),
    }


def compilers(extension: bytes) -> list[str]:
    """Compilers leave their version in every object, with debug information (which we always build) their flags too."""
    return sorted({found.decode(errors="replace") for found in COMPILERS.findall(extension)})


def wrong_answer(folder: Path, name: str) -> str | None:
    try:
        task = asked(folder, name)
        return task.wrong(task.run()) or None
    except Exception as error:  # an older build may lack what is asked for: the caller decides what that means
        return f"{type(error).__name__}: {error}"


def answers(folder: Path, names: list[str]) -> None:
    wrong = {name: words for name in names if (words := wrong_answer(folder, name))}
    json.dump({"extension": _core.__file__, "made_by": made_by(), "wrong": wrong}, sys.stdout)


def counted(folder: Path, library: str, names: list[str]) -> None:
    """Each question in a child of its own, so that none finds what another left; the imports are paid once for all."""
    switch = ctypes.CDLL(library)
    if not switch.counting_is_possible():
        sys.exit("bench.instructions: not under valgrind")
    gc.disable()
    gc.freeze()
    for name in names:
        child = os.fork()
        if child == 0:
            count_one(asked(folder, name), switch)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            sys.exit(f"bench.instructions: {name}: ended with status {os.waitstatus_to_exitcode(status)}")
        print(child, name, sep="\t", flush=True)


def count_one(task: Asked, switch: ctypes.CDLL) -> None:
    task.run()  # imports made late, the pool's first blocks: paid once a process
    gc.collect()
    switch.start_counting()
    answer = task.run()
    switch.stop_counting()
    del answer  # not before: the release is the consumer's


if __name__ == "__main__":
    mode, place, *rest = sys.argv[1:]
    if mode == "answers":
        answers(Path(place), rest)
    else:
        counted(Path(place), rest[0], rest[1:])
