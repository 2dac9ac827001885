"""A carriage return is a part of the record end, or of a delimiter. In: records that end in both. Out: their rows."""

from __future__ import annotations

import pyarrow as pa
import pytest
from oracle.stream_runs import departure, pieces_of, streamed, whole_read

import formatter as fm

SCHEMA = pa.schema([("a", pa.string()), ("b", pa.string()), ("c", pa.string())])
ROWS = {b"1": ("1", None, None), b"1|2": ("1", "2", None), b"1|2|3": ("1", "2", "3"), b"1|2|3|4": ("1", "2", "3")}


@pytest.mark.parametrize("delimiter", [b"\r", b"x\r", b"\rx"])
@pytest.mark.parametrize("record", ROWS)
@pytest.mark.parametrize("behind", [b"", b"|"])
def test_a_delimiter_of_a_carriage_return_in_front_of_the_record_end_delimits(kernel, delimiter, record, behind):
    format = fm.Csv(SCHEMA, delimiter=delimiter, ragged="fit")
    data = (record + behind).replace(b"|", delimiter) + b"\n"
    whole = whole_read(data * 3, format)
    assert whole.rows == [ROWS[record]] * 3
    for size in (1, 2, 5):
        pieces = pieces_of(data * 3, size)
        assert departure(streamed(pieces, format), whole, len(pieces)) is None
