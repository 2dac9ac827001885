"""Bad records that stay rows: null where they are bad, with their text beside them.

In: batches of the good records of a stretch and the engine's findings on the others. Out: batches of all its records, in
order. Costs nothing where no record is bad.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from formatter import _core, diagnostics
from formatter.buffers import addresses_of
from formatter.formats import Csv, Json
from formatter.plain_arrays import binaries, row_numbers
from formatter.plans import Format, make_plan, record_end_of
from formatter.row_choice import taken_rows


class BadRecordKeeper:
    """`raw_column`: the last column of what leaves, null beside good records."""

    def __init__(self, format: Format, columns: Sequence[str] | None, raw_column: str | None) -> None:
        if isinstance(format, Json):
            format = replace(format, records="lines")  # each bad one by itself
        self._encoding = format.encoding if isinstance(format, Csv) else "utf-8"
        if isinstance(format, Csv):
            format = replace(format, encoding="utf-8")  # the engine tells of records in UTF-8, whatever they were in
        self._plan = make_plan(format, columns=columns, on_error="null")
        self._engine = self._plan.engine
        self._ending = record_end_of(format)
        self._raw_column = raw_column
        fields = list(self._plan.schema)
        self.schema = pa.schema(fields if raw_column is None else [*fields, pa.field(raw_column, pa.string())])

    def follow_header(self, header: bytes) -> None:
        """The columns of the file that comes now are where this header names them."""
        text = header.removeprefix(BOM_UTF8).decode(self._encoding, "replace").encode()
        found = self._plan.engine.read_header(text, True)  # it may be the file's last line, without an end
        self._engine = self._plan.engine if found is None else found[0]

    def completed(
        self, batches: Sequence[pa.RecordBatch], findings: Sequence[_core.Finding], first_record: int, record_count: int
    ) -> list[pa.RecordBatch]:
        """The good records of a stretch are those of the batches, in order; `first_record` is where it begins."""
        if self._plan.columns and not findings:
            return [self._with_raw(batch, None) for batch in batches]
        bad = np.array([finding.record - first_record for finding in findings], np.int64)
        raws = [finding.raw for finding in findings]
        texts: list[bytes | None] = [None] * record_count
        for record, raw in zip(bad, raws, strict=True):
            texts[record] = raw.decode("utf-8", "replace").encode()
        if not self._plan.columns:
            rows_alone = pa.StructArray.from_buffers(pa.struct([]), record_count, [None])
            return [self._with_raw(pa.RecordBatch.from_struct_array(rows_alone), texts)]
        rows = pa.Table.from_batches([*batches, self._rows_of(raws)], schema=self._plan.schema).combine_chunks()
        is_bad = np.zeros(record_count, bool)
        is_bad[bad] = True
        source = np.empty(record_count, np.int64)
        source[~is_bad] = np.arange(record_count - len(bad))
        source[bad] = record_count - len(bad) + np.arange(len(bad))
        batch = taken_rows(rows.to_batches()[0], row_numbers(source))
        return [self._with_raw(batch, texts)]

    def _rows_of(self, raws: list[bytes]) -> pa.RecordBatch:
        """One row a record: what can be read of it, else nulls."""
        addresses, sizes, valid, held = addresses_of(binaries(raws, pa.large_binary()))
        found = _core.parse_record_array(self._engine, addresses, sizes, valid, self._ending)
        if found is None:
            raise diagnostics.too_large_batch(self._plan.schema)
        capsule, rows, _, _ = found
        del held
        batch = self._plan.batch(capsule)
        return batch if rows is None else taken_rows(batch, row_numbers(rows, rows < 0))

    def _with_raw(self, batch: pa.RecordBatch, texts: list[bytes | None] | None) -> pa.RecordBatch:
        if self._raw_column is None:
            return batch
        raw = (
            pa.nulls(batch.num_rows, pa.string())
            if texts is None
            else binaries(texts, pa.large_string()).cast(pa.string())
        )
        return pa.RecordBatch.from_arrays([*batch.columns, raw], schema=self.schema)


def all_nullable(format: Format) -> Format:
    return replace(format, schema=pa.schema([field.with_nullable(True) for field in format.schema]))
