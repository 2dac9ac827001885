"""Arrays by their buffers: those of pyarrow.array, without the pandas that it imports."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formatter.plain_arrays import binaries, row_numbers

BAD_RECORDS = """
import sys
import pyarrow as pa
import formatter as fm
from formatter.row_choice import BatchFilter
from formatter.splits import Part, SplitReader
schema = pa.schema([("a", pa.int64()), ("b", pa.string())])
csv = fm.Csv(schema), b"1,x\\nbad,y\\n,,,\\n3,z\\n"
json = fm.Json(schema), b'{"a":1}\\n{"a":"bad"}\\n{\\n{"b":"z"}\\n'
for format, data in (csv, json):
    for columns, raw_column in ((None, "raw"), (None, None), (["b"], None), ([], "raw")):
        reader = SplitReader(format, columns=columns, on_error="keep", raw_column=raw_column)
        kept = BatchFilter([[("b", "==", "z")]], reader.schema) if columns is None else None
        batches = list(reader.batches(pa.BufferReader(data), Part(), origin="f"))
        assert sum(batch.num_rows for batch in batches) == 4, (format, columns, raw_column)
        if kept is not None:
            assert sum(kept.kept(batch).num_rows for batch in batches) == 1
print("pandas" in sys.modules)
"""


@given(st.lists(st.tuples(st.integers(-1, 2**62), st.booleans())))
def test_row_numbers_are_those_of_pyarrow(pairs):
    values, missing = np.array([value for value, _ in pairs], np.int64), np.array([lacks for _, lacks in pairs], bool)
    assert row_numbers(values).equals(pa.array(values))
    assert row_numbers(values, missing).equals(pa.array(values, mask=missing))
    row_numbers(values, missing).validate(full=True)


@given(st.lists(st.none() | st.binary(max_size=20)))
def test_binaries_are_those_of_pyarrow(values):
    made = binaries(values, pa.large_binary())
    made.validate(full=True)
    assert made.equals(pa.array(values, pa.large_binary()))


def test_bad_records_that_stay_rows_import_no_pandas():
    pytest.importorskip("pandas")
    done = subprocess.run([sys.executable, "-c", BAD_RECORDS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "False"), done.stderr
