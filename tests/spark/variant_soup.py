"""Random JSON records as variants, by our parser and by Spark's own parse_json, which must give the same bytes:
`python tests/spark/variant_soup.py RECORDS SEED`.

In: a number of records and a seed. Out: the records whose bytes differ, by kind; nothing if all agree.
"""

from __future__ import annotations

import json
import os
import random
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

PER_QUERY = {"flat": 20_000, "nested": 20_000, "wide": 2_000, "numbers": 10_000, "changing": 20_000}
KINDS = tuple(PER_QUERY)
DIFFERENT = "text string"


def documents_of(kind: str, count: int, seed: int = 0) -> list[str]:
    """Records whose keys stay, nest, are many, are few beside numbers, or change all the time."""
    chance = random.Random(f"{kind} {seed}")
    words = ["".join(chance.choices("abcdeé€😀\uffff", k=chance.randint(1, 8))) for _ in range(300)]

    def number() -> float:
        small, large, huge = chance.randint(-300, 300), chance.randint(-(10**12), 10**12), chance.randint(0, 10**40)
        return chance.choice([small, large, huge, round(chance.gauss(0, 99), 3), chance.random() * 10 ** (small // 10)])

    def record(i: int) -> Any:
        if kind == "flat":
            return {
                "id": i,
                "price": round(chance.random() * 100, 2),
                "city": chance.choice(words),
                "ok": i % 3 == 0,
                "none": None,
            }
        if kind == "nested":
            items = [{"sku": chance.choice(words), "n": number()} for _ in range(chance.randint(0, 5))]
            return {
                "user": {"name": chance.choice(words), "at": {"x": number()}},
                "items": items,
                "text": " ".join(words[:20]),
            }
        if kind == "wide":
            return {f"key {j}": chance.choice([j, None, "x", 1.5]) for j in range(300) if chance.random() < 0.9}
        if kind == "numbers":
            return [number() for _ in range(60)]
        return {
            chance.choice(words): chance.choice([number(), [chance.choice(words)], {chance.choice(words): None}, True])
            for _ in range(9)
        }

    return [
        json.dumps(record(i), ensure_ascii=i % 2 == 0, separators=[(",", ":"), (" , ", " : ")][i % 2])
        for i in range(count)
    ]


def unlike_texts() -> Callable[[Any], Any]:
    """Of rows of a text and two variants, the texts whose variants differ. A variant itself is nothing that Spark compares."""

    def unlike(batches: Any) -> Any:  # sent to workers as it is, who know no module of tests
        import pyarrow as pa
        import pyarrow.compute as pc

        for batch in batches:
            ours, theirs = batch.column(1), batch.column(2)
            parts = [
                pc.fill_null(pc.equal(ours.field(part), theirs.field(part)), False) for part in ("value", "metadata")
            ]
            same = pc.and_(pc.and_(*parts), pc.and_(ours.is_valid(), theirs.is_valid()))
            yield pa.RecordBatch.from_arrays([batch.column(0).filter(pc.invert(same))], ["text"])

    return unlike


def compare(spark: Any, count: int, seed: int, progress: Callable[[str], None] = lambda line: None) -> list[str]:
    """The texts that differ, of `count` records, as many of each kind."""
    import pyarrow as pa
    from pyspark.sql.functions import parse_json

    import formatter as fm
    import spark_udfs as su

    whole = fm.Json(pa.schema([("v", fm.variant())]), paths={"v": ""})
    found: list[str] = []
    for number, kind in enumerate(KINDS):
        of_kind = count // len(KINDS) + (number < count % len(KINDS))
        at_once = PER_QUERY[kind]  # a few megabytes of text
        for done in range(0, of_kind, at_once):
            texts = documents_of(kind, min(at_once, of_kind - done), seed + done)
            df = spark.createDataFrame(pa.table({"text": pa.array(texts)}))
            both = su.parse_column(df, "text", whole).select("text", "v.v", parse_json("text").alias("theirs"))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)
                found += [row.text for row in both.mapInArrow(unlike_texts(), DIFFERENT).collect()]
            progress(f"{kind}: {min(done + at_once, of_kind):,} records, {len(found)} differ so far")
    return found


def main() -> None:
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root), str(root / "tools")]
    from java_home import use_java

    use_java()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(root / "src"), str(root), os.environ.get("PYTHONPATH", "")])
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    import spark_udfs as su

    builder = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
    )
    spark = su.configure(builder.config("spark.ui.showConsoleProgress", "false")).getOrCreate()
    try:
        found = compare(spark, int(sys.argv[1]), int(sys.argv[2]), lambda line: print(line, flush=True))
    finally:
        spark.stop()
    for text in found[:10]:
        print(f"differs: {text!r:.400}")
    if found:
        sys.exit(f"variants: {len(found)} of {int(sys.argv[1])} records differ from those of parse_json")
    print(f"variants: {int(sys.argv[1]):,} records of {len(KINDS)} kinds have the bytes of parse_json")


if __name__ == "__main__":
    main()
