"""A function for mapInArrow that counts what it does.

In: a run, which makes rows and knows what it met. Out: the rows, reported at their end; or one row of the counts alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

import pyarrow as pa

import formatter as fm
from formatter.tolerance import Tolerance
from spark_udfs.tasks.metrics import Measure, Reports, metrics_batch
from spark_udfs.tasks.schema_drift import DriftReports
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
    drift: DriftReports | None = None  # who is told of what the schema lacks, if anybody
    max_errors: int | float | None = None  # how many records of a task may be bad, or which share of them

    def run(self) -> Run:
        raise NotImplementedError

    def delivered(self, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows in batches of a size that suits Spark."""
        raise NotImplementedError

    @told_plainly
    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        prepare_worker()
        run, measure = self.run(), Measure(self.reports, self.task_count)
        rows = self.delivered(measure.timed(self._borne(run, batches)))
        yield from rows if self.drift is None else self.drift.watched(rows)
        measure.report(run.counts())

    def bear(self, max_errors: int | float | None, on_error: str) -> None:
        """Says how many of a task's records may be bad."""
        Tolerance(on_error, max_errors, told=True)  # refuses what makes no sense
        self.max_errors = max_errors

    def _borne(self, run: Run, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows, as long as no more records are bad than that: a number is looked at with each batch, a share at the end."""
        for batch in run.rows(batches):
            if isinstance(self.max_errors, int):
                self._look_at(run)
            yield batch
        if self.max_errors is not None:
            self._look_at(run)

    def _look_at(self, run: Run) -> None:
        total = Counter[str]()
        for counts in run.counts():
            total.update({name: counts.get(name, 0) for name in ("records", "rejects", "nulled")})
        most, bad = self.max_errors, total["rejects"] + total["nulled"]
        if most is not None and bad > (most if isinstance(most, int) else most * total["records"]):
            allowed = f"{most} records" if isinstance(most, int) else f"{most:.4g} of the records"
            raise fm.TooManyErrors(
                f"max_errors: expected at most {allowed} of a task to be bad, found {bad} of {total['records']}: "
                f"{total['rejects']} rejected, {total['nulled']} values made null; read with on_error='collect', and "
                "su.rejects(df) has them",
                counts={name: total[name] for name in ("rejects", "nulled")},
                records=total["records"],
            )

    def measured(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row of counts for what this task does."""
        run, measure = self.run(), Measure(None, self.task_count)
        for _ in measure.timed(run.rows(batches)):
            pass
        yield metrics_batch([measure.counted(run.counts())])
