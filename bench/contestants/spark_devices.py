"""Records that to_json writes in the same query that reads them, of rows that Spark makes itself: of datafusion-comet issue 5796.

In: how many rows, a query, whose way. Out: frames; what writing the records costs alone, and what batches that are ready cost,
which is the least that any function in Python can.
Refuses to know: sessions, clocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from bench.answers import Answer
from bench.contestant import Prepared, Task
from bench.contestants.spark_session import session, written

SHARED = "spark.sql.optimizer.getJsonObjectSharedParsing.enabled"
DEVICE = """
    CASE WHEN pmod(xxhash64(id), 10) > 0 THEN named_struct(
        'os', element_at(array('android', 'ios', 'windows', 'linux'), pmod(hash(id), 4) + 1),
        'version', concat(pmod(hash(id, 1), 20), '.', pmod(hash(id, 2), 10)),
        'screen', named_struct('width', pmod(hash(id, 3), 4000), 'height', pmod(hash(id, 4), 3000))) END AS device"""
TWO = "os STRING, version STRING"
ALL = f"{TWO}, screen STRUCT<width: INT, height: INT>"
PATHS = {
    "os": "$.os",
    "version": "$.version",
    "screen": "$.screen",
    "width": "$.screen.width",
    "height": "$.screen.height",
}
READY = {
    "one field": pa.schema([("os", pa.string())]),
    "all fields": pa.schema(
        [
            ("os", pa.string()),
            ("version", pa.string()),
            ("screen", pa.struct([("width", pa.int32()), ("height", pa.int32())])),
        ]
    ),
    "one path": pa.schema([("os", pa.string())]),
    "five paths": pa.schema([(name, pa.string()) for name in PATHS]),
}
QUERIES = tuple(READY)
SCREEN = {"width": 1920, "height": 1080}
VALUES = {
    "os": "android",
    "version": "12.3",
    "screen": '{"width":1920,"height":1080}',
    "width": "1920",
    "height": "1080",
}
READY_ROWS = 2048


def records(spark: Any, rows: int) -> Callable[[], Any]:
    """One column `value`, made anew by every query from rows in memory."""
    held = spark.range(0, rows, 1, 2).selectExpr(DEVICE).cache()
    held.count()
    return lambda: held.selectExpr("to_json(device) AS value")


def own(task: Task) -> Prepared:
    """from_json and get_json_object; or the writer alone."""
    from pyspark.sql import functions as f

    spark, how = session(task.threads, ours=False), str(task.options["how"])
    value = records(spark, int(task.options["rows"]))
    asked = {name: f.get_json_object("value", path).alias(name) for name, path in PATHS.items()}
    frames: dict[str, Callable[[], Any]] = {
        "one field": lambda: value().select(f.from_json("value", TWO).getField("os").alias("os")),
        "all fields": lambda: value().select(f.from_json("value", ALL).alias("v")).select("v.*"),
        "one path": lambda: value().select(asked["os"]),
        "five paths": lambda: value().select(*asked.values()),
    }
    if how == "writer":
        return Prepared(written(spark, value, task).run, lambda _: Answer(int(task.options["rows"])))

    def frame() -> Any:
        spark.conf.set(SHARED, str(how == "shared").lower())
        return frames[str(task.options["query"])]()

    return written(spark, frame, task)


def ours(task: Task) -> Prepared:
    spark = session(task.threads, ours=True)
    import spark_udfs as su

    value = records(spark, int(task.options["rows"]))
    told: dict[str, Any] = {"compat": "spark"} if task.options["how"] == "compat" else {}
    frames = {
        "one field": lambda: su.parse_column(value(), "value", "json", schema=TWO, **told).select("v.os"),
        "all fields": lambda: su.parse_column(value(), "value", "json", schema=ALL, **told).select("v.*"),
        "one path": lambda: value().select(su.get_json("value", {"os": PATHS["os"]}).alias("v")).select("v.*"),
        "five paths": lambda: value().select(su.get_json("value", PATHS).alias("v")).select("v.*"),
    }
    return written(spark, frames[str(task.options["query"])], task)


class ReadyRows:
    """In a task: for each batch as many rows, made before, beside columns of its own. The records have travelled, and nobody looks
    at them."""

    __name__ = "formatter.records"  # so that it runs by the same operator as ours, with batches of the same size

    def __init__(self, made: pa.RecordBatch, kept: tuple[str, ...] = ()) -> None:
        self.made = made
        self.kept = kept

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        made = pa.Table.from_batches([self.made])
        for batch in batches:
            if made.num_rows < batch.num_rows:
                made = pa.concat_tables([made] * -(-batch.num_rows // made.num_rows)).combine_chunks()
            found = made.slice(0, batch.num_rows)
            for name in self.kept:
                found = found.append_column(name, batch.column(name))
            yield from found.combine_chunks().to_batches()


def ready(task: Task) -> Prepared:
    spark = session(task.threads, ours=True)
    from spark_udfs.types.spark_types import struct_of

    schema, rows = READY[str(task.options["query"])], int(task.options["rows"])
    value = records(spark, rows)
    row = {field.name: SCREEN if pa.types.is_struct(field.type) else VALUES[field.name] for field in schema}
    work = ReadyRows(pa.RecordBatch.from_pylist([row] * READY_ROWS, schema=schema))
    frame = written(spark, lambda: value().mapInArrow(work, struct_of(schema)), task)
    return Prepared(frame.run, lambda _: Answer(rows))
