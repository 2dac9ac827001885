"""Tasks that die or are killed on their first attempt: the rows must be those of the whole origins. Run by test_retries.py.

Usage: retry_query.py MASTER STITCH:WAY... WAY: raise | kill.
Prints a line a case: `same` or what differs. A process of its own, because retries need a master that a session cannot change to.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "src"), str(ROOT)]

from java_home import use_java  # noqa: E402  (tools/ is not a package)


def failing(way):
    """Passes batches on, but the first attempt of every third task fails in the middle."""

    def pass_on(batches):
        from pyspark import TaskContext

        context = TaskContext.get()
        doomed = context.attemptNumber() == 0 and context.partitionId() % 3 == 1
        for batch in batches:
            half = batch.num_rows // 2
            yield batch.slice(0, half)
            if doomed and way == "raise":
                raise RuntimeError("injected")
            if doomed and way == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            yield batch.slice(half)

    return pass_on


def main(master: str, cases: list[str]) -> None:
    use_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = f"{ROOT / 'src'}:{ROOT}"
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    import pyarrow as pa
    from pyspark.sql import SparkSession

    import formatter as fm
    import spark_udfs as su

    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
    builder = builder.config("spark.sql.shuffle.partitions", "4").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.sql.adaptive.coalescePartitions.enabled", "false")
    spark = su.configure(builder).getOrCreate()
    content = {
        name: b"".join(b'%d,"text\n%d"\n' % (n, n) for n in range(at, at + 900)) for name, at in (("a", 0), ("b", 900))
    }
    rows = [
        (name, number // 200 + 1, bytearray(data[number : number + 200]))
        for name, data in content.items()
        for number in range(0, len(data), 200)
    ]
    rows = rows[1::2] + rows[::2]
    chunks = spark.createDataFrame(
        spark.sparkContext.parallelize(rows, 6), "origin STRING, sequence BIGINT, payload BINARY"
    )
    format = fm.Csv(pa.schema([("id", pa.int64()), ("text", pa.string())]))
    expected = [(n, f"text\n{n}") for n in range(1_800)]
    for case in cases:
        stitch, way = case.split(":")
        parsed = su.parse(chunks.mapInArrow(failing(way), chunks.schema), format, stitch=stitch)
        got = sorted(map(tuple, parsed.mapInArrow(failing(way), parsed.schema).collect()))
        print(case, "same" if got == expected else f"{len(got)} rows, expected {len(expected)}", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
