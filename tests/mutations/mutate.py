"""Makes the changes of mutations.py one after the other in a copy of the tree, builds, and sees whether the tests notice.

In: parts of names on the command line, none for all. Out: a line a change; exit code 1 if one was not noticed. The copy stays
under build/mutants, so that the next run compiles what changed only. Refuses to know: what the changes mean.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from mutations import MUTATIONS, Mutation

ROOT = Path(__file__).resolve().parents[2]
COPY = ROOT / "build" / "mutants"
PACKAGE = COPY / "src" / "formatter"
COPIED = ("src", "tests", "spark_udfs", "bench", "tools", "setup.py", "pyproject.toml")
SOURCES = (".cpp", ".hpp", ".py", ".pyx", ".pxi")
UNDER_CHANGE = (
    COPY / "build" / "under_change"
)  # names the file while it is changed: where a run was killed, it is still there
PASSED, FAILED = 0, 1  # pytest's words; others mean that tests could not be run at all


def copy_tree() -> None:
    """Only what differs, with its times, so that objects made before are still fresh."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *COPIED]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    wanted = {name for name in names if (ROOT / name).exists()}
    for old in [path for folder in ("src", "tests") for path in (COPY / folder).rglob("*") if path.suffix in SOURCES]:
        if str(old.relative_to(COPY)) not in wanted and old.name != "_core.cpp":
            old.unlink()
    for name in sorted(wanted):
        source, target = ROOT / name, COPY / name
        if target.exists() and target.stat().st_mtime_ns == source.stat().st_mtime_ns:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
    for made in [*ROOT.glob("build/temp.*"), ROOT / "build" / "cython"]:
        if not (COPY / "build" / made.name).exists():
            shutil.copytree(made, COPY / "build" / made.name, copy_function=shutil.copy2)


def differing_files() -> list[str]:
    """What the copy has otherwise than this tree, whatever the times say."""
    names = [str(path.relative_to(COPY)) for path in sorted(PACKAGE.rglob("*")) if path.suffix in SOURCES]
    return [
        name for name in names if (ROOT / name).exists() and (COPY / name).read_bytes() != (ROOT / name).read_bytes()
    ]


def forget_killed_run() -> None:
    """What was compiled of a change that nobody undid is newer than its file, and would stand for it in all runs from then on."""
    if not UNDER_CHANGE.exists():
        return
    changed = PACKAGE / UNDER_CHANGE.read_text()
    changed.unlink(missing_ok=True)
    for made in (COPY / "build", *COPY.glob("src/formatter/_core*.so")):
        shutil.rmtree(made) if made.is_dir() else made.unlink()


def build() -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    return subprocess.run(command, cwd=COPY, capture_output=True, text=True, check=False)


def run_tests(selection: str) -> subprocess.CompletedProcess[str]:
    arguments = [part if part.startswith("-") or not (COPY / "tests" / part).exists() else f"tests/{part}"
                 for part in shlex.split(selection)]  # fmt: skip
    if "-m" not in arguments:
        arguments += ["-m", "not slow and not spark"]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:benchmark", *arguments]
    environment = os.environ | {"PYTHONPATH": str(COPY / "src")}
    return subprocess.run(command, cwd=COPY, env=environment, capture_output=True, text=True, check=False)


def is_noticed(mutation: Mutation) -> tuple[bool, str]:
    """Whether the tests fail with the change, and the last words of whoever spoke last."""
    path = PACKAGE / mutation.file
    text = path.read_text()
    assert text.count(mutation.before) == 1, (
        f"{mutation.name}: what it changes stands {text.count(mutation.before)} times"
    )
    kept = path.stat()
    UNDER_CHANGE.write_text(mutation.file)
    path.write_text(text.replace(mutation.before, mutation.after))
    try:
        if path.suffix != ".py":
            built = build()
            if built.returncode:
                return False, "does not compile: " + built.stderr[-500:]
        tested = run_tests(mutation.tests)
        crashed = tested.returncode < 0
        assert crashed or tested.returncode in (PASSED, FAILED), f"{mutation.name}: {tested.stdout[-500:]}"
        lines = [line for line in tested.stdout.splitlines() if line.startswith("FAILED")]
        return tested.returncode != PASSED, lines[0][:150] if lines else tested.stdout[-300:] + tested.stderr[-300:]
    finally:
        path.write_text(text)
        os.utime(path, ns=(kept.st_atime_ns, kept.st_mtime_ns))
        for stale in COPY.glob(f"build/temp.*/objects/{Path(mutation.file).with_suffix('.o')}"):
            stale.unlink()
        if path.suffix == ".hpp":
            os.utime(path)
        UNDER_CHANGE.unlink()


def main(wanted: list[str]) -> int:
    chosen = [m for m in MUTATIONS if not wanted or any(part in m.name or part in m.file for part in wanted)]
    forget_killed_run()
    copy_tree()
    built = build()
    assert built.returncode == 0, built.stderr
    stale = differing_files()
    assert not stale, f"the copy under build/mutants is another tree: {stale}; remove it"
    unnoticed = 0
    for mutation in chosen:
        noticed, words = is_noticed(mutation)
        unnoticed += not noticed
        print(f"{'noticed ' if noticed else 'UNNOTICED'} {mutation.file}: {mutation.name}: {words}", flush=True)
    print(f"{len(chosen) - unnoticed} of {len(chosen)} changes were noticed")
    return int(unnoticed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
