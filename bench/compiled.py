"""Programs in C++ that race: each compiled once, kept in build/ by a digest of its sources, flags and compiler.

In: a name, sources, flags. Out: the program's path. The tests' programs are made by the same code (tests/native_programs.py).
Refuses to know: what a program measures.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NATIVE = ROOT / "bench" / "native"
sys.path.insert(0, str(ROOT / "tests"))

from native_programs import Object, build_settings, native_program  # noqa: E402  (tests/ is not a package)

FLAGS = ["-std=c++17", "-O3", "-DNDEBUG", "-pthread"]


def program(name: str, *sources: Path, flags: tuple[str, ...] = ()) -> Path:
    return Path(native_program(f"bench_{name}", [Object(source.stem, source) for source in sources], [*FLAGS, *flags]))


def on_demand() -> Path:
    """The contestant on simdjson's C++ front ends, with the simdjson inside the installed pysimdjson."""
    import simdjson

    package = Path(simdjson.__file__).parent
    return program("json_ondemand", NATIVE / "json_ondemand.cpp", package / "simdjson.cpp", flags=(f"-I{package}",))


def flow_ring() -> Path:
    ring = ROOT / "src/formatter/engine/flow/slice_ring.cpp"
    return program("flow_ring", NATIVE / "flow_ring.cpp", ring, flags=("-fno-exceptions", "-fno-rtti"))


def csv_index() -> Path:
    """Built as tests/kernels/test_csv_index.py builds its check: the part of each CPU by its own flags."""
    part = ROOT / "tests/kernels/csv_index_part.cpp"
    objects = [Object("csv_index_bench", NATIVE / "csv_index_bench.cpp", (f"-I{part.parent}",))]
    objects += [
        Object(isa, part, (*flags, f"-DFORMATTER_ISA={isa}", f'-DISA_HEADER="kernels/isa/{isa}.hpp"'))
        for isa, flags in _kernel_flags().items()
    ]
    return Path(native_program("bench_csv_index", objects, _our_flags(), []))


def value_columns() -> Path:
    kernels = ROOT / "src/formatter/kernels"
    objects = [
        Object("value_columns_bench", NATIVE / "value_columns_bench.cpp"),
        Object("dispatch", kernels / "dispatch.cpp"),
    ]
    objects += [Object(isa, kernels / f"kernel_{isa}.cpp", tuple(flags)) for isa, flags in _kernel_flags().items()]
    return Path(native_program("bench_value_columns", objects, _our_flags(), []))


def _kernel_flags() -> dict[str, list[str]]:
    return dict(build_settings()["KERNEL_FLAGS"])


def _our_flags() -> list[str]:
    settings = build_settings()
    return [*settings["COMMON_FLAGS"], *settings["NATIVE_FLAGS"]]
