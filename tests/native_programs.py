"""The C++ programs among the tests, each compiled once, whichever test, worker or kernel run asks first.

In: objects (a source, its flags) and flags to link them. Out: the program's path, under build/native_programs by a digest of the
compiler, the flags, the sources and every header they could include. Refuses to know: what the programs check.
"""

from __future__ import annotations

import ast
import fcntl
import hashlib
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "formatter"
KEPT = ROOT / "build" / "native_programs"


@dataclass(frozen=True)
class Object:
    name: str
    source: Path
    flags: tuple[str, ...] = ()


def objects_of(*sources: Path) -> list[Object]:
    return [Object(source.stem, source) for source in sources]


def build_settings() -> dict[str, object]:
    """What setup.py sets before its first definition, flags of the kernels among it; running all of it would build."""
    statements = ast.parse((ROOT / "setup.py").read_text()).body
    first = next(i for i, node in enumerate(statements) if isinstance(node, ast.FunctionDef))
    settings: dict[str, object] = {}
    exec(compile(ast.Module(statements[:first], []), "setup.py", "exec"), settings)
    return settings


def native_program(
    name: str, objects: list[Object], flags: list[str], link_flags: list[str] | None = None, compiler: str | None = None
) -> Path:
    """`flags` are those of every object; without `link_flags` they are the linker's too."""
    compiler = compiler or shutil.which(os.environ.get("CXX", "g++")) or shutil.which("c++")
    assert compiler, "no C++ compiler found; run: apt-get install g++  (or set CXX)"
    linked_by = flags if link_flags is None else link_flags
    digest = _digest(compiler, objects, flags, linked_by)
    folder = KEPT / f"{name}-{digest}"
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the other worker waits for the program instead of compiling it, too
        if not (folder / name).exists():
            for stale in KEPT.glob(f"{name}-*"):
                shutil.rmtree(stale)
            folder.mkdir()
            _build(folder, name, compiler, objects, flags, linked_by)
    return folder / name


def _build(
    folder: Path, name: str, compiler: str, objects: list[Object], flags: list[str], link_flags: list[str]
) -> None:
    def compiled(unit: Object) -> str:
        target = str(folder / f"{unit.name}.o")
        include = [f"-I{PACKAGE}", f"-I{unit.source.parent}"]
        _run(compiler, *flags, *unit.flags, *include, "-c", str(unit.source), "-o", target)
        return target

    with ThreadPoolExecutor(2) as pool:
        targets = list(pool.map(compiled, objects))
    _run(compiler, *link_flags, *targets, "-o", str(folder / "unfinished"))
    (folder / "unfinished").rename(folder / name)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"


def _digest(compiler: str, objects: list[Object], flags: list[str], link_flags: list[str]) -> str:
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    said = [version, repr(flags), repr(link_flags)]
    said += [f"{unit.name} {unit.source.relative_to(ROOT)} {unit.flags}" for unit in objects]
    sources = {unit.source for unit in objects}
    headers = {path for folder in (PACKAGE, *(source.parent for source in sources)) for path in folder.rglob("*.hpp")}
    read = (path.read_bytes() for path in sorted(sources | headers))
    return hashlib.sha256("\n".join(said).encode() + b"\0".join(read)).hexdigest()[:16]
