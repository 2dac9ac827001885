"""The report: one HTML file that needs nothing else, for a phone and a desk, light and dark.

In: a record, its figures, what the cost model says. Out: text. Refuses to know: how a figure was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from bench.questions import QUESTIONS
from bench.record import NOISY, Record
from bench.report.cost_model import Model
from bench.report.documents import summary
from bench.report.figures import Figure
from bench.workloads import UNSEEN, WORKLOADS
from bench.workloads.declared_texts import WORKLOADS as DECLARED

LIGHT = ["#0a58ca", "#b3261e", "#2e7d32", "#b26a00", "#6a1b9a", "#00778a", "#5d4037", "#ad1457", "#455a64", "#7b7b00"]
DARK = ["#7fb2ff", "#ff8a80", "#81c784", "#ffb74d", "#ce93d8", "#4dd0e1", "#bcaaa4", "#f48fb1", "#b0bec5", "#dce775"]


def _colours(colours: Sequence[str]) -> str:
    return "".join(f"--c{number}:{colour};" for number, colour in enumerate(colours))


STYLE = f"""
:root{{color-scheme:light dark;--ink:#1b1b1f;--soft:#5c5c66;--paper:#fff;--card:#f6f7f9;--rule:#dcdde3;{_colours(LIGHT)}}}
@media (prefers-color-scheme:dark){{:root{{
--ink:#ececf1;--soft:#a5a5b0;--paper:#141418;--card:#1e1f25;--rule:#383a44;{_colours(DARK)}}}}}
*{{box-sizing:border-box}}
body{{margin:0 auto;max-width:1280px;padding:16px;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}}
h1{{font-size:1.7rem;line-height:1.2;margin:.4em 0}} h2{{font-size:1.1rem;margin:0 0 .3em}}
p{{margin:.3em 0;max-width:75ch}} .soft,figcaption,footer{{color:var(--soft);font-size:.875rem}}
main{{display:grid;gap:16px;grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr));align-items:start}}
section{{grid-column:1/-1}} figure,section{{margin:0;padding:14px;background:var(--card);border-radius:10px;min-width:0}}
svg{{width:100%;height:auto;display:block;font:12px system-ui,sans-serif}}
svg text{{fill:var(--ink)}} .row{{text-anchor:end}} .letter,.cross{{text-anchor:middle;font-weight:bold}} .step{{fill:var(--soft)}}
.rule,.grid{{stroke:var(--rule);stroke-width:1}} .line{{fill:none;stroke-width:2}}
.legend{{display:flex;flex-wrap:wrap;gap:2px 14px;list-style:none;margin:.3em 0;padding:0;font-size:.875rem}}
.legend b{{margin-right:5px}}
.legend i{{display:inline-block;width:11px;height:11px;border-radius:50%;margin-right:5px;background:currentColor}}
code{{font-size:.85em;overflow-wrap:anywhere}} details{{margin-top:.4em;font-size:.875rem}} summary{{cursor:pointer}}
.scroll{{overflow-x:auto}} table{{border-collapse:collapse;font-variant-numeric:tabular-nums}}
td,th{{padding:2px 10px 2px 0;text-align:left;white-space:nowrap;font-weight:normal}} tr:first-child{{color:var(--soft)}}
td:last-child{{white-space:normal;min-width:9em}}
td{{vertical-align:top}} .words td{{white-space:normal;overflow-wrap:break-word;min-width:3.5em;padding-bottom:5px}}
.wrong{{color:var(--c1);overflow-wrap:anywhere}}
""" + "".join(
    f"svg text.t{n}{{fill:var(--c{n})}}.line.c{n}{{stroke:var(--c{n})}}i.c{n}{{color:var(--c{n})}}"
    f"circle.sure.c{n}{{fill:var(--c{n});stroke:var(--card)}}circle.noisy.c{n}{{fill:var(--card);stroke:var(--c{n});stroke-width:2}}"
    for n in range(len(LIGHT))
)


def page(record: Record, figures: Sequence[Figure], model: Model | None) -> str:
    body = "".join(map(_figure, figures))
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>formatter, measured</title><style>{STYLE}</style>{_head(record)}<main>{_summary(record)}{body}{_model(model)}"
        f"{_inputs(record)}{_others(record)}{_runs(record)}</main>{_foot()}</html>\n"
    )


HOW = f"""
<p>formatter turns raw CSV, JSON and binary rows into Arrow record batches, in Python and in Spark. This is how fast it is
beside other libraries that do the same, on inputs it was tuned to and on inputs it was not.</p>
<p>Every contestant runs in a process of its own and is told the same schema. Its answer on the first records is compared with
Python's own reading, and on the whole input with the others'; only right answers are timed, <b>a cross is a wrong answer or a
failure</b>. Contestants take turns, and the turn in the middle counts. <b>Hollow dots and ~ are noise</b>: other turns of the
same contestant could have given a figure more than {NOISY:.0%} higher or lower. Letters are limits: what nobody can be
faster than. Point at a dot for its number, or unfold the numbers under a chart. The command under it makes it anew.</p>"""


def _head(record: Record) -> str:
    facts = record.last.facts
    machine = f"{facts['cpu']}, {facts['cpus']} CPUs, kernel {facts['active_kernel']}, {facts['system']}"
    loads = [result.load for result in record.results]
    load = f"load average {min(loads):.1f} to {max(loads):.1f}" if loads else f"load average {facts['load_before']:.1f}"
    minutes = sum(run.took_s for run in record.runs) / 60
    return (
        f'<header><h1>formatter, measured</h1>{HOW}<p class="soft">{escape(record.last.taken)} · {escape(machine)} · '
        f"{escape(load)} · commit {escape(str(facts['commit']))} · <code>{escape(record.last.command)}</code> · "
        f"{minutes:.0f} min in all</p></header>"
    )


def _summary(record: Record) -> str:
    """The README's table."""
    lines = [line.strip("| ").split(" | ") for line in summary(record)]
    head, _, *rest = lines
    return f'<section id="summary"><h2>In short</h2>{_table([head, *rest], "words")}</section>' if rest else ""


def _inputs(record: Record) -> str:
    used = {str(result.point.get("workload", "")) for result in record.results}
    rows = [("input", "what it is", "")]
    for workload in {**WORKLOADS, **DECLARED}.values():
        if workload.name in used:
            rows.append((workload.name, workload.about, "nobody tuned to it" if workload.name in UNSEEN else ""))
    return f'<section id="inputs"><h2>Inputs</h2>{_table(rows, "words")}</section>' if len(rows) > 1 else ""


def _runs(record: Record) -> str:
    """When what was asked; by name what is older than the last run, and what was never asked."""
    lines = []
    for run in reversed(record.runs):
        asked = "every question" if set(run.questions) >= set(QUESTIONS) else ", ".join(run.questions)
        lines.append(f"<p>{escape(run.taken)}, commit {escape(str(run.facts['commit']))}: {escape(asked)}. ")
        lines.append(f"<code>{escape(run.command)}</code></p>")
    old = [name for name in record.questions() if record.run_of(name) is not record.last]
    lacking = [name for name in QUESTIONS if name not in record.questions()]
    told = f"<p>Older than the last run: {escape(', '.join(old))}.</p>" if old else ""
    told += f"<p>Not asked: {escape(', '.join(lacking))}.</p>" if lacking and "files" not in record.questions() else ""
    return f'<section id="runs"><h2>Runs</h2>{told}{"".join(lines)}</section>'


def _figure(figure: Figure) -> str:
    noise = f"{figure.noisy} of {figure.cells} points are noise" if figure.noisy else "no point is noise"
    caption = f"Points are known within ±{figure.doubt:.1%} (median); {noise}."
    caption += " Seconds of CPU time, for the machine was busy." if figure.busy else ""
    wrong = "".join(f'<li class="wrong">{escape(words[:220])}</li>' for words in figure.wrong)
    failed = (
        f"<details><summary>Wrong or failed: {len(figure.wrong)}</summary><ul>{wrong}</ul></details>" if wrong else ""
    )
    return (
        f'<figure id="{figure.key}"><h2>{escape(figure.title)}</h2><p>{escape(figure.sentence)}</p>{figure.chart}{figure.legend}'
        f"<figcaption>{caption}<br><code>{escape(figure.command)}</code></figcaption>{failed}"
        f"<details><summary>Numbers (~ is noise)</summary>{_table(figure.table)}</details></figure>"
    )


def _table(rows: Sequence[Sequence[str]], kind: str = "") -> str:
    lines = ("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table class="{kind}">{"".join(lines)}</table></div>'


def _model(model: Model | None) -> str:
    if model is None:
        return ""
    return (
        '<section id="cost-model"><h2>Larger than this machine</h2><p>A query in Spark costs so much before '
        ""
        "its first byte, so much a "
        ""
        ""
        f"task, so much a byte on one core. Fitted here, and held against sizes it was not fitted "
        f"on.</p>{_table(model.constants())}"
        f"<p>{escape(model.verdict())}</p><details open><summary>Held against measurements</summary>{_table(model.held_against())}"
        f"</details><details "
        f"open><summary>Predicted</summary>{_table(model.predictions())}</details><p>{escape(model.breaks_first())}</p>"
        "<p class=\"soft\"><code>python -m bench --only 'spark sizes' --only 'spark executors'</code></p></section>"
    )


def _others(record: Record) -> str:
    """Who took no part, with the reason; what the race takes from each."""
    from bench.contestants import MODULES, contestant

    declined: dict[tuple[str, str], list[str]] = {}
    for result in record.results:
        if result.declined:
            declined.setdefault((result.contestant, result.declined), []).append(result.question)
    rows = [("contestant", "took no part in", "because")]
    rows += [(who, ", ".join(dict.fromkeys(asked)), why) for (who, why), asked in declined.items()]
    versions = record.last.facts["libraries"]
    told = [("contestant", "version", "what the race takes from it, or gives it")]
    for name in MODULES:
        one = contestant(name)
        if one.handicap:
            told.append((name, str(versions.get(one.package, "")), one.handicap))
    return (
        f'<section id="contestants"><h2>Contestants</h2><details open><summary>Handicaps</summary>{_table(told, "words")}</details>'
        f"<details><summary>Who took no part</summary>{_table(rows, 'words')}</details></section>"
    )


def _foot() -> str:
    return (
        "<footer><p>Made by <code>make bench</code>; figures of your own machine by the commands under them, of your own files by "
        "<code>python -m bench FILE...</code>.</p></footer>"
    )
