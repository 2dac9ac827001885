"""What docs/flow.md shows is what happens."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pyarrow as pa

import formatter as fm
from formatter import flow

TEXT = (Path(__file__).resolve().parents[2] / "docs/flow.md").read_text()


def test_the_plan_shown_is_the_plan_printed():
    schema = pa.schema([("user", pa.string()), ("price", pa.int64()), ("page", pa.string())])
    pipe = flow.pipeline()
    clicks = pipe.source("clicks", [], schema=schema)
    views = pipe.source("views", []).parse(fm.Csv(schema), threads=4)
    joined = clicks.merge(views).filter([("price", ">", 10)]).select(["user", "price"])
    assert textwrap.indent(joined.explain(), "    ") in TEXT


def test_the_defaults_in_words_are_the_defaults():
    assert (flow.Pause().timeout, flow.Pause().high, flow.Pause().low) == (None, 1.0, 0.5)
    spill = flow.SpillToDisk("anywhere")
    assert (spill.max_bytes, spill.timeout) == (1 << 30, 0)
