"""What stitching costs in Spark: chunks in random order against aligned chunks that need no stitching.

Load: one CSV text of MB megabytes (20 columns of 5 kinds, a quarter of the text fields quoted with newlines inside),
once cut at record ends into chunks of 1 MiB (stitch="none"), once cut anywhere and shuffled (stitch="origin", "global"),
both cached by Spark before the clock starts. Every run counts its rows first; then a noop write is timed, the contestants
taking turns, best of ROUNDS. Usage: python -m bench.spark_stitch_bench [MB] [--rounds N] [--source cache|parquet] [--unquoted]
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from java_home import use_java  # noqa: E402  (tools/ is not a package)

KINDS = [pa.int64(), pa.float64(), pa.string(), pa.timestamp("us"), pa.string()]
SCHEMA = pa.schema([(f"c{number}", KINDS[number % 5]) for number in range(20)])
DDL = "origin STRING, sequence BIGINT, payload BINARY"
CHUNKS = pa.schema([("origin", pa.string()), ("sequence", pa.int64()), ("payload", pa.binary())])
MIB = 1 << 20


def record(number: int, quoted: bool) -> str:
    text = f'"quoted {number % 91},\nline"' if quoted and number % 4 == 0 else f"text {number % 97}"
    five = f"{number * 7919 % 1000003},{number % 1000 / 8},{text},2024-01-01 00:00:{number % 60:02},plain words"
    return ",".join([five] * 4) + "\n"


def text_of(megabytes: float, quoted: bool) -> tuple[bytes, list[int]]:
    block = [record(number, quoted).encode() for number in range(20_000)]
    joined = b"".join(block)
    repeats = max(1, int(megabytes * 1e6 / len(joined)))
    ends, at = [], 0
    for piece in block:
        at += len(piece)
        ends.append(at)
    return joined * repeats, [end + turn * len(joined) for turn in range(repeats) for end in ends]


def aligned(content: bytes, ends: list[int], size: int = MIB) -> list[bytes]:
    pieces, begin = [], 0
    for before, end in zip(ends, [*ends[1:], len(content) + size + 1], strict=True):
        if end - begin > size:
            pieces.append(content[begin:before])
            begin = before
    return [*pieces, content[begin:]] if begin < len(content) else pieces


def frame(spark, pieces, origins, partitions, folder, source):
    """Chunks of `origins` origins of equal content share, in random order over so many partitions."""
    share = -(-len(pieces) // origins)
    rows = [(f"o{i // share}", i % share + 1, piece) for i, piece in enumerate(pieces)]
    random.Random(1).shuffle(rows)
    folder.mkdir()
    for part in range(partitions):
        some = rows[part::partitions]
        if some:
            columns = [pa.array(c, f.type) for c, f in zip(zip(*some, strict=True), CHUNKS, strict=True)]
            pq.write_table(pa.table(columns, schema=CHUNKS), folder / f"{part}.parquet", compression="none")
    read = spark.read.parquet(str(folder)).select(*CHUNKS.names)
    if source == "cache":
        read = read.repartition(partitions).cache()
        read.count()
    return read


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("megabytes", type=float, nargs="?", default=256)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--source", choices=("cache", "parquet"), default="cache")
    options.add_argument("--unquoted", action="store_true")
    options.add_argument("--chunk", type=int, default=MIB)
    options.add_argument("--partitions", type=int, default=16)
    options.add_argument("--columns", type=int, default=20)
    asked = options.parse_args()
    print(f"Java: {use_java()}")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = f"{ROOT / 'src'}:{ROOT}"
    from pyspark.sql import SparkSession

    import formatter as fm
    import spark_udfs as su

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "4g").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.log.level", "ERROR")
    spark = su.configure(builder).getOrCreate()
    content, ends = text_of(asked.megabytes, not asked.unquoted)
    format = fm.Csv(SCHEMA, quote=None) if asked.unquoted else fm.Csv(SCHEMA)
    columns = SCHEMA.names[: asked.columns]
    cut = [content[at : at + asked.chunk] for at in range(0, len(content), asked.chunk)]
    with tempfile.TemporaryDirectory() as temporary:

        def made(name, pieces, origins):
            return frame(spark, pieces, origins, asked.partitions, Path(temporary, name), asked.source)

        clean, one = made("aligned", aligned(content, ends), 1), made("one", cut, 1)
        runs = {
            "none, aligned": lambda: su.parse(clean, format, columns=columns, stitch="none"),
            "global": lambda: su.parse(one, format, columns=columns, stitch="global"),
            "origin, one origin": lambda: su.parse(one, format, columns=columns, stitch="origin"),
        }
        for name, run in runs.items():
            counted = run().count()
            if counted != len(ends):
                print(f"{name}: {counted} rows, expected {len(ends)}")
                return 1
        best = dict.fromkeys(runs, float("inf"))
        for _ in range(asked.rounds):
            for name, run in runs.items():
                start = time.perf_counter()
                run().write.format("noop").mode("overwrite").save()
                best[name] = min(best[name], time.perf_counter() - start)
    base = best["none, aligned"]
    size = len(content) / 1e6
    for name, seconds in best.items():
        print(f"{name:20} {seconds:7.3f} s {size / seconds:8.0f} MB/s {seconds / base:6.2f} x none")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
