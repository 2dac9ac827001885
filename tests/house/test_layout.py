"""The house rules that a compiler does not enforce: who may include what, in which order, and how big a file gets."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "formatter"
NATIVE = sorted(path for folder in ("kernels", "engine") for path in (PACKAGE / folder).rglob("*.[ch]pp"))
PYTHON = sorted(
    path
    for folder in ("src", "spark_udfs", "tests", "bench", "demo", "tools")
    for path in (ROOT / folder).rglob("*.py")
)
CYTHON = sorted(path for suffix in ("pyx", "pxi", "pxd") for path in PACKAGE.rglob(f"*.{suffix}"))

MOST_LINES = 500
MOST_FILES = 45


def name_of(path):
    return str(path.relative_to(ROOT))


def imported_modules(path):
    """Top-level names of everything a Python file imports, wherever in the file it does so."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.add(node.module.split(".")[0])
    return modules


@pytest.mark.parametrize("path", NATIVE, ids=name_of)
def test_native_code_knows_no_python_prints_nothing_and_throws_only_for_memory(path):
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    assert not re.search(r'#\s*include\s*[<"](Python\.h|numpy/|iostream)', code)
    assert not re.search(r"\b(printf|fprintf|abort|PyObject)\b", code)
    # out_of_memory(), the system's refusal to tell of forks, and the threads that cannot hand on what is thrown
    says_it = {"buffer_pool.cpp": ["throw"], "fork_watch.cpp": ["throw"], "range_crew.cpp": ["try", "catch"]}.get(
        path.name, []
    )
    assert re.findall(r"\b(?:throw|try|catch)\b", code) == says_it


def opening_of(path):
    """The comment a file opens with. A file of code speaks for itself unless it includes its own header first."""
    comment = re.match(r"(?://[^\n]*\n)*", path.read_text()).group()
    behind = path.read_text()[len(comment) :]
    own = path.with_suffix(".hpp")
    if path.suffix == ".cpp" and own.exists() and behind.startswith(f'#include "{own.relative_to(PACKAGE)}"'):
        return opening_of(own)
    return " ".join(line.lstrip("/ ") for line in comment.splitlines())


@pytest.mark.parametrize("path", NATIVE, ids=name_of)
def test_native_files_open_with_what_comes_in_what_goes_out_and_what_they_refuse_to_know(path):
    opening = opening_of(path)
    assert re.search(r"\bIn: ", opening)
    assert re.search(r"\bOut: ", opening)
    assert re.search(r"\b([Rr]efuses? to know|[Kk]nows? (no|nothing|neither))\b", opening)


def test_the_byte_order_mark_is_spelled_in_one_place():
    spelled = re.compile(r"\\xEF\\xBB\\xBF|0xEF, 0xBB|ufeff", re.IGNORECASE)
    package = [*NATIVE, *CYTHON, *PACKAGE.rglob("*.py"), *(ROOT / "spark_udfs").rglob("*.py")]
    assert [path.name for path in package if spelled.search(path.read_text())] == ["byte_order_mark.hpp"]


def test_kernels_know_no_engine():
    for path in (PACKAGE / "kernels").rglob("*.[ch]pp"):
        assert '#include "engine/' not in path.read_text(), name_of(path)


def test_only_spark_udfs_its_tests_and_its_demo_import_pyspark():
    allowed = (ROOT / "spark_udfs", ROOT / "tests" / "spark", ROOT / "demo", ROOT / "bench")
    offenders = [
        name_of(path)
        for path in PYTHON
        if "pyspark" in imported_modules(path) and not any(folder in path.parents for folder in allowed)
    ]
    assert offenders == []


def test_the_package_never_imports_its_spark_front():
    assert [name_of(path) for path in PACKAGE.rglob("*.py") if "spark_udfs" in imported_modules(path)] == []


@pytest.mark.parametrize("path", [*NATIVE, *PYTHON, *CYTHON], ids=name_of)
def test_no_file_outgrows_one_idea(path):
    assert len(path.read_text().splitlines()) <= MOST_LINES


def test_no_folder_outgrows_one_room():
    sizes = Counter(path.parent for path in [*NATIVE, *PYTHON, *CYTHON] if PACKAGE in path.parents)
    sizes.update(path.parent for path in PYTHON if ROOT / "spark_udfs" in path.parents)
    assert {name_of(folder): size for folder, size in sizes.items() if size > MOST_FILES} == {}


def test_the_hub_is_a_table_of_contents():
    hub = (PACKAGE / "_core.pyx").read_text()
    assert not re.search(r"^\s*(cdef\s+)?(class|def)\s", hub, re.MULTILINE)
    included = re.findall(r'^include "core/(\w+\.pxi)"', hub, re.MULTILINE)
    assert sorted(included) == sorted(path.name for path in (PACKAGE / "core").glob("*.pxi"))
    for line in hub.splitlines():
        assert not line.startswith("include") or "#" in line, f"an include without a word of what it brings: {line}"


def test_parts_use_only_what_earlier_parts_define():
    """Cython does not enforce it: a part that reaches forward makes the order of the hub a lie."""
    hub = (PACKAGE / "_core.pyx").read_text()
    parts = re.findall(r'^include "core/(\w+\.pxi)"', hub, re.MULTILINE)
    prose = re.compile(r'"""[\s\S]*?"""|"[^"\n]*"|#[^\n]*')
    texts = {part: prose.sub("", (PACKAGE / "core" / part).read_text()) for part in parts}
    definition = re.compile(
        r"^(?:cdef\s+(?:inline\s+)?)?class\s+(\w+)|^(?:cdef|cpdef|def)\s+[^\n(=]*?(\w+)\s*\(", re.MULTILINE
    )
    defined_in = {
        (match.group(1) or match.group(2)): number
        for number, part in enumerate(parts)
        for match in definition.finditer(texts[part])
    }
    for number, part in enumerate(parts):
        assert not re.search(r"^\s*include ", texts[part], re.MULTILINE), f"{part} includes another part"
        used = set(re.findall(r"(?<![.\w])\w+", texts[part]))
        forward = {name: parts[where] for name, where in defined_in.items() if where > number and name in used}
        assert not forward, f"{part} uses {forward}"


ALLOCATES_NOTHING = [
    "abandon",
    "after",
    "any",
    "begin",
    "begin_reserved_call",
    "bell",
    "blank",
    "c_column_types",
    "c_keep_memory_reserves",
    "c_null_markers",
    "c_pool_stats",
    "c_pool_trim",
    "c_split_variants",
    "c_variant_ends",
    "close",
    "closed",
    "code_name",
    "comment",
    "count_quotes",
    "crc32c_of",
    "damaged",
    "end",
    "end_reserved_call",
    "ended",
    "fields",
    "first_state",
    "fixed_size",
    "guesses_records",
    "has_room",
    "is_dead",
    "is_mine",
    "is_of_stream",
    "memory_is_reserved",
    "native_hash_bytes",
    "native_hash_fixed",
    "native_xxh64",
    "of_stream_start",
    "popcount",
    "progress",
    "read_file_bytes",
    "release",
    "ring_bell",
    "steady_now_ns",
    "try_pop",
    "used",
    "wait_for_bell",
    "wait_for_room",
    "wait_for_slices",
]


def test_a_call_of_the_engine_that_may_run_out_of_memory_says_so():
    """Without `except +` what it throws would end the process."""
    unsaid = set()
    for path in CYTHON:
        if path.name == "shredder_ring.pxi":  # declared noexcept, word for word
            continue
        for block in re.findall(
            r'^cdef extern from "engine/[^\n]*\n((?:[ \t]+[^\n]*\n|\n)*)', path.read_text(), re.MULTILINE
        ):
            for name, end in re.findall(r'(\w+)(?: "[^"]*")?\([^()]*\)([^\n]*)$', block, re.MULTILINE):
                if "except" not in end and not end.endswith(":"):
                    unsaid.add(name)
    assert unsaid - set(ALLOCATES_NOTHING) == set()


def test_what_the_binding_copies_by_itself_owns_no_memory():
    """Cython copies a struct that becomes a dict, or that a function gives back, where nothing catches what copying throws."""
    owners = r"\b(?:vector|string|unordered_map|shared_ptr|unique_ptr)\b"
    for path in CYTHON:
        text = path.read_text()
        for name, members in re.findall(
            r"^[ \t]+cdef struct (\w+)[^\n]*\n((?:[ \t]{8,}[^\n]*\n)*)", text, re.MULTILINE
        ):
            assert not re.search(owners, members), f"{name_of(path)}: {name}"
        given_back = re.findall(rf"^[ \t]*cdef (?:inline )?{owners}[^\n(]*\([^\n]*:$", text, re.MULTILINE)
        assert not given_back, f"{name_of(path)}: {given_back}"
    generated = (ROOT / "build" / "cython" / "src" / "formatter" / "_core.cpp").read_text()
    converted = set(re.findall(r"__pyx_convert_\w+_from_py_\w+(?=\()", generated))
    assert not converted, "Cython copies what it has made of Python's; see set_text and its like in plans.pxi"


def test_a_room_of_tests_imports_no_helper_of_another_room():
    """Alone it would not run: what rooms share lies beside them, or among the oracles."""
    rooms = [room for room in (ROOT / "tests").iterdir() if room.is_dir() and room.name != "oracle"]
    helpers = {path.stem: room for room in rooms for path in room.glob("*.py") if not path.name.startswith("test_")}
    for room in rooms:
        for path in room.glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                names = [node.module] if isinstance(node, ast.ImportFrom) else []
                names += [name.name for name in node.names] if isinstance(node, ast.Import) else []
                for name in names:
                    assert helpers.get(name, room) == room, f"{path.name} imports {name} of tests/{helpers[name].name}"


def test_no_module_is_named_after_nothing():
    vague = {"utils", "util", "common", "helpers", "helper", "manager", "misc"}
    assert [name_of(path) for path in (*PYTHON, *NATIVE, *CYTHON) if vague & set(re.split(r"[._]", path.name))] == []


@pytest.mark.parametrize("path", [path for path in PYTHON if path.name != "__init__.py"], ids=name_of)
def test_each_file_says_what_it_is_for(path):
    assert ast.get_docstring(ast.parse(path.read_text())), "a file opens with what comes in and what goes out"
