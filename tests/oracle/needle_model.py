"""Which records are looked at with unmatched="counted", said plainly, as docs/needles.md has it.

In: a record's bytes, filters. Out: whether it holds what they ask for. Refuses to know: where records end, the engine.
"""

from __future__ import annotations

import re
from typing import Any

TEXT_TESTS = ("starts_with", "ends_with", "contains")


def is_looked_at(record: bytes, filters: list[list[tuple[Any, ...]]], kind: str) -> bool:
    clauses = [[patterns_of(clause, kind) for clause in conjunction] for conjunction in filters]
    known = [[patterns for patterns in conjunction if patterns is not None] for conjunction in clauses]
    if not all(known):
        return True
    return any(all(any(re.search(p, record) for p in patterns) for patterns in conj) for conj in known)


def patterns_of(clause: tuple[Any, ...], kind: str) -> list[bytes] | None:
    """Any of which has to be found; None: the clause has no needles."""
    _, operator, wanted = clause
    if operator not in ("==", "in", *TEXT_TESTS):
        return None
    values = wanted if operator == "in" else [wanted]
    if any(value is None for value in values):
        return None
    if all(isinstance(value, int) for value in values):
        digits = [rb"(?<![1-9])%d(?![0-9])" % abs(value) for value in values]
        return digits + ([rb"[./0-9][eE]"] if kind == "json" else [])
    if kind == "json":
        found = [rb"\\"] + [json_text(operator, v) for v in values if not set(v) & set('"\\\n')]
    else:
        found = [re.escape(max(re.split('["\n]', value), key=len).encode()) for value in values]
    return None if b"" in found else found


def json_text(operator: str, value: str) -> bytes:
    opened = b"" if operator in ("ends_with", "contains") else b'"'
    closed = b"" if operator in ("starts_with", "contains") else b'"'
    return re.escape(opened + value.encode() + closed)
