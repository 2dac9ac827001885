"""`python -m bench.spark_records_bench`: record mode beside from_json and from_csv, and pushdown beside columns=.

In: megabytes, repeats. Out: a table of ratios against the targets. One session of local[2]; payloads are rows of a cached
DataFrame, one record each; contestants take turns and the best turn of each counts. Before anything is timed, counts and
a hash of all rows must agree.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench.spark_bench import Frame, Turns, format_of, require_same, start_spark, write_nowhere
from bench.spark_workloads import FEW, MIXED_CSV, MIXED_JSON, SparkWorkload

TARGETS = {"3 of 20 fields": 4.0, "all 20 fields": 3.0}
PUSHDOWN_MOST = 1.10  # times what columns= costs


def payloads(spark: Any, workload: SparkWorkload, folder: Path, megabytes: int) -> Any:
    """Rows (key, value), two partitions, in memory."""
    lines = workload.file(folder, megabytes).read_text().splitlines()
    body = lines[1:] if workload.kind == "csv" else lines
    table = pa.table({"key": pa.array(range(len(body)), pa.int64()), "value": pa.array(body, pa.string())})
    df = spark.createDataFrame(table).repartition(2).cache()
    df.count()
    return df


def engines_own(df: Any, workload: SparkWorkload, columns: tuple[str, ...]) -> Frame:
    """from_json or from_csv, of the wanted fields only where the function can do that."""
    from pyspark.sql import functions as f

    from spark_udfs.types.spark_types import SparkColumns

    struct = SparkColumns.of(format_of(workload).schema).struct
    if workload.kind == "csv":
        return lambda: df.select(
            "key", f.from_csv("value", struct.simpleString()[7:-1].replace(":", " ")).alias("v")
        ).select(*(f"v.{name}" for name in columns), "key")
    from pyspark.sql.types import StructType

    wanted = StructType([struct[name] for name in columns])
    return lambda: df.select("key", f.from_json("value", wanted).alias("v")).select("v.*", "key")


def race(spark: Any, df: Any, workload: SparkWorkload, columns: tuple[str, ...], repeats: int) -> dict[str, float]:
    import spark_udfs as su

    format = format_of(workload)
    if getattr(format, "header", False):
        from dataclasses import replace

        format = replace(format, header=False)
    options = {"payload": "value", "unit": "record", "keep": ["key"], "error": None}
    names = [*columns, "key"]
    frames: dict[str, Frame] = {
        "engine": engines_own(df, workload, columns),
        "records": lambda: su.parse(df, format, columns=columns, **options),
        "column": lambda: su.parse_column(df, "value", format, columns=columns).select("v.*", "key"),
        "pushed": lambda: su.parse(df, format, **options).select(*names),
    }
    require_same(frames)
    turns = Turns().take({name: write_nowhere(frame) for name, frame in frames.items()}, repeats)
    return {name: turns.best(name) for name in frames}


def lines_of(title: str, seconds: dict[str, float], target: float, few: bool) -> list[dict[str, Any]]:
    rows = [
        {"what": f"{title}: su.parse", "ratio": seconds["engine"] / seconds["records"], "target": target},
        {"what": f"{title}: su.parse_column", "ratio": seconds["engine"] / seconds["column"], "target": target},
    ]
    if few:
        rows.append(
            {
                "what": f"{title}: pushdown / columns=",
                "ratio": seconds["pushed"] / seconds["records"],
                "most": PUSHDOWN_MOST,
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=["json", "csv"])
    parser.add_argument("--write", type=Path, help="where to put the record as JSON")
    arguments = parser.parse_args()
    spark = start_spark()
    import spark_udfs as su

    su.enable_pushdown(spark)
    rows: list[dict[str, Any]] = []
    show: Callable[[dict[str, Any]], None] = lambda row: print(  # noqa: E731
        f"{row['what']:<48} {row['ratio']:6.2f}  "
        + (f">= {row['target']}" if "target" in row else f"<= {row['most']}"),
        flush=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        for workload in (MIXED_JSON, MIXED_CSV):
            if arguments.only not in (None, workload.kind):
                continue
            df = payloads(spark, workload, Path(folder), arguments.megabytes)
            everything = tuple(format_of(workload).schema.names)
            for title, columns in zip(TARGETS, (FEW, everything), strict=True):
                seconds = race(spark, df, workload, columns, arguments.repeats)
                for row in lines_of(f"{workload.kind}, {title}", seconds, TARGETS[title], columns is FEW):
                    rows.append(row | {"seconds": seconds})
                    show(row)
            df.unpersist()
    if arguments.write:
        arguments.write.write_text(json.dumps(rows, indent=1) + "\n")
    spark.stop()


if __name__ == "__main__":
    main()
