"""docs/shared.md runs and prints what it says it prints.

In: the document. Out: nothing. Refuses to know: what its sentences promise (the other files here).
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "shared.md"
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def test_the_example_prints_what_the_page_says_and_explain_looks_as_shown():
    text = DOCUMENT.read_text()
    ((code, output),) = EXAMPLE.findall(text)
    before_the_end = code.replace("    shared.finish()\n", "    explained = shared.explain()\n    shared.finish()\n")
    printed = io.StringIO()
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(printed):
        exec(before_the_end, names)
    assert printed.getvalue() == output
    shown = re.search(r"`print\(shared.explain\(\)\)`:\n\n((?:    .*\n)+)", text)
    assert shown is not None
    lag = re.compile(r"lag=\d+")
    assert [lag.sub("", line) for line in str(names["explained"]).splitlines()] == [
        lag.sub("", line[4:]) for line in shown.group(1).splitlines()
    ]
