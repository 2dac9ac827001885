"""`python -m bench.report [RECORD]`: the newest record, or this one, as report.html; with the documents' pictures and numbers.

In: records. Out: bench/results/report.html; --documents: README, docs and three PNGs. 1 if the browser finds something wrong.
Refuses to measure.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench.record import Record
from bench.report import browser
from bench.report.cost_model import model_of
from bench.report.documents import PICTURES, RECORD, write_documents
from bench.report.figures import figures
from bench.report.page import page
from bench.stable import ROOT


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.report", description=__doc__)
    parser.add_argument("record", nargs="?", type=Path, default=RECORD)
    parser.add_argument("--to", type=Path, default=ROOT / "build" / "bench" / "report.html")
    parser.add_argument("--documents", action="store_true", help="write pictures and numbers of README and docs, too")
    parser.add_argument("--pictures", type=Path, help="keep what the browser saw here")
    chosen = parser.parse_args()
    written = write(Record.load(chosen.record), chosen.to)
    print(f"report: {chosen.to}")
    if chosen.documents:
        for path in write_documents():
            print(f"written: {path.relative_to(ROOT)}")
    if browser.browser() is None:
        print(f"report: NOT LOOKED AT, and no pictures: no Chromium here; run: {browser.REMEDY}")
        return 0
    if wrong := browser.looked_at(chosen.to, chosen.pictures):
        print("\n".join(wrong), file=sys.stderr)
    if chosen.documents:
        keys = [key for key in PICTURES if key in written]
        for key, picture in browser.figure_pictures(chosen.to, keys).items():
            path = ROOT / "docs" / "pictures" / f"{key}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(picture)
    return 1 if wrong else 0


def write(record: Record, to: Path) -> list[str]:
    """The figures' names."""
    found = figures(record)
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(page(record, found, model_of(record)), encoding="utf-8")
    return [figure.key for figure in found]


if __name__ == "__main__":
    sys.exit(main())
