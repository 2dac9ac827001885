"""`python -m bench.instructions`: instructions of every question, held against the stored record or another build.

In: options. Out: a table of ratios; exit code 1 and the functions that grew if a question costs more than the limit
allows, 2 if nothing could be counted or compared. Refuses to know: seconds.
"""

from __future__ import annotations

import argparse
import fnmatch
import platform
import sys
import tempfile
from pathlib import Path

from bench.instructions import callgrind
from bench.instructions.builds import STORED, Build, build_of_the_record, count_build, write_inputs
from bench.instructions.questions import QUESTIONS
from bench.instructions.records import Record, grown, growth, not_comparable, table

KERNEL = {"aarch64": "neon"}.get(platform.machine(), "avx2")  # valgrind knows no AVX-512


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.instructions", description=__doc__)
    parser.add_argument("--list", action="store_true", help="print the questions' names")
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="these questions; 'csv *' works, too; repeatable"
    )
    parser.add_argument("--python", default=sys.executable, help="count the build of this Python instead of ours")
    against = parser.add_mutually_exclusive_group()
    against.add_argument(
        "--before", metavar="PYTHON", help="count the build of this Python as well, and compare with it"
    )
    against.add_argument(
        "--against", metavar="FILE", type=Path, help="compare with this record instead of the stored one"
    )
    parser.add_argument(
        "--store", nargs="?", const=STORED, type=Path, metavar="FILE", help="write the record; compare nothing"
    )
    parser.add_argument("--limit", type=float, default=2.0, help="percent that a question may grow (default 2)")
    parser.add_argument("--kernel", default=KERNEL, help=f"default {KERNEL}")
    return parser.parse_args()


def say(words: str) -> None:
    print(words, flush=True)


def main() -> int:
    chosen = options()
    names = [name for name in QUESTIONS if not chosen.only or any(fnmatch.fnmatch(name, only) for only in chosen.only)]
    if chosen.list:
        print("\n".join(names))
        return 0
    if missing := callgrind.missing_tool() or (None if names else f"no question is called {chosen.only}"):
        print(f"instructions: {missing}", file=sys.stderr)
        return 2
    try:
        with tempfile.TemporaryDirectory() as folder:
            return counted(chosen, names, Path(folder))
    except callgrind.CountingFailed as failed:
        print(f"instructions: {failed}", file=sys.stderr)
        return 2


def counted(chosen: argparse.Namespace, names: list[str], folder: Path) -> int:
    inputs = write_inputs(folder, names)

    def record_of(build: Build, all_of_them: bool) -> tuple[Record, str]:
        return count_build(build, folder, inputs, chosen.kernel, say, all_of_them)

    now, extension = record_of(Build(chosen.python), all_of_them=True)
    if chosen.store:
        return store(now, chosen.store, partly=bool(chosen.only))
    if chosen.before:
        before, other = record_of(Build(chosen.before), all_of_them=False)
        if other == extension:
            raise callgrind.CountingFailed(f"{chosen.before} has the very build that is counted: {extension}")
        for reason in not_comparable(before, now):
            say(f"note: {reason}")
    else:
        path = chosen.against or STORED
        if not path.exists():
            raise callgrind.CountingFailed(f"no record {path}; --store writes one")
        before = Record.load(path)
        if reasons := not_comparable(before, now):
            say(f"the counts of {path.name} were made otherwise:\n  " + "\n  ".join(reasons))
            if chosen.against:
                raise callgrind.CountingFailed(
                    "they say nothing about this build; --before PYTHON counts another one here"
                )
            before, _ = record_of(build_of_the_record(say), all_of_them=False)
    return verdict(before, now, chosen.limit)


def store(now: Record, path: Path, partly: bool) -> int:
    if partly and path.exists():
        stored = Record.load(path)
        if stored.made_by != now.made_by:
            raise callgrind.CountingFailed(f"{path} was made otherwise; store all questions at once, without --only")
        now = stored.updated_by(now)
    now.save(path)
    say(f"stored: {path}")
    return 0


def verdict(before: Record, now: Record, limit: float) -> int:
    print("\n".join(table(before, now)))
    shared = {name: (before.counts[name], counts) for name, counts in now.counts.items() if name in before.counts}
    if new := [name for name in now.counts if name not in shared]:
        say(f"nothing to compare with: {', '.join(new)}; --store records them")
    cheaper = [name for name, (was, counts) in shared.items() if growth(was.ours, counts.ours) < -limit]
    if cheaper:
        say(f"cheaper by more than {limit:g}%: {', '.join(cheaper)}; --store keeps it so")
    failed = {name: words for name, pair in shared.items() if (words := grown(*pair, limit))}
    for name, words in failed.items():
        say(f"FAILED {name}: {words}")
    say(f"{len(shared) - len(failed)} of {len(shared)} questions within {limit:g}%")
    return 1 if failed or not shared else 0


if __name__ == "__main__":
    sys.exit(main())
