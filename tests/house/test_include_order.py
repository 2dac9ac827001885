"""Rooms of native code include each other one way only: the table in ARCHITECTURE.md says which may include which."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "formatter"
FILES = sorted(
    str(p.relative_to(PACKAGE))
    for folder in ("engine", "kernels", "include")
    for p in (PACKAGE / folder).rglob("*.[ch]*")
)
HEADING = "## Who includes whom"
COMPUTED = {"kernels/lanes.hpp": "kernels/isa/lanes_*.hpp"}  # an include whose name is put together by the preprocessor


def table_of(document):
    """Room: (patterns of its files, rooms it may include), from the table below the heading."""
    section = document.partition(HEADING)[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    return {
        room.strip(" `"): (re.findall(r"`([^`]+)`", files), re.findall(r"`([^`]+)`", may)) for room, files, may in rows
    }


ROOMS = table_of((ROOT / "ARCHITECTURE.md").read_text())


def rooms_of(path):
    return [room for room, (patterns, _) in ROOMS.items() if any(fnmatch(path, pattern) for pattern in patterns)]


def includes_of(path):
    text = (PACKAGE / path).read_text()
    found = re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.MULTILINE)
    if re.search(r'^\s*#\s*include\s+[^\s"<]', text, re.MULTILINE):
        assert path in COMPUTED, f"{path} includes a file whose name cannot be read here"
        found += [other for other in FILES if fnmatch(other, COMPUTED[path])]
    return found


def edges_between_rooms():
    return {
        (rooms_of(path)[0], rooms_of(target)[0]): f"{path} includes {target}"
        for path in FILES
        for target in includes_of(path)
        if rooms_of(path) != rooms_of(target)
    }


@pytest.mark.parametrize("path", FILES)
def test_every_native_file_stands_in_one_room_and_includes_files_by_their_whole_path(path):
    assert len(rooms_of(path)) == 1, f"{path} stands in the rooms {rooms_of(path)}"
    assert [target for target in includes_of(path) if target not in FILES] == []


def test_rooms_include_only_what_the_table_allows():
    forbidden = [why for (room, other), why in edges_between_rooms().items() if other not in ROOMS[room][1]]
    assert forbidden == []


def test_the_table_allows_nothing_that_nobody_needs():
    used = set(edges_between_rooms())
    assert [(room, other) for room, (_, may) in ROOMS.items() for other in may if (room, other) not in used] == []


def test_rooms_make_no_circle():
    assert list(TopologicalSorter({room: may for room, (_, may) in ROOMS.items()}).static_order())


def test_files_make_no_circle():
    try:
        TopologicalSorter({path: includes_of(path) for path in FILES}).prepare()
    except CycleError as error:
        pytest.fail(" includes ".join(reversed(error.args[1])))
