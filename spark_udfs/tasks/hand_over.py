"""Parsing and giving rows to Spark at the same time: a thread parses ahead, the task's own thread hands batches over.

In: what makes batches of one schema. Out: the same rows in the same order, in batches of a size that suits Spark. Between the
two stands a Bridge: parsing waits when Spark is slow, an error while parsing reaches the task, and a task that stops early
stops the parsing. Knows no formats and no Spark.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress

import pyarrow as pa

import formatter as fm
from formatter.flow import Producer

ROWS_PER_BATCH = 16_384  # Spark's Arrow reader is fastest between 4k and 16k rows a batch
BYTES_PER_BATCH = 8 << 20
BATCHES_AHEAD = 8  # of at most ROWS_PER_BATCH rows: enough to hide a pause of either side, little memory
STOP_S = 5.0  # an input that never answers may keep the thread; it is a daemon and owns nothing but its input


def handed_over(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of `batches`, made on a thread of their own from the first one on."""
    policy = fm.BatchPolicy(max_rows=ROWS_PER_BATCH, max_bytes=BYTES_PER_BATCH, max_latency_ms=None)
    bridge = fm.Bridge(schema, capacity=BATCHES_AHEAD, policy=policy, backpressure=fm.Pause())
    consumer = bridge.consumer
    thread = threading.Thread(target=_produce, args=(batches, bridge.producer), name="formatter parse", daemon=True)
    thread.start()
    try:
        for action in consumer:
            if isinstance(action, fm.Rows):
                yield action.batch
    except fm.FlowError as error:
        raise error.__cause__ or error from None  # as if it had happened here
    finally:
        consumer.close()
        thread.join(STOP_S)


def _produce(batches: Iterable[pa.RecordBatch], producer: Producer) -> None:
    try:
        with suppress(BaseException), producer:  # what goes wrong ends the bridge, which tells the other side
            for batch in batches:
                producer.send(batch)
    finally:
        if isinstance(batches, Generator):
            batches.close()
