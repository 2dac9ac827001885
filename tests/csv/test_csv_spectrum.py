"""The csv-spectrum corpus: every file reads as its JSON says."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from oracle.csv_oracle import Dialect, parse
from oracle.csv_runs import CHUNK_SIZES, csv_format, cut_every, difference, through_stream

import formatter as fm

CORPUS = Path(__file__).parents[1] / "corpus" / "csv-spectrum"
# Its JSON is one object with another telephone number, so it cannot be met; its quotes inside text are stray here.
STRAY = "location_coordinates"
FILES = sorted(path for path in (CORPUS / "csvs").glob("*.csv") if path.stem != STRAY)


def corpus_dialect(data: bytes) -> Dialect:
    names = data.splitlines()[0].decode().split(",")
    return Dialect(pa.schema([(name, pa.string()) for name in names]), header=True, nulls=())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_corpus_file_reads_as_its_json(kernel, path):
    data = path.read_bytes()
    expected = json.loads((CORPUS / "json" / f"{path.stem}.json").read_bytes())
    assert fm.read(data, csv_format(corpus_dialect(data))).to_pylist() == expected


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_corpus_file_is_the_same_for_every_cut(kernel, path):
    data = path.read_bytes()
    dialect = corpus_dialect(data)
    for size in CHUNK_SIZES:
        run = through_stream(data, dialect, "raise", cut_every(size, len(data)), shuffle=size)
        assert difference(run, parse(data, dialect), "raise") is None, size


def test_quotes_inside_text_are_stray_and_pass_without_quoting():
    data = (CORPUS / "csvs" / f"{STRAY}.csv").read_bytes()
    dialect = corpus_dialect(data)
    with pytest.raises(fm.FormatError) as caught:
        fm.read(data, csv_format(dialect))
    assert (caught.value.code, caught.value.column) == ("stray_quote", "Location Coordinates")
    (row,) = fm.read(data, fm.Csv(dialect.schema, header=True, quote=None)).to_pylist()
    expected = json.loads((CORPUS / "json" / f"{STRAY}.json").read_bytes())
    assert row["Location Coordinates"] == expected["Location Coordinates"]
