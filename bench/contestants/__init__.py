"""Contestants by name; each has a module that imports its library only inside the jobs it does."""

from __future__ import annotations

import importlib

from bench.contestant import Contestant

MODULES = {
    "formatter": "formatter",
    "pyarrow": "pyarrow",
    "polars": "polars",
    "duckdb": "duckdb",
    "datafusion": "datafusion",
    "pandas": "pandas",
    "chdb": "chdb",
    "orjson": "json_loops",
    "msgspec": "json_loops",
    "pysimdjson": "json_loops",
    "simdjson On-Demand": "simdjson",
    "simdjson DOM": "simdjson",
    "memory read": "limits",
    "newline count": "limits",
    "index only": "limits",
    "streams": "streams",
    "pyarrow by hand": "streams",
    "polars by hand": "streams",
    "shared stream": "shared",
    "fm.declared": "declared_texts",
    "duckdb by expressions": "declared_texts",
    "polars by expressions": "declared_texts",
    "pandas read_fwf": "declared_texts",
    "spark by expressions": "declared_texts",
    "logfmt": "declared_texts",
    "python-hl7": "declared_texts",
    "a loop in Python": "declared_texts",
    "a scanner by hand": "declared_texts",
    "shredder": "shredder",
    "bridge": "bridge",
    "native loops": "native_loops",
    "suites": "micro",
    "fm.open": "limits",
    "spark_udfs": "spark_ours",
    "spark": "spark_own",
    "ready batches": "spark_ours",
    "empty tasks": "spark_ours",
}


def contestant(name: str) -> Contestant:
    found: list[Contestant] = importlib.import_module(f"bench.contestants.{MODULES[name]}").CONTESTANTS
    return next(one for one in found if one.name == name)
