"""The worked example in docs/shredder.md is what really comes out."""

import re
from ast import literal_eval
from pathlib import Path

from oracle.span_oracle import SlowShredder

from formatter._core import SequenceShredder

DOCS = Path(__file__).parent.parent.parent / "docs" / "shredder.md"
EXAMPLE = re.compile(r"<!-- worked example.*?-->\n```\n(.*?)\n```", re.DOTALL)


def test_the_seven_buffers_of_the_docs_are_drawn_as_they_are():
    steps = EXAMPLE.search(DOCS.read_text()).group(1).split("\n\n")
    assert len(steps) == 7
    shredder, slow = SequenceShredder(), SlowShredder()
    for step in steps:
        call, claims, *drawing = step.splitlines()
        arguments = literal_eval(call.removeprefix(">>> process"))
        assert shredder.process(*arguments) == literal_eval(claims) == slow.process(*arguments)
        assert shredder.debug_dump().splitlines() == drawing


def test_a_long_window_is_drawn_in_rows_of_64_with_their_first_sequence():
    shredder = SequenceShredder()
    shredder.process(200, True)
    lines = shredder.debug_dump().splitlines()
    assert [line[:8] for line in lines[1::3]] == ["from 1  ", "from 65 ", "from 129", "from 193"]
    assert lines[-2:] == ["seen           .......#", "has_delimiter  .......|"]


def test_a_very_long_window_is_drawn_in_part():
    shredder = SequenceShredder()
    shredder.process(5000, True)
    lines = shredder.debug_dump().splitlines()
    assert lines[-1] == "... 904 more columns"
    assert len(lines) == 2 + 3 * 64
