"""What a reader is handed: bytes in memory, the path of a compressed file, or the bytes rapidgzip makes of it at every call."""

from __future__ import annotations

from collections.abc import Callable

from bench.contestant import Task


def given(task: Task) -> Callable[[], bytes | str]:
    path = str(task.options.get("path", ""))
    if not path:
        data = task.input.data
        return lambda: data
    if task.options.get("by") != "rapidgzip":
        return lambda: path

    import rapidgzip

    def unpacked() -> bytes:
        with rapidgzip.open(path, parallelization=task.threads) as file:
            return bytes(file.read())

    return unpacked
