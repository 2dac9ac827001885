"""What the demo has found, as bars in a terminal and as a page. In: acts with their contestants' seconds. Out: text. Refuses to
know Spark.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

WIDTH = 40
BLOCKS = " ▏▎▍▌▋▊▉█"
RUNS = {
    "script": "the whole script, from its start to its answer",
    "first": "the first answer of a fresh session",
    "warm": "warm, the best of some turns",
}
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>formatter beside Spark</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1em; overflow-x: auto }}
td {{ padding: .15em .8em .15em 0; white-space: pre }} h2 {{ font-size: 1.1em; margin-top: 1.6em }}
.bar {{ display: inline-block; height: .9em; background: #999; vertical-align: middle }} .ours {{ background: #2a7 }}
.wrong {{ color: #c00 }}
</style>
<h1>formatter beside Spark</h1>
<p>{facts}. Each contestant in a process and a session of its own, over the same bytes; once they are warm, in turns.
Answers were compared before anything was timed against anything.</p>
{acts}
</html>
"""


def ratio(act: Any, run: str) -> float:
    """How many times as long as ours Spark takes."""
    return float(act.contestants[-1].seconds[run] / act.contestants[0].seconds[run])


def bars(act: Any) -> Iterator[str]:
    for run, what in RUNS.items():
        longest = max(one.seconds[run] for one in act.contestants)
        yield f"{what}: Spark takes {ratio(act, run):.1f} times as long"
        for one in act.contestants:
            eighths = max(1, round(8 * WIDTH * one.seconds[run] / longest))
            bar = "█" * (eighths // 8) + BLOCKS[eighths % 8].strip()
            yield f"  {one.name:42} {bar:{WIDTH}} {one.seconds[run]:6.2f} s {act.megabytes / one.seconds[run]:6.0f} MB/s"


def html(acts: list[Any], facts: str) -> str:
    return PAGE.format(facts=escape(facts), acts="\n".join(map(_section, acts)))


def _section(act: Any) -> str:
    verdict = "The answers are the same." if act.agrees else '<b class="wrong">The answers differ.</b>'
    rows = []
    for run, what in RUNS.items():
        longest = max(one.seconds[run] for one in act.contestants)
        rows.append(f"<tr><td colspan=3><b>{what}</b>: Spark takes {ratio(act, run):.1f} times as long")
        for one in act.contestants:
            width = 100 * one.seconds[run] / longest
            ours = " ours" if one is act.contestants[0] else ""
            bar = f'<span class="bar{ours}" style="width:{width / 6:.1f}em"></span>'
            rows.append(f"<tr><td>{escape(one.name)}<td>{bar}<td>{one.seconds[run]:.2f} s")
    table = "\n".join(rows)
    return f"<h2>{escape(act.title)}</h2>\n<p>{act.megabytes:.0f} MB. {escape(act.what)}. {verdict}</p>\n<table>\n{table}\n</table>"
