"""The documents speak of files that exist, and of commands the Makefile has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]
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
