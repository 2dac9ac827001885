"""The processes of contestants, from outside: started when first asked, kept between races, ended when they hang.

In: who, with which environment; requests. Out: replies; GoneError with the last words of a process that died or took too long.
Refuses to know: what is asked.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LAST_WORDS = 600


class GoneError(Exception):
    """The process has died, or was ended because it took too long."""


class Process:
    def __init__(self, who: str, environment: Mapping[str, str]) -> None:
        self.began = time.perf_counter()
        self.gone = False
        self._words = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the process)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.process", who],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": "0", **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
        )
        self._replies = selectors.DefaultSelector()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        self._replies.register(self._out, selectors.EVENT_READ)

    def ask(self, request: Mapping[str, Any], limit_s: float) -> dict[str, Any]:
        try:
            self._in.write(json.dumps(request).encode() + b"\n")
            self._in.flush()
        except BrokenPipeError:
            raise self._died() from None
        if not self._replies.select(limit_s):
            self.end(at_once=True)
            raise GoneError(f"took more than {limit_s:.0f} s")
        line = self._out.readline()
        if not line:
            raise self._died()
        return dict(json.loads(line))

    def _died(self) -> GoneError:
        code = self._process.wait()
        self._words.seek(0)
        last = self._words.read()[-LAST_WORDS:].decode(errors="replace").strip()
        self.end(at_once=True)
        return GoneError(f"died with status {code}: {last}")

    def end(self, at_once: bool = False) -> float:
        """Seconds from its start to its end."""
        self.gone = True
        if at_once:
            self._process.kill()
        with contextlib.suppress(BrokenPipeError):
            self._in.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        lived = time.perf_counter() - self.began
        self._replies.close()
        self._out.close()
        self._words.close()
        return lived


class Stable:
    def __init__(self) -> None:
        self._kept: dict[tuple[str, str, tuple[tuple[str, str], ...]], Process] = {}

    def process(self, label: str, who: str, environment: Mapping[str, str]) -> Process:
        """Of this entry: one contestant may be in a race twice, asked differently."""
        key = (label, who, tuple(sorted(environment.items())))
        if key not in self._kept or self._kept[key].gone:
            self._kept[key] = Process(who, environment)
        return self._kept[key]

    def __enter__(self) -> Stable:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end(at_once=kind is not None)

    def end(self, at_once: bool = False) -> None:
        """Of all processes; others may be asked for again."""
        for process in self._kept.values():
            if not process.gone:
                process.end(at_once=at_once)
        self._kept = {}
