"""The bridge between parsing and Spark: nothing lost, sized batches, errors and early ends reach the other side."""

from __future__ import annotations

import threading
import time

import pyarrow as pa
import pytest
from patience import comes_true

import formatter as fm
import spark_udfs as su
from spark_udfs.tasks.hand_over import BATCHES_AHEAD, ROWS_PER_BATCH, handed_over

SCHEMA = pa.schema([("id", pa.int64())])


def batch(first, count):
    return pa.RecordBatch.from_arrays([pa.array(range(first, first + count), pa.int64())], schema=SCHEMA)


def parsing_threads():
    return [thread for thread in threading.enumerate() if thread.name == "formatter parse"]


def gone():
    return comes_true(lambda: not parsing_threads())


@pytest.mark.parametrize("rows", [1, 7, 100, 20_000])
def test_rows_cross_in_order_in_batches_of_a_size_that_suits_spark(rows):
    out = list(handed_over((batch(at, rows) for at in range(0, 40_000, rows)), SCHEMA))
    ids = pa.Table.from_batches(out).column("id").to_pylist()
    assert ids == list(range(len(ids)))
    assert len(ids) >= 40_000
    assert all(one.num_rows <= ROWS_PER_BATCH for one in out)
    assert len(out) <= -(-len(ids) // ROWS_PER_BATCH) + len(ids) // max(rows, ROWS_PER_BATCH)
    assert gone()


def test_nothing_gives_nothing():
    assert list(handed_over(iter([]), SCHEMA)) == []
    assert gone()


def test_an_error_while_parsing_is_the_tasks_error_after_the_rows_before_it():
    def rows():
        yield batch(0, 5)
        raise fm.FormatError("csv: bad", code="invalid", byte_offset=7)

    out = handed_over(rows(), SCHEMA)
    assert next(out).num_rows == 5
    with pytest.raises(fm.FormatError, match="csv: bad") as caught:
        next(out)
    assert caught.value.byte_offset == 7
    assert gone()


def test_an_early_end_stops_the_parsing_and_closes_what_it_read_from():
    made, closed = [], []

    def rows():
        try:
            for at in range(0, 10_000_000, ROWS_PER_BATCH):
                made.append(at)
                yield batch(at, ROWS_PER_BATCH)
        finally:
            closed.append(True)

    out = handed_over(rows(), SCHEMA)
    next(out)
    out.close()
    assert gone()
    assert closed == [True]
    assert len(made) <= 3 * BATCHES_AHEAD


def test_a_slow_consumer_makes_the_parsing_wait():
    made = []

    def rows():
        for at in range(0, 100 * ROWS_PER_BATCH, ROWS_PER_BATCH):
            made.append(at)
            yield batch(at, ROWS_PER_BATCH)

    out = handed_over(rows(), SCHEMA)
    next(out)
    time.sleep(0.2)
    assert len(made) <= 3 * BATCHES_AHEAD
    assert sum(one.num_rows for one in out) == 99 * ROWS_PER_BATCH
    assert gone()


def test_a_limit_in_spark_ends_the_task_and_the_session_goes_on(spark):
    format = fm.Csv(SCHEMA)
    rows = [
        ("a", n + 1, bytearray(b"".join(b"%d\n" % i for i in range(n * 50_000, (n + 1) * 50_000)))) for n in range(20)
    ]
    chunks = spark.createDataFrame(rows, "origin STRING, sequence BIGINT, payload BINARY").coalesce(1)
    for _ in range(3):
        assert len(su.parse(chunks, format, stitch="none").limit(5).collect()) == 5
    assert su.parse(chunks, format, stitch="none").count() == 1_000_000
