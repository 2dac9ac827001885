"""The changes of changes.txt, each of which makes the package wrong.

In: that file. Out: what is changed where, and which tests have to notice. Refuses to know: how a change is built and undone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(slots=True)
class Mutation:
    name: str
    file: str  # in src/formatter
    tests: str  # arguments for pytest, paths in tests/
    taken_out: list[str]  # lines, the first and the last of which may be parts of some
    put_in: list[str]

    @property
    def before(self) -> str:
        return "\n".join(self.taken_out)

    @property
    def after(self) -> str:
        return "\n".join(self.put_in)


def listed_mutations() -> list[Mutation]:
    mutations: list[Mutation] = []
    file = tests = ""
    for line in (HERE / "changes.txt").read_text().splitlines():
        mark, text = line[:2], line[2:]
        if mark == "@ ":
            file, tests = text.split(" | ")
        elif mark == "- ":
            mutations[-1].taken_out.append(text)
        elif mark == "+ ":
            mutations[-1].put_in.append(text)
        elif line and mark != "# ":
            mutations.append(Mutation(line, file, tests, [], []))
    return mutations


MUTATIONS = listed_mutations()
