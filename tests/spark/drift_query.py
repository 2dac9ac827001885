"""One life of a streaming query whose data outgrows its schema, and which is going to be killed. Run by drift_harness.py.

Usage: drift_query.py FOLDER MASTER. Every micro-batch is a folder of Parquet files of its own, written anew if it comes again;
each start of the query is a line in `starts`: which process, what its watch knew. Says `running` and `done` as crash_query.py.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests"), str(ROOT / "src"), str(ROOT)]

from java_home import use_java  # noqa: E402  (tools/ is not a package)


def main(folder: Path, master: str) -> None:
    use_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = f"{ROOT / 'src'}:{ROOT}"
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from oracle.drifting_records import DriftingRecords
    from pyspark.sql import SparkSession

    import formatter as fm
    import spark_udfs as su

    wanted = json.loads((folder / "wanted.json").read_text())
    schema = DriftingRecords(*wanted["source"]).schema
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.driver.memory", "3g")
    spark = su.configure(builder).getOrCreate()
    watch = fm.SchemaWatch(fm.Json(schema), policy=wanted["policy"], state=folder / "drift.json")

    def write(rows, epoch):
        rows.write.mode("overwrite").parquet(str(folder / "out" / str(epoch)))

    def start():
        with (folder / "starts").open("a") as starts:
            starts.write(f"{os.getpid()} {watch.version}\n")
        lines = spark.readStream.option("maxFilesPerTrigger", wanted["files_a_batch"]).text(str(folder / "in"))
        rows = su.parse(lines, fm.Json(schema), payload="value", unit="record", error=None, evolve=watch)
        writer = rows.writeStream.foreachBatch(write).option("checkpointLocation", str(folder / "state"))
        return writer.trigger(availableNow=True).start()

    print("running", flush=True)
    su.run_evolving(start, watch)
    print("done", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
