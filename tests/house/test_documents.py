"""The documents speak of files and names that exist, and of commands the Makefile has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import formatter
import spark_udfs

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    *sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md")),
]
PLACES = (".", "src/formatter", "src/formatter/kernels", "spark_udfs")  # what a path in a document is relative to
# Placeholders, and names of things outside the tree.
NOT_FILES = re.compile(r"<|^\.pxi$|^\.venv|^build/|^bench/results|script\.py|^a\.csv$")
ENDINGS = r"py|pyx|pyi|pxi|hpp|cpp|md|txt|sh|toml"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_file_a_document_names_exists(document):
    quoted = re.findall(r"`([^`\s]+)`", (ROOT / document).read_text())
    paths = [word for word in quoted if re.search(rf"\.({ENDINGS}|\*)$|/$", word) and not NOT_FILES.search(word)]
    missing = [path for path in paths if not any(list((ROOT / place).glob(path.rstrip("/"))) for place in PLACES)]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_make_target_a_document_names_exists(document):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:`|^)(?:[A-Z_]+=\S+ )?make ([a-z-]+)", (ROOT / document).read_text(), re.MULTILINE))
    assert named - targets == set()


ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text()
PACKAGE = ROOT / "src" / "formatter"
ROOMS = sorted(
    {path.relative_to(PACKAGE / "engine").parts[0] for path in (PACKAGE / "engine").rglob("*.?pp")} | {"kernels"}
)


def stems(room):
    folder = PACKAGE / "kernels" if room == "kernels" else PACKAGE / "engine" / room
    return {path.name.split(".")[0] for path in folder.glob("*.?pp")}


def drawn(room):
    """The lines of the picture of a room: from its name at a line's start to the next one's, or the picture's end."""
    return re.search(rf"^{room}/  .*?(?=^\S)", ARCHITECTURE, re.MULTILINE | re.DOTALL)[0]


@pytest.mark.parametrize("room", ROOMS)
def test_every_file_of_a_native_room_stands_in_its_picture_and_nothing_else(room):
    names = set(re.findall(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*", drawn(room)))
    per_cpu = {name for name in stems(room) if name.startswith("kernel_")}
    assert stems(room) - names - per_cpu == set()
    everywhere = set().union(*map(stems, ROOMS))
    gone = {name for name in names if "_" in name and name not in everywhere} - {"kernel_"}
    assert gone == set()


STEPS = re.findall(r"^\| (`[^|]*?\.(?:py|pxi|cpp)` `[^|]+?`[^|]*) \|", ARCHITECTURE, re.MULTILINE)


def test_every_function_of_a_walk_stands_in_the_file_named_with_it():
    pairs = [pair for step in STEPS for pair in re.findall(r"`([\w/]+\.(?:py|pxi|cpp))` `([\w:.]+)`", step)]
    assert len(pairs) > 15
    lacking = []
    for name, function in pairs:
        source = next(path for place in PLACES if (path := ROOT / place / name).exists()).read_text()
        last = re.split(r"::|\.", function)[-1]
        if not re.search(rf"(def |class |::|^\w+ ){last}\b", source, re.MULTILINE):
            lacking.append((name, function))
    assert lacking == []


def sections(path):
    """What a link may name in a document: its headings, as GitHub and our pages write them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\s-]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_between_documents_leads_somewhere(document):
    lost = []
    for target in re.findall(r"\]\(([^)\s]+)\)", (ROOT / document).read_text()):
        path, _, section = target.partition("#")
        if "://" in target:
            continue
        there = (ROOT / document).parent / path if path else ROOT / document
        if not there.exists() or (section and section not in sections(there)):
            lost.append(target)
    assert lost == []


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("package", ["fm", "su"])
def test_every_public_name_a_document_has_is_one(document, package):
    module = formatter if package == "fm" else spark_udfs
    named = set(re.findall(rf"(?<![\w.]){package}\.(\w+)", (ROOT / document).read_text()))
    assert {name for name in named if not hasattr(module, name)} == set()


CODES = re.findall(r"each\((\w+)\)", (PACKAGE / "engine" / "columns" / "error_codes.hpp").read_text())
PAGES = "".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("code", [code for code in CODES if code != "none"])
def test_every_error_code_stands_in_a_page_of_the_docs(code):
    assert f"`{code}`" in PAGES


# What a row of the change table adds, and one that is there already. The files that know it by name may have to know the next.
SIBLINGS = [
    (["add a column type"], "float16"),
    (["add a codec"], "bz2"),
    (["add a filter operator", "push another predicate"], "ends_with"),
    (["add a CPU"], "neon"),
]
SOURCES = {".py", ".pxi", ".cpp", ".hpp", ".java", ".md"}


@pytest.mark.parametrize(("tasks", "sibling"), SIBLINGS)
def test_a_row_of_the_change_table_leads_to_every_file_that_knows_what_is_there_by_name(tasks, sibling):
    rows = [line for line in ARCHITECTURE.splitlines() for task in tasks if line.startswith(f"| {task}")]
    assert len(rows) == len(tasks)
    words = [word.rstrip("/") for row in rows for word in re.findall(r"`([\w./*]+)`", row)]
    named = {path for word in words for place in PLACES for path in (ROOT / place).glob(word)}
    folders = [
        ROOT / "setup.py",
        *(path for top in (PACKAGE, ROOT / "spark_udfs", ROOT / "docs") for path in top.rglob("*")),
    ]
    sources = [path for path in folders if path.suffix in SOURCES and path.name != "_core.cpp"]
    knowing = {path for path in sources if sibling in path.read_text()}
    assert len(knowing) > 2
    lost = {str(path.relative_to(ROOT)) for path in knowing if not named & {path, *path.parents}}
    assert lost == set()
