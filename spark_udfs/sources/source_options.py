"""Options of a data source, which Spark hands over as texts under names of any case.

In: a source's name and what it was given. Out: checked values, or an error that names source, option and what was expected.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import formatter as fm


class SourceOptions:
    def __init__(self, source: str, given: Mapping[str, Any]) -> None:
        self.source = source
        self.given = {str(name).lower(): value for name, value in dict(given).items()}
        paths = self.given.get("paths")  # what Spark makes of a list given to load()
        if "path" not in self.given and paths is None:
            raise fm.OptionError(
                f"{source}: no path; give it to load(), in SQL to the OPTIONS of a TEMPORARY VIEW or to formatter_read(path, ...). "
                "Of a CREATE TABLE Spark hands a Python data source neither location nor options; CREATE TABLE ... USING parquet "
                "AS SELECT * FROM formatter_read(...) makes one that can be read"
            )
        self.path: str = self.given.get("path", "")
        self.paths: list[str] = [self.path] if paths is None else json.loads(paths)

    def require_known(self, names: Sequence[str], where: str = "") -> None:
        if unknown := set(self.given) - {name.lower() for name in names}:
            known = f"{', '.join(names)}, which is all there is {where}" if where else ", ".join(names)
            raise fm.OptionError(f"{self.source}: option {min(unknown)!r} is none of {known}")

    def one_of(self, name: str, allowed: Sequence[str], default: str | None = None) -> str:
        value = self.given.get(name.lower(), default)
        if value not in allowed:
            listed = " or ".join(map(repr, allowed)) if len(allowed) == 2 else f"one of {', '.join(allowed)}"
            raise fm.OptionError(f"{self.source}: {name} is {listed}, found {value!r}")
        return str(value)

    def whole_number(self, name: str, most: int | None = None) -> int | None:
        value = self.given.get(name.lower())
        if value is None:
            return None
        if not str(value).isdigit() or int(value) < 1 or (most is not None and int(value) > most):
            bounds = "from 1" if most is None else f"from 1 to {most}"
            raise fm.OptionError(f"{self.source}: {name} is a whole number {bounds}, found {str(value)!r}")
        return int(value)

    def fraction(self, name: str) -> float | None:
        value = self.given.get(name.lower())
        try:
            number = None if value is None else float(value)
        except ValueError:
            number = 0.0
        if number is not None and not 0 < number <= 1:
            raise fm.OptionError(f"{self.source}: {name} is a number above 0 and at most 1, found {str(value)!r}")
        return number
