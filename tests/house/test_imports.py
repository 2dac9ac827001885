"""Who may import whom in Python: no cycles anywhere, and between the rooms of `spark_udfs` only what ARCHITECTURE.md allows.

An import inside a function counts as one at the top of its file; one for type checkers alone does not, since it never runs.
"""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"formatter": ROOT / "src" / "formatter", "spark_udfs": ROOT / "spark_udfs"}


def module_name(package, path):
    parts = path.relative_to(PACKAGES[package]).with_suffix("").parts
    return ".".join((package, *(part for part in parts if part != "__init__")))


FILES = {module_name(package, path): path for package, folder in PACKAGES.items() for path in folder.rglob("*.py")}
MODULES = {*FILES, "formatter._core"}


def running(node):
    """The nodes below, without what stands under `if TYPE_CHECKING`."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
            yield from running(child)


def imports(source):
    """The modules of ours that a source imports, wherever in it."""
    found = set()
    for node in running(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            below = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= below & MODULES
            if below - MODULES:
                found.add(node.module)
    return found & MODULES


def import_graph():
    return {name: imports(path.read_text()) for name, path in FILES.items()}


def room_table():
    """{room: what it may import} from the table of the Spark rooms."""
    section = (ROOT / "ARCHITECTURE.md").read_text().split("## The rooms of `spark_udfs`")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    return {row[0].strip().strip("`/"): set(re.findall(r"`(\w+)`", row[-1])) for row in rows}


def room_of(module):
    """None above all rooms, and in the library."""
    package, *below = module.split(".")
    return below[0] if below and package == "spark_udfs" and (PACKAGES[package] / below[0]).is_dir() else None


def forbidden(graph, allowed):
    """(module, what it imports) wherever a room reaches into one that it may not, or above all rooms."""
    return [
        (module, imported)
        for module, targets in graph.items()
        for imported in sorted(targets)
        if (room := room_of(module)) and imported.startswith("spark_udfs")
        and room_of(imported) not in {room, *allowed[room]}
    ]  # fmt: skip


def test_no_module_imports_itself_by_way_of_others():
    try:
        TopologicalSorter(import_graph()).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))


def test_every_room_of_the_spark_front_is_in_the_table_and_allows_only_rooms():
    rooms = {path.name for path in PACKAGES["spark_udfs"].iterdir() if (path / "__init__.py").exists()}
    allowed = room_table()
    assert set(allowed) == rooms
    assert set().union(*allowed.values()) <= rooms


def test_rooms_depend_on_each_other_in_one_direction():
    TopologicalSorter(room_table()).prepare()


def test_a_room_imports_only_those_it_may():
    assert forbidden(import_graph(), room_table()) == []


def test_imports_in_functions_count_and_those_for_type_checkers_do_not():
    source = "if TYPE_CHECKING:\n    from formatter.stream import Stream\ndef f():\n    from formatter import plans\n"
    assert imports(source) == {"formatter.plans"}


def test_a_room_that_reaches_into_another_or_above_is_found():
    graph = {
        "spark_udfs.types.arrow_schema": {
            "spark_udfs.files.read",
            "spark_udfs",
            "formatter",
            "spark_udfs.types.spark_types",
        }
    }
    assert [imported for _, imported in forbidden(graph, {"types": set()})] == ["spark_udfs", "spark_udfs.files.read"]
