"""One life of a streaming query that is going to be killed: chunks to rows in a Parquet sink. Run by crash_harness.py.

Usage: crash_query.py FOLDER MASTER. Says `running` once it is, `done` when all is taken; whatever kills it, it can be run again.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "src"), str(ROOT)]

from java_home import use_java  # noqa: E402  (tools/ is not a package)

CHUNK_BYTES = 50
BYTES_PER_TRIGGER = 700  # records span chunks, and chunks of an origin span micro-batches


def main(folder: Path, master: str) -> None:
    use_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = f"{ROOT / 'src'}:{ROOT}"
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    import pyarrow as pa
    from pyspark.sql import SparkSession

    import formatter as fm
    import spark_udfs as su

    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
    builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    builder = builder.config("spark.deploy.maxExecutorRetries", "-1")  # however many executors are killed
    spark = su.configure(builder).getOrCreate()
    su.register_chunks(spark)
    format = fm.Csv(pa.schema([("id", pa.int64()), ("text", pa.string())]))
    chunks = (
        spark.readStream.format("formatter_chunks").option("layout", "whole").option("chunkBytes", str(CHUNK_BYTES))
    )
    chunks = chunks.option("maxBytesPerTrigger", str(BYTES_PER_TRIGGER)).load(str(folder / "in"))
    rows = su.parse_stream(chunks, format, last_sequence="last_sequence", keep=["origin"])
    writer = rows.writeStream.option("checkpointLocation", str(folder / "state")).trigger(availableNow=True)
    query = writer.start(str(folder / "out"))
    print("running", flush=True)
    query.awaitTermination()
    print("done", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
