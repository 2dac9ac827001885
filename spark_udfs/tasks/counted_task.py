"""A function for mapInArrow that counts what it does.

In: a run, which makes rows and knows what it met. Out: the rows, reported at their end; or one row of the counts alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

import pyarrow as pa

from spark_udfs.tasks.metrics import Measure, Reports, metrics_batch
from spark_udfs.tasks.sent_functions import told_plainly
from spark_udfs.tasks.worker_process import prepare_worker


class Run(Protocol):
    """One run of a task, over one partition."""

    def rows(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]: ...

    def counts(self) -> Iterable[Mapping[str, Any]]: ...


class CountedTask:
    """Picklable; carries options only. What is wrong with them is said when it is made, not in a task."""

    reports: Reports | None = None  # where tasks report, if anywhere
    task_count: int | None = None  # of the whole query, where that is known

    def run(self) -> Run:
        raise NotImplementedError

    def delivered(self, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows in batches of a size that suits Spark."""
        raise NotImplementedError

    @told_plainly
    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        prepare_worker()
        run, measure = self.run(), Measure(self.reports, self.task_count)
        yield from self.delivered(measure.timed(run.rows(batches)))
        measure.report(run.counts())

    def measured(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row of counts for what this task does."""
        run, measure = self.run(), Measure(None, self.task_count)
        for _ in measure.timed(run.rows(batches)):
            pass
        yield metrics_batch([measure.counted(run.counts())])
